// Measured runs in every format (the file's name tells which), compared with a fixed prediction.
#include "compare_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const fuzz::InputFile inputs[] = {fuzz::InputFile("e2e_tp2_H100.jsonl"),
                                           fuzz::InputFile("vllm_arxiv8_H100_demo7b.json"),
                                           fuzz::InputFile("runs.csv")};
  PredictedCase predicted;
  predicted.name = parse_case_name("Demo-7B_arxiv_8_fa2_tp2_pp1_H100").value();
  predicted.ms = {{100.0, 10.0, 1000.0}};
  for (const fuzz::InputFile& input : inputs) {
    fuzz::takes([&] {
      const auto measured =
          read_measurements(input.write(fuzz::as_text(data, size)), fuzz::catalog(), fuzz::ignore);
      fuzz::require(!measured.empty(), "measurements hold a case");
      fuzz::render({{"demo", {predicted}}}, measured);
    });
  }
  return 0;
}
