#include <functional>

#include "app.h"
#include "profile_e2e.h"
#include "profile_operators.h"
#include "profile_spec.h"

namespace {

constexpr char kDescription[] =
    "Measures this machine: operators for pw-train, its hardware file, and whole models for "
    "pw-compare.";
constexpr char kExamples[] =
    "Examples:\n"
    "  pw-profile spec --device cuda --output my/MyGPU.json\n"
    "  pw-profile --operator gemm,attn --preset standard --device cuda --minutes 8 --output rows\n"
    "  pw-profile --preset quick --hardware-dir my --output rows --resume\n"
    "  pw-profile e2e --model Qwen2.5-14B --trace requests.csv --batch 8 --device cuda --output "
    "e2e\n"
    "Exit code: 0 done, 1 internal error, 2 wrong usage, 3 bad data, 5 stopped and saved.";

}  // namespace

int main(int argc, char** argv) {
  pw::cli::App app(kDescription, "pw-profile");
  app.footer(kExamples);
  app.require_subcommand(0, 1);
  std::function<int()> action;
  pw::add_operator_profile(app, action);
  pw::add_spec_command(app, action);
  pw::add_e2e_command(app, action);
  return pw::run_app(app, argc, argv, [&] { return action(); });
}
