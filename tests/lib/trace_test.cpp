#include "pw/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/steps.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::HasSubstr;

using Lengths = std::vector<std::pair<std::int64_t, std::int64_t>>;

Lengths lengths(const Trace& trace) {
  Lengths all;
  for (const Request& request : trace.requests) {
    all.emplace_back(request.input_tokens, request.output_tokens);
  }
  return all;
}

struct GoodTrace {
  const char* what;
  const char* text;
  Lengths requests;
  const char* output_column;
};

TEST(ReadTrace, ReadsEveryAcceptedForm) {
  const GoodTrace cases[] = {
      {"published, CRLF",
       "num_prefill_tokens,num_decode_tokens,output_tokens\r\n2648,775,3\r\n3740,304,3\r\n",
       {{2648, 3}, {3740, 3}},
       "output_tokens"},
      {"last line without its end",
       "num_prefill_tokens,num_decode_tokens,output_tokens\n10,1,2\n20,1,4",
       {{10, 2}, {20, 4}},
       "output_tokens"},
      {"byte-order mark",
       "\xEF\xBB\xBFnum_prefill_tokens,output_tokens\n10,2\n",
       {{10, 2}},
       "output_tokens"},
      {"Vidur columns in another order",
       "num_decode_tokens,arrived_at,num_prefill_tokens\n10,0.0,4808\n",
       {{4808, 10}},
       "num_decode_tokens"},
      {"Azure columns, no line end at the end",
       "TIMESTAMP,ContextTokens,GeneratedTokens\n"
       "2023-11-16 23:59:58.1000000,1968,6\n2023-11-17 00:00:01.1000000,2,1",
       {{1968, 6}, {2, 1}},
       "GeneratedTokens"},
      {"spaces, whole numbers as decimals",
       " num_prefill_tokens , num_decode_tokens,output_tokens\n512.0,4,4\n1e3,4,4\n 77 ,4,4\n",
       {{512, 4}, {1000, 4}, {77, 4}},
       "output_tokens"},
      {"blank lines",
       "\n\nnum_prefill_tokens,output_tokens\n\n100,2\n\n\n",
       {{100, 2}},
       "output_tokens"},
      {"largest length",
       "num_prefill_tokens,output_tokens\n2147483647,1\n",
       {{2147483647, 1}},
       "output_tokens"},
  };
  const TemporaryFolder folder;
  for (const GoodTrace& good : cases) {
    SCOPED_TRACE(good.what);
    const Trace trace = read_trace(folder.file("requests.csv", good.text));
    EXPECT_EQ(trace.stem, "requests");
    EXPECT_EQ(lengths(trace), good.requests);
    ASSERT_FALSE(trace.facts.empty());
    EXPECT_THAT(sentences(trace.facts)[0],
                HasSubstr("column " + std::string(good.output_column) + " "));
  }
}

TEST(ReadTrace, RefusesWhatIsNoTrace) {
  struct Bad {
    const char* text;
    const char* message;
  };
  const Bad cases[] = {
      {"", "empty"},
      {"num_prefill_tokens,output_tokens\n", "no data rows"},
      {"[\n {\"id\": \"x1\", \"conversations\": []}\n]\n",
       "no token lengths, CSV or JSON lines expected"},
      {"\xEF\xBB\xBF {\"a\": 1}", "found the columns a; expected one of the columns"},
      {"{\n \"a\": 1\n}\n", "no token lengths, CSV or JSON lines expected"},
      {"prompt,answer\n1,2\n",
       "found the columns prompt, answer; expected one of the columns num_prefill_tokens, "
       "ContextTokens, "},
      {"num_prefill_tokens,total\n1,2\n", "found the columns num_prefill_tokens, total;"},
      {"num_prefill_tokens,output_tokens\n5,4\n7\n", "line 3: 1 fields, expected 2"},
      {"num_prefill_tokens,output_tokens\n0,4\n", "line 2: num_prefill_tokens is \"0\" (zero)"},
      {"num_prefill_tokens,output_tokens\n-3,4\n",
       "line 2: num_prefill_tokens is \"-3\" (negative)"},
      {"num_prefill_tokens,output_tokens\n12.5,4\n",
       "line 2: num_prefill_tokens is \"12.5\" (a fraction)"},
      {"num_prefill_tokens,output_tokens\n,4\n", "line 2: num_prefill_tokens is empty"},
      {"num_prefill_tokens,output_tokens\n7x,4\n",
       "line 2: num_prefill_tokens is \"7x\" (no number)"},
      {"num_prefill_tokens,output_tokens\nnan,4\n",
       "line 2: num_prefill_tokens is \"nan\" (no number)"},
      {"num_prefill_tokens,output_tokens\n4,0\n", "line 2: output_tokens is \"0\" (zero)"},
      {"num_prefill_tokens,output_tokens\n2147483648,4\n",
       "line 2: num_prefill_tokens is \"2147483648\" (too large); expected integers from 1 to "
       "2147483647"},
  };
  const TemporaryFolder folder;
  for (const Bad& bad : cases) {
    SCOPED_TRACE(bad.text);
    const auto path = folder.file("requests.csv", bad.text);
    const std::string message = error_of([&] { read_trace(path); });
    EXPECT_THAT(message, HasSubstr(bad.message));
    EXPECT_THAT(message, HasSubstr("requests.csv"));
  }
}

TEST(ReadTrace, ListsAllBadRowsAndCountsTheRest) {
  std::string text = "num_prefill_tokens,output_tokens\n";
  for (int row = 0; row < 12; ++row) {
    text += "0,4\n";
  }
  const TemporaryFolder folder;
  const auto path = folder.file("requests.csv", text);
  const std::string message = error_of([&] { read_trace(path); });
  EXPECT_THAT(message, HasSubstr("line 2: num_prefill_tokens is \"0\" (zero), line 3:"));
  EXPECT_THAT(message,
              HasSubstr("line 11: num_prefill_tokens is \"0\" (zero) and 2 more; expected"));
}

Trace numbered_trace(std::int64_t requests) {
  Trace trace{"t", {}, {{FactKind::note, "a note", {}}}};
  for (std::int64_t i = 0; i < requests; ++i) {
    trace.requests.push_back({100 + i, 1});
  }
  return trace;
}

TEST(SelectBatch, TakesTheAskedRequests) {
  struct Case {
    std::int64_t requests;
    std::optional<std::int64_t> batch;
    std::int64_t offset;
    std::int64_t first, count;
    const char* stem;
  };
  const Case cases[] = {
      {5, std::nullopt, 0, 100, 5, "t"},
      {256, std::nullopt, 0, 100, 256, "t"},
      {5, 5, 0, 100, 5, "t"},
      {5, 2, 0, 100, 2, "t_2"},
      {5, 2, 3, 103, 2, "t_2_from3"},
      {300, 300, 0, 100, 300, "t"},
      {300, std::nullopt, 298, 398, 2, "t_2_from298"},
  };
  for (const Case& c : cases) {
    const Trace selected = select_batch(numbered_trace(c.requests), c.batch, c.offset);
    SCOPED_TRACE(c.stem);
    EXPECT_EQ(selected.stem, c.stem);
    ASSERT_EQ(selected.requests.size(), static_cast<std::size_t>(c.count));
    EXPECT_EQ(selected.requests.front().input_tokens, c.first);
    EXPECT_EQ(selected.requests.back().input_tokens, c.first + c.count - 1);
    EXPECT_EQ(sentences(selected.facts), std::vector<std::string>{"a note"});
  }
}

TEST(SelectBatch, RefusesABatchThatIsNotThere) {
  struct Bad {
    std::int64_t requests;
    std::optional<std::int64_t> batch;
    std::int64_t offset;
    const char* message;
  };
  const Bad cases[] = {
      {257, std::nullopt, 0, "trace t has 257 requests"},
      {257, std::nullopt, 0, "--batch N and --offset K"},
      {5, 6, 0, "batch size for trace t is 6, expected 1 to 5"},
      {5, 3, 3, "batch size for trace t is 3, expected 1 to 2"},
      {5, 0, 0, "batch size for trace t is 0, expected 1 to 5"},
      {5, 1, 5, "offset into trace t is 5, expected 0 to 4"},
      {5, 1, -1, "offset into trace t is -1, expected 0 to 4"},
  };
  for (const Bad& bad : cases) {
    EXPECT_THAT(
        error_of([&] { select_batch(numbered_trace(bad.requests), bad.batch, bad.offset); }),
        HasSubstr(bad.message));
  }
}

TEST(UniformTrace, HasEqualRequests) {
  const Trace trace = uniform_trace(3, 3500, 128);
  EXPECT_EQ(trace.stem, "3x3500+128");
  EXPECT_EQ(lengths(trace), (Lengths{{3500, 128}, {3500, 128}, {3500, 128}}));
}

TEST(UniformTrace, RefusesImpossibleSizes) {
  EXPECT_THAT(error_of([] { uniform_trace(0, 1, 1); }), HasSubstr("batch size is 0"));
  EXPECT_THAT(error_of([] { uniform_trace(1 << 21, 1, 1); }), HasSubstr("expected 1 to 1048576"));
  EXPECT_THAT(error_of([] { uniform_trace(1, 0, 1); }), HasSubstr("input length is 0"));
  EXPECT_THAT(error_of([] { uniform_trace(1, 1, -5); }), HasSubstr("output length is -5"));
}

}  // namespace
}  // namespace pw
