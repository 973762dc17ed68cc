#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/split.h"
#include "pw/dataset.h"
#include "pw/model_record.h"
#include "pw/trainer.h"

namespace pw {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

// Checks of training options; each throws DataError that names the option.
void check_at_least(const std::string& option, std::int64_t value, std::int64_t least);
void check_between(const std::string& option, double value, double least, double most);
void check_seed(std::int64_t seed);

// Validation rows: whole problem groups, or single rows by the published permutation. Throws
// DataError when there are too few different problems.
Split split_dataset(const Dataset& data, double validation_fraction, std::int64_t seed,
                    bool published_split);

std::vector<std::int64_t> all_rows(const Dataset& data);

// The record of a model that is trained on `train` with `options`, metrics and losses still empty.
ModelRecord record_of(const Dataset& train, const Dataset* test, const NamedValues& options,
                      const Split& split);

void append(const NamedValues& values, NamedValues& to);

// Predict the run's validation rows, or the test data where there is any, and append the metrics to
// its record; the validation rows give the record's known_gpu_errors too, whose
// coverage halves them with `seed`.
void predict_validation(const OperatorModel& model, const Dataset& train, std::int64_t seed,
                        TrainingRun& run);
void predict_test(const OperatorModel& model, const Dataset* test, TrainingRun& run);

}  // namespace pw
