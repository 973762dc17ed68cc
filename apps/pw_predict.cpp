#include "app.h"
#include "predict.h"

int main(int argc, char** argv) {
  pw::cli::App app(
      "Predicts how long an LLM workload takes on a GPU, operator by operator.\n"
      "Give a workload file, or a model with a trace or with request lengths.",
      "pw-predict");
  app.footer(
      "Examples:\n"
      "  pw-predict --model Qwen2.5-14B --batch 8 --input-len 3500 --output-len 128 "
      "--hardware H100\n"
      "  pw-predict --workload w.json --hardware H100,A100 --output predictions/\n"
      "  pw-predict sweep --models all --hardware all --tp 1,2,4,8 --batch 1,8,64 --input-len 2000 "
      "--output-len 256 --output grid.csv\n"
      "  pw-predict operators --operator gemm --input rows.csv --hardware A100 --output out.csv\n"
      "  pw-predict info checkpoints/gemm.pt\n"
      "Exit code: 0 done, 1 internal error, 2 wrong usage, 3 bad data, 5 stopped.");
  app.require_subcommand(0, 1);
  pw::Action action;
  pw::add_predict_workload(app, action);
  pw::add_predict_operators(app, action);
  pw::add_predict_sweep(app, action);
  pw::add_predict_merge(app, action);
  pw::add_predict_info(app, action);
  pw::add_predict_evaluate(app, action);
  return pw::run_app(app, argc, argv, [&] { return action(); });
}
