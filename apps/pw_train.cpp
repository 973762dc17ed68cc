#include <functional>

#include "app.h"
#include "train_calibrate.h"
#include "train_collective.h"
#include "train_copies.h"
#include "train_evaluate.h"
#include "train_import.h"
#include "train_linear.h"
#include "train_mlp.h"
#include "train_quantile.h"

namespace {

constexpr char kDescription[] = "Fits the models that pw-predict uses.";
constexpr char kExamples[] =
    "Examples:\n"
    "  pw-train mlp --operator gemm --train gemm_train.csv --test gemm_test.csv --output gemm.pt\n"
    "  pw-train quantile --operator moe --train moe.csv --quantile 0.8 0.5 --preset recommended "
    "--output moe_quantile.pt\n"
    "  pw-train evaluate --operator gemm --train gemm.csv --leave-one-gpu-out\n"
    "  pw-train import gemm_mlp_model.pth --operator gemm --output gemm.pt\n"
    "  pw-train collective --data collective --source \"own NCCL runs\" --output "
    "collectives.json\n"
    "Exit code: 0 done, 1 internal error, 2 wrong usage, 3 bad data, 5 stopped.";

}  // namespace

int main(int argc, char** argv) {
  pw::cli::App app(kDescription, "pw-train");
  app.footer(kExamples);
  app.require_subcommand(1);
  std::function<int()> action;
  pw::add_mlp_command(app, action);
  pw::add_quantile_command(app, action);
  pw::add_evaluate_command(app, action);
  pw::add_linear_command(app, action);
  pw::add_calibrate_command(app, action);
  pw::add_import_command(app, action);
  pw::add_copies_command(app, action);
  pw::add_collective_command(app, action);
  return pw::run_app(app, argc, argv, [&] { return action(); });
}
