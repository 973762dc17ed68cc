// Predictions as JSON and as CSV, compared with fixed runs and with themselves.
#include "compare_input.h"
#include "pw/prediction_diff.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pw;
  static const fuzz::InputFile inputs[] = {fuzz::InputFile("Demo-7B_arxiv_8_fa2_tp1_pp1_H100.json"),
                                           fuzz::InputFile("cases.csv")};
  MeasuredCase measured;
  measured.engine = "sglang";
  measured.run_name = "Demo-7B-arxiv_8";
  measured.gpu = "H100";
  measured.covers = {{true, true, true}};
  measured.runs = {{0, {{100.0, 10.0, 1000.0}}}, {1, {{101.0, std::nullopt, 1001.0}}}};
  for (const fuzz::InputFile& input : inputs) {
    fuzz::takes([&] {
      const auto predicted =
          read_predictions(input.write(fuzz::as_text(data, size)), fuzz::catalog(), fuzz::ignore);
      fuzz::require(!predicted.empty(), "predictions hold a case");
      fuzz::render({{"demo", predicted}}, {measured});
      prediction_diff_text(predicted.front(), predicted.back());
    });
  }
  return 0;
}
