#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pw/attention.h"
#include "pw/expert_block.h"
#include "pw/features.h"
#include "pw/gemm.h"
#include "pw/hardware_spec.h"
#include "pw/moe.h"
#include "pw/ratios.h"
#include "pw/rmsnorm.h"
#include "pw/silu_mul.h"
#include "pw/work.h"

namespace pw {

// THE list of operator families. A new one is a name here and a description as pw/family.h says.
using OperatorConfig = std::variant<GemmConfig, Fp8GemmConfig, AttentionConfig, RmsNormConfig,
                                    SiluMulConfig, MoeConfig, ExpertBlockConfig>;

// Choices that features depend on beside the problem and the GPU. They are stored with every
// trained model, because a model is only valid with the features that it was fitted on.
struct AnalysisOptions {
  Fa2Schedule fa2_schedule = Fa2Schedule::published;
  GemmTilePolicy gemm_tile = GemmTilePolicy::selected;
};

std::string_view to_string(Fa2Schedule schedule);
std::string_view to_string(GemmTilePolicy policy);
Fa2Schedule parse_fa2_schedule(std::string_view text);
GemmTilePolicy parse_gemm_tile_policy(std::string_view text);

// The features of each family, one overload per source file. Throws DataError for a problem that
// has no meaning, std::overflow_error for one beyond int64.
PipelineFeatures analyze(const GemmConfig&, const HardwareSpec&, const AnalysisOptions&);
PipelineFeatures analyze(const Fp8GemmConfig&, const HardwareSpec&, const AnalysisOptions&);
PipelineFeatures analyze(const AttentionConfig&, const HardwareSpec&, const AnalysisOptions&);
PipelineFeatures analyze(const RmsNormConfig&, const HardwareSpec&, const AnalysisOptions&);
PipelineFeatures analyze(const SiluMulConfig&, const HardwareSpec&, const AnalysisOptions&);
PipelineFeatures analyze(const MoeConfig&, const HardwareSpec&, const AnalysisOptions&);

// Any operator. Another name than `analyze` on purpose: a config converts to the variant, so an
// overload would call itself. A problem beyond int64 becomes a DataError here.
PipelineFeatures analyze_operator(const OperatorConfig& config, const HardwareSpec& hardware,
                                  const AnalysisOptions& options = {});

// The dimensionless features of any operator, with the same errors; with as many copies of its
// operands as given, where the family knows copies.
RatioFeatures operator_ratios(const OperatorConfig& config, const HardwareSpec& hardware);
RatioFeatures operator_ratios(const OperatorConfig& config, double copies,
                              const HardwareSpec& hardware);

// The copies of its operands that a problem has (pw/operand_copies.h); absent for families that do
// not know any.
std::optional<double> operand_copies(const OperatorConfig& config);
void set_operand_copies(OperatorConfig& config, double copies);  // nothing for those

// What any operator needs, with the same errors.
Work operator_work(const OperatorConfig& config);

// What the programs know of a family, in the order of OperatorConfig.
struct OperatorFamily {
  std::string_view name;  // "gemm"
  std::vector<std::string_view> problem_columns;
  const FeatureTable* features;   // of efficiency models
  const RatioNames* ratio_names;  // of log_ratio models
  OperatorConfig (*read)(const Fields&);
};
const std::vector<OperatorFamily>& operator_families();
// Throws DataError that lists the families when there is none of that name.
const OperatorFamily& operator_family(std::string_view name);
const OperatorFamily& operator_family(const OperatorConfig& config);

// The texts of the family's problem_columns, as a CSV has them but for quotes around lists:
// "[512,64]". Attention needs a kernel and a layout of its own.
std::vector<std::string> problem_cells(const OperatorConfig& config);
std::int64_t new_tokens(const OperatorConfig& config);

// "gemm M=8 N=4096 K=4096": for messages and reports.
std::string describe(const OperatorConfig& config);

// Cycles of the pipe that bounds the operator at 100 % efficiency: the tensor pipe, or FMA and XU
// one after the other for families without tensor work. `Real` is double for training targets; the
// published prediction path rounds each term to float first.
template <class Real>
Real ideal_cycles(const PipelineFeatures& f) {
  if (f.tensor.all_cycles > 0) {
    return static_cast<Real>(f.tensor.all_cycles);
  }
  return static_cast<Real>(f.fma.all_cycles) + static_cast<Real>(f.xu.all_cycles);
}

// overall_perf of a measured duration: the fraction of the bounding pipe's rate.
inline double efficiency_of(double ideal_cycles, double duration_us, const HardwareSpec& hardware) {
  return ideal_cycles / (duration_us * hardware.sm_freq_mhz);
}

}  // namespace pw
