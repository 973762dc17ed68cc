#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace pw {

// Calls take(work(input)) for all inputs that next() gives, an optional each, until it gives none.
// `work` runs on the cores of the machine, each of which fetches the next input when it is done
// with one; `next` and `take` run on any of them, one at a time each and in order, `take` as soon
// as all results before are taken. So the result is that of a loop, and few inputs and results are
// in memory at once. A single input stays on the calling thread. Of several exceptions, also those
// of `next`, the first in the order of the inputs is thrown.
template <class Next, class Work, class Take>
void in_order(const Next& next, const Work& work, const Take& take) {
  constexpr std::size_t kMostThreads = 8;
  constexpr std::size_t kMostAhead = 2;  // inputs of a thread whose results are not taken
  using Input = typename decltype(next())::value_type;
  struct Fetched {
    std::size_t number;
    std::optional<Input> input;
    std::exception_ptr error;
  };
  struct Outcome {
    std::optional<decltype(work(std::declval<Input>()))> result;
    std::exception_ptr error;
  };
  const std::size_t threads =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);

  std::mutex taking;
  std::condition_variable taken;
  std::map<std::size_t, Outcome> waiting;  // for the results before them
  std::size_t next_to_take = 0;
  std::exception_ptr first_error;
  const auto take_result = [&](std::size_t number, Outcome&& finished) {
    const std::lock_guard<std::mutex> lock(taking);
    waiting.emplace(number, std::move(finished));
    for (auto first = waiting.begin();
         !first_error && first != waiting.end() && first->first == next_to_take;
         first = waiting.erase(first), ++next_to_take) {
      first_error = first->second.error;
      if (first_error) break;
      try {
        take(std::move(*first->second.result));
      } catch (...) {
        first_error = std::current_exception();
      }
    }
    taken.notify_all();
  };

  std::mutex fetching;
  std::deque<Fetched> ahead;
  std::size_t next_to_fetch = 0;
  bool ended = false;
  const auto fetch_ahead = [&] {
    if (ended) return;
    Fetched fetched{next_to_fetch++, std::nullopt, nullptr};
    try {
      fetched.input = next();
    } catch (...) {
      fetched.error = std::current_exception();
    }
    ended = !fetched.input;
    if (fetched.input || fetched.error) ahead.push_back(std::move(fetched));
  };
  const auto fetch = [&]() -> std::optional<Fetched> {
    const std::lock_guard<std::mutex> fetch_lock(fetching);
    {
      std::unique_lock<std::mutex> lock(taking);
      taken.wait(
          lock, [&] { return first_error || next_to_fetch < next_to_take + kMostAhead * threads; });
      if (first_error) return std::nullopt;
    }
    if (ahead.empty()) fetch_ahead();
    if (ahead.empty()) return std::nullopt;
    Fetched fetched = std::move(ahead.front());
    ahead.pop_front();
    return fetched;
  };
  const auto work_on_inputs = [&] {
    while (std::optional<Fetched> fetched = fetch()) {
      Outcome outcome{std::nullopt, fetched->error};
      try {
        if (fetched->input) outcome.result = work(std::move(*fetched->input));
      } catch (...) {
        outcome.error = std::current_exception();
      }
      take_result(fetched->number, std::move(outcome));
    }
  };

  fetch_ahead();
  fetch_ahead();
  {
    std::vector<std::future<void>> others;
    for (std::size_t thread = 1; thread < threads && ahead.size() > 1; ++thread) {
      others.push_back(std::async(std::launch::async, work_on_inputs));
    }
    work_on_inputs();
  }  // waits for the others
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace pw
