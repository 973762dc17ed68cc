#pragma once

#include <algorithm>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace pw {

// Calls work(begin, end) for consecutive parts of [0, count) in threads of their own and returns
// the results in the order of the parts: their concatenation is that of one call for the whole
// range. Parts have at least `smallest` elements, so that short work stays on the calling thread.
// Of several exceptions that of the first part is thrown.
template <class Work>
auto in_parts(std::size_t count, std::size_t smallest, const Work& work) {
  using Result = decltype(work(std::size_t{}, std::size_t{}));
  constexpr std::size_t kMostThreads = 8;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t parts = std::clamp(count / std::max<std::size_t>(smallest, 1), std::size_t{1},
                                       std::min(cores, kMostThreads));
  const auto begin_of = [&](std::size_t part) {
    return count / parts * part + std::min(part, count % parts);
  };
  std::vector<std::future<Result>> others;
  for (std::size_t part = 1; part < parts; ++part) {
    others.push_back(std::async(std::launch::async, work, begin_of(part), begin_of(part + 1)));
  }
  std::vector<Result> results;
  results.push_back(work(0, begin_of(1)));
  for (std::future<Result>& other : others) results.push_back(other.get());
  return results;
}

}  // namespace pw
