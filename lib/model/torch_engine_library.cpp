// The library that programs load when they need LibTorch: torch_engine.h.

#include "io/files.h"
#include "model/load_network.h"
#include "model/openblas_core.h"
#include "model/torch_training.h"
#include "profile/torch_profiling.h"
#include "torch_engine.h"

namespace {

constexpr pw::TorchTraining kTraining = {pw::run_mlp_training,
                                         pw::run_log_ratio_training,
                                         pw::run_mlp_quantile_training,
                                         pw::run_log_ratio_quantile_training,
                                         pw::cross_validate,
                                         pw::cross_validate,
                                         pw::load_checkpoint,
                                         pw::import_state_dict,
                                         pw::record_operand_copies,
                                         pw::use_fitting_openblas_core};
constexpr pw::TorchProfiling kProfiling = {pw::open_torch_device, pw::measure_rates,
                                           pw::Transformer::make};

}  // namespace

extern "C" __attribute__((visibility("default"))) const pw::TorchEngine pw_torch_engine;
const pw::TorchEngine pw_torch_engine = {PW_VERSION, pw::load_network, &kTraining, &kProfiling,
                                         pw::end_between_writes};
