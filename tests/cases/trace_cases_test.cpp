// Request traces as people bring them. The names of these tests are those of the failure reports
// that they answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pw/trace.h"
#include "pw/workload.h"
#include "support/demo_model.h"
#include "support/error_of.h"
#include "support/steps.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

Trace read(const std::string& text, BadRows bad_rows = BadRows::refuse) {
  const TemporaryFolder folder;
  return read_trace(folder.file("trace.csv", text), bad_rows);
}
std::string error_for(const std::string& text, BadRows bad_rows = BadRows::refuse) {
  return error_of([&] { read(text, bad_rows); });
}

struct Expected {
  std::int64_t input, output;
  double arrival_s;
};
void expect_requests(const std::string& text, const std::vector<Expected>& expected) {
  SCOPED_TRACE(text);
  const Trace trace = read(text);
  ASSERT_EQ(trace.requests.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(trace.requests[i].input_tokens, expected[i].input);
    EXPECT_EQ(trace.requests[i].output_tokens, expected[i].output);
    ASSERT_TRUE(trace.requests[i].arrival_s);
    EXPECT_DOUBLE_EQ(*trace.requests[i].arrival_s, expected[i].arrival_s);
  }
  EXPECT_THAT(sentences(trace.facts),
              Contains(HasSubstr("are not used: all requests start together")));
}

TEST(HardInputs, B01AzureTracesOfBothYears) {
  // Over midnight, with seven digits, and no line end at the end.
  expect_requests(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-12-31 23:59:59.2500000,812,9\r\n"
      "2023-12-31 23:59:59.2520030,77,140\r\n"
      "2024-01-01 00:00:01.0000000,6011,1",
      {{812, 9, 0}, {77, 140, 0.002003}, {6011, 1, 1.75}});
  expect_requests(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2024-02-28 23:59:58.500000+00:00,300,4\n"
      "2024-02-29 01:00:00.250000+01:00,301,5\n"
      "2024-02-29T00:00:02Z,302,6\n"
      "2024-02-29 00:00:03,303,7\n",
      {{300, 4, 0}, {301, 5, 1.75}, {302, 6, 3.5}, {303, 7, 4.5}});
}

TEST(HardInputs, B01OtherPublicTraces) {
  expect_requests(  // BurstGPT
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,431,22,453,Conversation log\n47,GPT-4,1203,180,1383,API log\n",
      {{431, 22, 0}, {1203, 180, 42}});
  expect_requests(  // BurstGPT of the later years
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
      "Type\n0.5,s1,2.25,ChatGPT,10,20,30,API log\n",
      {{10, 20, 0}});
  expect_requests(  // Mooncake: JSON lines, milliseconds
      "{\"timestamp\": 0, \"input_length\": 5120, \"output_length\": 33, \"hash_ids\": [1, 2]}\n"
      "\n"
      "{\"timestamp\": 2750, \"input_length\": 640, \"output_length\": 7, \"hash_ids\": []}",
      {{5120, 33, 0}, {640, 7, 2.75}});
  expect_requests(  // Vidur
      "arrived_at,num_prefill_tokens,num_decode_tokens\n1.5,2200,12\n1.75,90,31\n",
      {{2200, 12, 0}, {90, 31, 0.25}});
  expect_requests(  // splitwise-sim, and arrivals that are not in order
      "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
      "0,2,0,9.0,1,1024,64\n1,2,0,8.5,1,2048,32\n",
      {{1024, 64, 0.5}, {2048, 32, 0}});
}

TEST(HardInputs, B01PlainNamesInAnySpelling) {
  for (const char* header :
       {"prompt_tokens,completion_tokens", "Input Tokens,Output Tokens", "input_len,output_len",
        "InputLength,OutputLength", "prompt-len,response_len"}) {
    const Trace trace = read(std::string(header) + "\n12,34\n");
    EXPECT_EQ(trace.requests[0].input_tokens, 12) << header;
    EXPECT_EQ(trace.requests[0].output_tokens, 34) << header;
    EXPECT_EQ(trace.requests[0].arrival_s, std::nullopt);
  }
  EXPECT_THAT(error_for("time,prompt,answer\n1,2,3\n"),
              AllOf(HasSubstr("found the columns time, prompt, answer"),
                    HasSubstr("num_prefill_tokens"), HasSubstr("GeneratedTokens")));
  EXPECT_THAT(error_for("my_num_prefill_tokens,output_tokens\n1,2\n"),
              HasSubstr("found the columns my_num_prefill_tokens, output_tokens"));
}

TEST(HardInputs, B01UnreadableArrivalsAreTold) {
  for (const char* time : {"", "soon", "2024-13-01 00:00:00", "2024-01-01", "2024-01-01 00:00:00+",
                           "1e400", "nan", "2024-01-01 00:00:00.", "2024-01-01 25:00:00"}) {
    const Trace trace =
        read("arrived_at,num_prefill_tokens,output_tokens\n0,1,2\n" + std::string(time) + ",3,4\n");
    EXPECT_EQ(trace.requests.size(), 2u);
    EXPECT_EQ(trace.requests[0].arrival_s, std::nullopt);
    EXPECT_THAT(
        sentences(trace.facts),
        Contains(AllOf(HasSubstr("arrivals are unknown: column arrived_at"), HasSubstr("line 3"))))
        << time;
  }
}

TEST(HardInputs, B04OutputLengthsAreThoseOfEachRow) {
  const Trace uniform =
      read("num_prefill_tokens,num_decode_tokens,output_tokens\r\n1500,9,3\r\n900,8,3\r\n");
  const Workload workload = generate_workload(demo_model(), uniform, {});
  ASSERT_EQ(workload.steps.size(), 3u);
  EXPECT_EQ(workload.steps[0].batch.q_lengths, (std::vector<std::int64_t>{1500, 900}));
  EXPECT_EQ(workload.steps[1].batch.kv_lengths, (std::vector<std::int64_t>{1501, 901}));
  EXPECT_EQ(workload.steps[2].batch.kv_lengths, (std::vector<std::int64_t>{1502, 902}));
  EXPECT_THAT(sentences(workload.facts), Each(Not(HasSubstr("differ"))));

  const Trace mixed = read("num_prefill_tokens,output_tokens\r\n50,7\r\n60,4\r\n");
  EXPECT_THAT(sentences(generate_workload(demo_model(), mixed, {}).facts),
              Contains(HasSubstr("output lengths differ, 4 to 7 tokens: each request leaves")));
  WorkloadOptions published;
  published.published_rules = true;
  EXPECT_THAT(sentences(generate_workload(demo_model(), mixed, published).facts),
              Contains(HasSubstr("the first request's 7 is used for all")));
}

constexpr char kOddRows[] =
    " num_prefill_tokens , output_tokens\n"
    "256.0,2\n2e2,2\n 88 ,2\n+9,2\n"
    "0,2\n-7,2\n1.25,2\n,2\n8888888888,2\n5,two\n6,1e999\n7\n8,2,9\n";

TEST(HardInputs, B05BadRowsAreListedWithLineAndReason) {
  EXPECT_THAT(
      error_for(kOddRows),
      AllOf(HasSubstr("line 6: num_prefill_tokens is \"0\" (zero)"),
            HasSubstr("line 7: num_prefill_tokens is \"-7\" (negative)"),
            HasSubstr("line 8: num_prefill_tokens is \"1.25\" (a fraction)"),
            HasSubstr("line 9: num_prefill_tokens is empty"),
            HasSubstr("line 10: num_prefill_tokens is \"8888888888\" (too large)"),
            HasSubstr("line 11: output_tokens is \"two\" (no number)"),
            HasSubstr("line 12: output_tokens is \"1e999\" (too large)"),
            HasSubstr("line 13: 1 fields"), HasSubstr("line 14: 3 fields"), Not(HasSubstr("\n"))));
  const Trace trace = read(kOddRows, BadRows::skip);
  ASSERT_EQ(trace.requests.size(), 4u);
  EXPECT_EQ(trace.requests[1].input_tokens, 200);
  EXPECT_EQ(trace.requests[3].line, 5u);
  EXPECT_THAT(
      sentences(trace.facts),
      Contains(AllOf(HasSubstr("9 of 13 rows of the trace are skipped"), HasSubstr("line 8: "))));
  EXPECT_THAT(error_for("num_prefill_tokens,output_tokens\n0,1\n", BadRows::skip),
              HasSubstr("line 2: "));
}

TEST(HardInputs, B05BadJsonLinesAreListedToo) {
  const std::string text =
      "{\"input_length\": 10, \"output_length\": 2}\n"
      "{\"input_length\": null, \"output_length\": 2}\n"
      "{\"output_length\": 2}\n"
      "{\"input_length\": 10, \"output_length\": 0}\n"
      "{\"input_length\": [1], \"output_length\": 2}\n"
      "{\"input_length\": 10, \"outp";
  EXPECT_THAT(error_for(text), AllOf(HasSubstr("line 2: input_length is empty"),
                                     HasSubstr("line 3: input_length is empty"),
                                     HasSubstr("line 4: output_length is \"0\" (zero)"),
                                     HasSubstr("line 5: input_length is \"[1]\" (no number)"),
                                     HasSubstr("line 6: no JSON object")));
  EXPECT_EQ(read(text, BadRows::skip).requests.size(), 1u);
}

TEST(HardInputs, B05RequestsBeyondTheModelAreTold) {
  ModelConfig model = demo_model();
  model.max_context = 1000;
  const Trace trace = read("num_prefill_tokens,output_tokens\n900,50\n900,200\n10,3000\n500,500\n");
  const Workload workload = generate_workload(model, trace, {});
  EXPECT_EQ(num_tokens(workload.steps[0].batch), 2310);
  EXPECT_THAT(
      sentences(workload.facts),
      Contains(AllOf(HasSubstr("2 of 4 requests exceed the model's max_position_embeddings, "
                               "1000 tokens"),
                     HasSubstr("line 3: 1100, line 4: 3010"))));
  EXPECT_THAT(sentences(generate_workload(model, uniform_trace(12, 999, 2), {}).facts),
              Contains(HasSubstr("request 1: 1001, ")));
  EXPECT_THAT(sentences(generate_workload(model, uniform_trace(12, 998, 2), {}).facts),
              Each(Not(HasSubstr("exceed"))));
}

TEST(HardInputs, B06FilesWithoutRequests) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"[{\"id\": \"a\", \"conversations\": [{\"value\": \"hi\"}]}]",
       "is JSON and has no token lengths"},
      {"{\"id\": \"a\", \"conversations\": []}\n", "found the columns id, conversations"},
      {"{\n  \"prompt\": \"hi\"\n}\n", "is JSON and has no token lengths"},
      {"", "the file is empty"},
      {" \r\n\n", "the file is empty"},
      {"num_prefill_tokens,output_tokens\r\n", "no data rows"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "Git LFS pointer"},
      {"\xFF\xFEn", "UTF-16"},
  };
  for (const auto& item : cases) {
    EXPECT_THAT(error_for(item.text), AllOf(HasSubstr("trace.csv"), HasSubstr(item.message)));
  }
  EXPECT_EQ(read("\n\nnum_prefill_tokens,output_tokens\n\n\n40,2\n\n").requests.size(), 1u);
}

}  // namespace
}  // namespace pw
