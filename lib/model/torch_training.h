#pragma once

#include "pw/checkpoint.h"
#include "pw/cross_validation.h"
#include "pw/quantile_trainer.h"
#include "pw/trainer.h"

namespace pw {

// The functions of pw_torch that pw-train calls, each as its header says.
struct TorchTraining {
  decltype(pw::run_mlp_training)* run_mlp;
  decltype(pw::run_log_ratio_training)* run_log_ratio;
  decltype(pw::run_mlp_quantile_training)* run_mlp_quantile;
  decltype(pw::run_log_ratio_quantile_training)* run_log_ratio_quantile;
  CrossValidation (*cross_validate_mlp)(const Dataset& data, const std::vector<Fold>& folds,
                                        const MlpOptions& options,
                                        const ProgressCallback& progress);
  CrossValidation (*cross_validate_log_ratio)(const Dataset& data, const std::vector<Fold>& folds,
                                              const RatioOptions& options,
                                              const ProgressCallback& progress);
  decltype(pw::load_checkpoint)* load_checkpoint;
  decltype(pw::import_state_dict)* import_state_dict;
  decltype(pw::record_operand_copies)* record_operand_copies;
  // That of model/openblas_core.h: OpenBLAS is found from within the library that brings it.
  void (*use_fitting_openblas_core)();
};

}  // namespace pw
