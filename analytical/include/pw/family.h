#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pw/fields.h"

namespace pw {

// The description of an operator family is its Config:
//
//   kName            its name in options, files and messages
//   kNumbers         its whole numbers under their CSV names; reading, cells, keys and texts of a
//                    family that has nothing else follow from them
//   kProblemColumns  all columns of its problem, where there are others too
//   read             from a record
//   tokens()         new tokens of the problem, which limits of profiling plans are about
//   described(), cells(), add_rest(hash)  where there is more than numbers: the text after the
//                    name, the cells of the problem's columns, and what distinguishes two problems
//                    besides the numbers
//   features()       pipeline features of the published models; kHasPipelines = false without any
//
// Beside it stand work(), ratio_names() and ratios(), analyze() with pipelines, and
// analytic_duration_us() for families that are predicted without a model. operators.h has the list.
template <class Config>
struct Number {
  std::string_view column;
  std::int64_t Config::*value;
  std::int64_t least;
};

namespace family {

template <class Config, class = void>
inline constexpr bool has_described = false;
template <class Config>
inline constexpr bool
    has_described<Config, std::void_t<decltype(std::declval<const Config&>().described())>> = true;

template <class Config, class = void>
inline constexpr bool has_cells = false;
template <class Config>
inline constexpr bool
    has_cells<Config, std::void_t<decltype(std::declval<const Config&>().cells())>> = true;

template <class Config, class = void>
inline constexpr bool has_columns = false;
template <class Config>
inline constexpr bool has_columns<Config, std::void_t<decltype(Config::kProblemColumns)>> = true;

template <class Config, class = void>
inline constexpr bool has_pipelines = true;
template <class Config>
inline constexpr bool has_pipelines<Config, std::void_t<decltype(Config::kHasPipelines)>> =
    Config::kHasPipelines;

template <class Config, class Hash, class = void>
inline constexpr bool has_rest = false;
template <class Config, class Hash>
inline constexpr bool
    has_rest<Config, Hash,
             std::void_t<decltype(std::declval<const Config&>().add_rest(std::declval<Hash&>()))>> =
        true;

}  // namespace family

// Throws DataError for a number that is missing or below its least.
template <class Config>
void read_numbers(const Fields& fields, Config& config) {
  for (const Number<Config>& number : Config::kNumbers) {
    config.*number.value = integer_at_least(fields, number.column, number.least);
  }
}

// " M=8 N=4096 K=4096"
template <class Config>
std::string described_numbers(const Config& config) {
  std::string text;
  for (const Number<Config>& number : Config::kNumbers) {
    text += " " + std::string(number.column) + "=" + std::to_string(config.*number.value);
  }
  return text;
}

// What follows a family's name in messages and reports.
template <class Config>
std::string described_problem(const Config& config) {
  if constexpr (family::has_described<Config>) {
    return config.described();
  } else {
    return described_numbers(config);
  }
}

template <class Config>
std::vector<std::string_view> problem_columns() {
  if constexpr (family::has_columns<Config>) {
    return {Config::kProblemColumns.begin(), Config::kProblemColumns.end()};
  } else {
    std::vector<std::string_view> columns;
    for (const Number<Config>& number : Config::kNumbers) columns.push_back(number.column);
    return columns;
  }
}

// The texts of a problem's columns.
template <class Config>
std::vector<std::string> problem_cells_of(const Config& config) {
  if constexpr (family::has_cells<Config>) {
    return config.cells();
  } else {
    std::vector<std::string> cells;
    for (const Number<Config>& number : Config::kNumbers) {
      cells.push_back(std::to_string(config.*number.value));
    }
    return cells;
  }
}

// Everything that distinguishes two problems of a family.
template <class Config, class Hash>
void add_problem(const Config& config, Hash& hash) {
  for (const Number<Config>& number : Config::kNumbers) hash.add(config.*number.value);
  if constexpr (family::has_rest<Config, Hash>) config.add_rest(hash);
}

}  // namespace pw
