#include "app.h"
#include "compare.h"

int main(int argc, char** argv) {
  pw::cli::App app(
      "Compares predicted with measured latencies: errors of each case, and mean, median, worst\n"
      "and bias by method, phase, GPU and model.",
      "pw-compare");
  app.footer(
      "Examples:\n"
      "  pw-compare --pred ours=predictions/ --pred roofline=baseline/ --real measured/ "
      "--output tables/\n"
      "  pw-compare --pred p.json --real bench.jsonl --run Qwen2.5-14B-arxiv_8\n"
      "  pw-compare --pred predictions/ --real measured/ --max-mape 10 --phase total\n"
      "  pw-compare operators --pred out.csv --real data.csv\n"
      "  pw-compare diff a.json b.json\n"
      "Exit code: 0 done, 1 internal error, 2 wrong usage, 3 bad data, 4 error above --max-mape, 5 "
      "stopped.");
  app.require_subcommand(0, 1);
  pw::Action action;
  pw::add_compare_cases(app, action);
  pw::add_compare_operators(app, action);
  pw::add_compare_diff(app, action);
  return pw::run_app(app, argc, argv, [&] { return action(); });
}
