#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace pw {

// Calls take(work(begin, end)) for consecutive parts of [0, count), each of `part_size` to less
// than twice as many elements. `work` runs on the cores of the machine, each of which begins the
// next part when it is done with one; `take` runs on any of them, in the order of the parts and one
// at a time, as soon as all parts before are taken. So the result is that of one call for the whole
// range, and the results of parts of similar length are seldom in memory for long. A single part
// stays on the calling thread. Of several exceptions that of the first part is thrown.
template <class Work, class Take>
void in_parts(std::size_t count, std::size_t part_size, const Work& work, const Take& take) {
  constexpr std::size_t kMostThreads = 8;
  struct Outcome {
    std::optional<decltype(work(std::size_t{}, std::size_t{}))> result;
    std::exception_ptr error;
  };
  const std::size_t parts = std::max<std::size_t>(count / std::max<std::size_t>(part_size, 1), 1);
  const auto begin_of = [&](std::size_t part) {
    return count / parts * part + std::min(part, count % parts);
  };
  const auto outcome_of = [&](std::size_t part) {
    Outcome outcome;
    try {
      outcome.result = work(begin_of(part), begin_of(part + 1));
    } catch (...) {
      outcome.error = std::current_exception();
    }
    return outcome;
  };

  std::mutex taking;
  std::vector<Outcome> waiting(parts);  // for the parts before them
  std::size_t next_to_take = 0;
  std::exception_ptr first_error;
  const auto take_waiting = [&] {
    for (; next_to_take < parts && !first_error; ++next_to_take) {
      Outcome outcome = std::exchange(waiting[next_to_take], {});
      if (!outcome.result && !outcome.error) return;
      first_error = outcome.error;
      if (outcome.result) take(std::move(*outcome.result));
    }
  };

  std::atomic<std::size_t> next_to_work{0};
  std::atomic<bool> failed{false};
  const auto work_on_parts = [&] {
    for (std::size_t part = next_to_work++; part < parts && !failed; part = next_to_work++) {
      Outcome outcome = outcome_of(part);
      const std::lock_guard<std::mutex> lock(taking);
      waiting[part] = std::move(outcome);
      try {
        take_waiting();
      } catch (...) {
        first_error = std::current_exception();
      }
      failed = first_error != nullptr;
    }
  };
  const std::size_t cores =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
  {
    std::vector<std::future<void>> others;
    for (std::size_t thread = 1; thread < std::min(cores, parts); ++thread) {
      others.push_back(std::async(std::launch::async, work_on_parts));
    }
    work_on_parts();
  }  // waits for the others
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace pw
