#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace pw {

// Calls work(begin, end) for consecutive parts of [0, count) on the cores of the machine and
// returns the results in the order of the parts: their concatenation is that of one call for the
// whole range. Parts have at least `smallest` elements, so that short work stays on the calling
// thread, and there are several for each thread, which takes the next one when it is done. Of
// several exceptions that of the first part is thrown.
template <class Work>
auto in_parts(std::size_t count, std::size_t smallest, const Work& work) {
  using Result = decltype(work(std::size_t{}, std::size_t{}));
  constexpr std::size_t kMostThreads = 8;
  constexpr std::size_t kPartsOfAThread = 4;
  const std::size_t cores =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
  const std::size_t parts = std::clamp<std::size_t>(count / std::max<std::size_t>(smallest, 1), 1,
                                                    cores == 1 ? 1 : cores * kPartsOfAThread);
  const auto begin_of = [&](std::size_t part) {
    return count / parts * part + std::min(part, count % parts);
  };
  std::vector<std::packaged_task<Result()>> tasks;
  for (std::size_t part = 0; part < parts; ++part) {
    tasks.emplace_back([&, part] { return work(begin_of(part), begin_of(part + 1)); });
  }
  std::atomic<std::size_t> next{0};
  const auto take_parts = [&] {
    for (std::size_t part = next++; part < parts; part = next++) tasks[part]();
  };
  {
    std::vector<std::future<void>> others;
    for (std::size_t thread = 1; thread < std::min(cores, parts); ++thread) {
      others.push_back(std::async(std::launch::async, take_parts));
    }
    take_parts();
  }  // waits for the others
  std::vector<Result> results;
  for (std::packaged_task<Result()>& task : tasks) results.push_back(task.get_future().get());
  return results;
}

}  // namespace pw
