#include "sweep_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace pw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

SweepGrid demo_grid() {
  SweepGrid grid;
  grid.models = {"A", "B, \"b\""};
  grid.tp_sizes = {1, 3};
  grid.pp_sizes = {1};
  SweepRequests trace, equal;
  trace.trace = "chat";
  trace.trace_size = 9;
  equal.input_tokens = 100;
  equal.output_tokens = 7;
  grid.requests = {trace, equal};
  grid.batches = {1, 4, 8};
  grid.gpus = {"G1", "G2"};
  return grid;
}

SweepRecord demo_record(std::size_t shard = 1, std::size_t shards = 1) {
  SweepRecord record;
  record.grid = demo_grid();
  record.inputs = {{"tool", "test 1"}, {"checkpoint gemm", "gemm.pt sha256:0"}};
  record.shard = shard;
  record.shards = shards;
  return record;
}

SweepResult result_of(std::size_t row) {
  SweepResult result;
  if (row % 5 == 0) {
    result.problem = "no \"way\",\nrow " + std::to_string(row);
  } else {
    result.summary.add(Phase::prefill, 1000.5 + static_cast<double>(row));
    result.output_tokens = 4;
  }
  return result;
}

std::string row_of(const SweepRecord& record, std::size_t row) {
  return row_text(record.format, record.grid, row, result_of(row));
}

// An output with the first rows of a record.
fs::path write(const fs::path& path, const SweepRecord& record, std::size_t rows) {
  SweepFile file(path, record, false);
  for (std::size_t i = 0; i < rows; ++i) file.append(row_of(record, record.rows().begin + i));
  file.close();
  return path;
}
fs::path write_all(const fs::path& path, const SweepRecord& record) {
  return write(path, record, record.rows().count());
}

TEST(SweepGrid, CountsTheGpuFastestAndTheModelSlowest) {
  const SweepGrid grid = demo_grid();
  EXPECT_EQ(grid.rows(), 2u * 2 * 2 * 3 * 2);
  const SweepGrid::Workload last = grid.workload(grid.workloads() - 1);
  EXPECT_EQ(last.model, 1u);
  EXPECT_EQ(last.tp_size, 3);
  EXPECT_EQ(last.batch, 8);
  EXPECT_EQ(last.requests, 1u);
  EXPECT_EQ(grid.workload(1).batch, 4);
  EXPECT_EQ(grid.workload(3).requests, 1u);
  EXPECT_EQ(grid.workload(6).tp_size, 3);
}

TEST(SweepGrid, ShardsAreWholeWorkloadsInOrderAndLoseNone) {
  const SweepGrid grid = demo_grid();
  for (const std::size_t shards : {1u, 2u, 5u, 24u, 31u}) {
    std::size_t next = 0;
    for (std::size_t shard = 1; shard <= shards; ++shard) {
      const SweepRows rows = shard_rows(grid, shard, shards);
      EXPECT_EQ(rows.begin, next);
      EXPECT_EQ(rows.count() % grid.gpus.size(), 0u);
      EXPECT_LE(rows.count(), (grid.workloads() / shards + 1) * grid.gpus.size());
      next = rows.end;
    }
    EXPECT_EQ(next, grid.rows());
  }
}

TEST(SweepGrid, RefusesMoreRowsThanAnyoneMeans) {
  SweepGrid grid = demo_grid();
  grid.tp_sizes.resize(1 << 20, 1);
  grid.pp_sizes.resize(1 << 20, 1);
  EXPECT_THAT(error_of([&] { grid.rows(); }), HasSubstr("expected a smaller grid"));
}

TEST(SweepRecord, IsReadBackAndNamesWhatDiffers) {
  const TemporaryFolder folder;
  const fs::path path = write(folder.path() / "out.csv", demo_record(2, 3), 0);
  const SweepRecord record = read_record(path);
  EXPECT_EQ(record_json(record), record_json(demo_record(2, 3)));
  EXPECT_EQ(difference(record, demo_record(1, 8)), "");
  SweepRecord other = demo_record();
  other.grid.batches = {1};
  EXPECT_EQ(difference(record, other), "batch");
  other = demo_record();
  other.inputs[1].second = "gemm.pt sha256:1";
  EXPECT_EQ(difference(record, other), "checkpoint gemm");
  other = demo_record();
  other.format = SweepFormat::jsonl;
  EXPECT_EQ(difference(record, other), "format");
}

TEST(SweepRecord, RefusesWhatWasChanged) {
  const TemporaryFolder folder;
  const fs::path path = write(folder.path() / "out.csv", demo_record(), 0);
  std::string json = read_file(record_path(path));
  json.replace(json.find("\"chat\""), 6, "\"chap\"");
  write_file_atomic(record_path(path), json);
  EXPECT_THAT(error_of([&] { read_record(path); }), HasSubstr("the file was changed"));
}

TEST(SweepFile, ResumesBehindTheLastCompleteRowWhereverItWasCut) {
  const TemporaryFolder folder;
  for (const SweepFormat format : {SweepFormat::csv, SweepFormat::jsonl}) {
    SweepRecord record = demo_record(2, 3);
    record.format = format;
    const fs::path path = folder.path() / "out";
    write_all(path, record);
    const std::string whole = read_file(path);
    for (std::size_t size = 0; size <= whole.size(); size += 31) {
      SCOPED_TRACE(size);
      write_file_atomic(path, whole.substr(0, size));
      SweepFile file(path, record, true);
      for (std::size_t row = record.rows().begin + file.rows_done(); row < record.rows().end;
           ++row) {
        file.append(row_of(record, row));
      }
      file.close();
      ASSERT_EQ(read_file(path), whole);
    }
  }
}

TEST(SweepFile, StartsAnewWithoutResumeAndWithoutAFile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "new/folder/out.csv";
  EXPECT_EQ(SweepFile(path, demo_record(), true).rows_done(), 0u);
  write(path, demo_record(), 3);
  EXPECT_EQ(SweepFile(path, demo_record(), false).rows_done(), 0u);
  EXPECT_EQ(read_file(path), sweep_header(SweepFormat::csv));
}

TEST(SweepFile, ResumesNoOtherSweep) {
  const TemporaryFolder folder;
  const fs::path path = write(folder.path() / "out.csv", demo_record(1, 2), 3);
  const std::string before = read_file(path);
  const auto resume = [&](const SweepRecord& record) {
    return error_of([&] { SweepFile(path, record, true); });
  };
  SweepRecord other = demo_record(1, 2);
  other.grid.gpus = {"G1"};
  EXPECT_THAT(resume(other), HasSubstr("'gpus' differs"));
  EXPECT_THAT(resume(demo_record(2, 2)), HasSubstr("is shard 1 of 2, not 2 of 2"));
  EXPECT_EQ(read_file(path), before);

  write_file_atomic(path, before + "A,G2,9\n");
  EXPECT_THAT(resume(demo_record(1, 2)), HasSubstr("row 4 is \"A,G2,9"));
  write_file_atomic(path, "model,gpu\n");
  EXPECT_THAT(resume(demo_record(1, 2)), HasSubstr("the first line is"));
  fs::remove(record_path(path));
  EXPECT_THAT(resume(demo_record(1, 2)), HasSubstr("keep the two together"));
}

TEST(SweepFile, RefusesWhatIsNoFile) {
  EXPECT_THAT(error_of([] { SweepFile("/dev/null", demo_record(), false); }),
              HasSubstr("no regular file"));
}

TEST(MergeShards, GivesTheBytesOfTheWholeSweepInAnyOrder) {
  const TemporaryFolder folder;
  const fs::path whole = write_all(folder.path() / "whole.csv", demo_record());
  for (const std::size_t shards : {1u, 5u, 30u}) {  // 30: some are empty
    std::vector<fs::path> paths;
    for (std::size_t shard = shards; shard > 0; --shard) {
      paths.push_back(write_all(folder.path() / std::to_string(shard), demo_record(shard, shards)));
    }
    const fs::path merged = folder.path() / "merged.csv";
    EXPECT_EQ(merge_shards(paths, merged), demo_grid().rows());
    EXPECT_EQ(read_file(merged), read_file(whole));
    EXPECT_EQ(read_file(record_path(merged)), read_file(record_path(whole)));
  }
}

TEST(MergeShards, RefusesAnythingButAllCompleteShardsOfOneSweep) {
  const TemporaryFolder folder;
  const fs::path first = write_all(folder.path() / "1.csv", demo_record(1, 2));
  const fs::path second = write_all(folder.path() / "2.csv", demo_record(2, 2));
  const fs::path output = folder.file("out.csv", "as it was");
  const auto merge = [&](const std::vector<fs::path>& shards) {
    const std::string error = error_of([&] { merge_shards(shards, output); });
    EXPECT_EQ(read_file(output), "as it was");
    EXPECT_FALSE(fs::exists(record_path(output)));
    EXPECT_FALSE(fs::exists(folder.path() / "out.csv.partial"));
    return error;
  };
  EXPECT_THAT(merge({first}), HasSubstr("one of 2 shards, but 1 files are given"));
  EXPECT_THAT(merge({first, first}), HasSubstr("are both shard 1"));
  EXPECT_THAT(merge({first, write_all(folder.path() / "3.csv", demo_record(3, 3))}),
              HasSubstr("one of 3 shards"));
  SweepRecord other = demo_record(2, 2);
  other.inputs[0].second = "test 2";
  EXPECT_THAT(merge({first, write_all(folder.path() / "other.csv", other)}),
              HasSubstr("'tool' differs"));
  const fs::path part = write(folder.path() / "part.csv", demo_record(2, 2), 4);
  EXPECT_THAT(merge({first, part}), HasSubstr("has 4 of its 24 rows"));
  write_file_atomic(second, read_file(second) + "more\n");
  EXPECT_THAT(merge({first, second}), HasSubstr("more than the 24 rows"));
  EXPECT_THAT(merge({first, folder.path() / "absent.csv"}), HasSubstr("absent.csv has no"));
}

TEST(SweepRows, BothFormatsHoldTheSame) {
  const SweepGrid grid = demo_grid();
  SweepResult result;
  result.summary.add(Phase::prefill, 2000);
  result.summary.add(Phase::decode, 500);
  result.output_tokens = 8;
  result.memory = {12'000'000'000, 4'000'000'000};
  result.gpu_memory_bytes = 10'000'000'000;
  result.facts.set(static_cast<std::size_t>(FactKind::extrapolated));
  result.facts.set(static_cast<std::size_t>(FactKind::quantile));
  EXPECT_EQ(row_text(SweepFormat::csv, grid, 47, result),
            "\"B, \"\"b\"\"\",G2,3,1,,100,7,8,ok,no,16.0,10.0,2.0,0.5,2.5,3200.0,1066.667,"
            "extrapolated quantile,\n");
  const std::string line = row_text(SweepFormat::jsonl, grid, 47, result);
  const Json json = parse_json(line, "row");
  EXPECT_EQ(json.at("model"), "B, \"b\"");
  EXPECT_EQ(json.at("trace"), nullptr);
  EXPECT_EQ(json.at("fits"), false);
  EXPECT_EQ(json.at("tokens_per_s_per_gpu"), 1066.667);
  EXPECT_EQ(json.at("facts"), "extrapolated quantile");

  SweepResult impossible;
  impossible.problem = "two\nlines";
  EXPECT_EQ(row_text(SweepFormat::csv, grid, 0, impossible),
            "A,G1,1,1,chat,,,1,impossible,,,,,,,,,,two lines\n");
  const Json none = parse_json(row_text(SweepFormat::jsonl, grid, 0, impossible), "row");
  EXPECT_EQ(none.at("total_ms"), nullptr);
  EXPECT_EQ(none.at("error"), "two\nlines");
}

TEST(SweepRows, WhatIsNotKnownIsEmpty) {
  SweepResult result;  // prefill alone, GPU of unknown memory
  result.summary.add(Phase::prefill, 2000);
  result.output_tokens = 1;
  EXPECT_EQ(row_text(SweepFormat::csv, demo_grid(), 0, result),
            "A,G1,1,1,chat,,,1,ok,,0.0,,2.0,,2.0,500.0,500.0,,\n");
}

}  // namespace
}  // namespace pw
