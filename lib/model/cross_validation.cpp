#include "pw/cross_validation.h"

#include <numeric>
#include <random>
#include <unordered_map>
#include <utility>

#include "comma_list.h"
#include "model/split.h"

namespace pw {

std::vector<Fold> group_folds(const std::vector<std::uint64_t>& group_of_row, std::int64_t folds,
                              std::int64_t seed) {
  std::unordered_map<std::uint64_t, std::size_t> number_of_group;  // by first appearance
  for (const std::uint64_t group : group_of_row) {
    number_of_group.try_emplace(group, number_of_group.size());
  }
  if (static_cast<std::int64_t>(number_of_group.size()) < folds) {
    throw DataError("the rows have " + std::to_string(number_of_group.size()) +
                    " different groups, expected at least one for each of the " +
                    std::to_string(folds) + " folds: ask for fewer folds or smaller groups");
  }
  std::vector<std::int64_t> order(number_of_group.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 generator(static_cast<std::uint32_t>(seed));
  shuffle(order, generator);
  std::vector<std::size_t> fold_of_group(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    fold_of_group[static_cast<std::size_t>(order[i])] = i % static_cast<std::size_t>(folds);
  }
  std::vector<Fold> result(static_cast<std::size_t>(folds));
  for (std::size_t row = 0; row < group_of_row.size(); ++row) {
    const std::size_t unseen_in = fold_of_group[number_of_group.at(group_of_row[row])];
    for (std::size_t fold = 0; fold < result.size(); ++fold) {
      (fold == unseen_in ? result[fold].unseen : result[fold].training)
          .push_back(static_cast<std::int64_t>(row));
    }
  }
  return result;
}

std::vector<Fold> gpu_folds(const Dataset& data) {
  if (data.hardware_names.size() < 2) {
    throw DataError("the rows are all of " + data.hardware_names.front() +
                    ", expected at least two GPUs to leave one out");
  }
  std::vector<Fold> folds(data.hardware_names.size());
  for (std::size_t row = 0; row < data.rows(); ++row) {
    for (std::size_t gpu = 0; gpu < folds.size(); ++gpu) {
      (gpu == data.hardware[row] ? folds[gpu].unseen : folds[gpu].training)
          .push_back(static_cast<std::int64_t>(row));
    }
  }
  return folds;
}

std::string described_groups(const Dataset& data) {
  return "groups of equal " + comma_list(data.options.hold_out_by);
}

void keep_seen_rows(const Dataset& data, double fraction, std::int64_t seed,
                    std::vector<Fold>& folds) {
  for (Fold& fold : folds) {
    Split split = split_groups_of(data.problem, fold.training, fraction, seed);
    fold.training = std::move(split.training);
    fold.seen = std::move(split.validation);
  }
}

}  // namespace pw
