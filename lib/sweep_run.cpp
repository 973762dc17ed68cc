#include "sweep_run.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

namespace pw {
namespace {

// Workloads per thread that may be done or under way beyond the next one to hand over.
constexpr std::size_t kWorkloadsAhead = 16;
constexpr auto kStopInterval = std::chrono::milliseconds(100);

// The lines of one workload, as far as its rows lie within `rows`. Empty when stopped.
SweepLines lines_of(const Sweep& sweep, const SweepEvaluator& evaluator, std::size_t workload,
                    SweepRows rows, const std::atomic<bool>& stop) {
  const SweepGrid::Workload place = sweep.grid.workload(workload);
  const SweepRequests& requests = sweep.grid.requests[place.requests];
  WorkloadOptions options = sweep.options;
  options.tp_size = place.tp_size;
  options.pp_size = place.pp_size;
  std::vector<SweepResult> results;
  try {
    const Trace trace =
        requests.trace.empty()
            ? uniform_trace(place.batch, requests.input_tokens, requests.output_tokens)
            : select_batch(sweep.traces[place.requests], place.batch, 0);
    results = evaluator.evaluate(sweep.models[place.model], trace, options, stop);
  } catch (const DataError& error) {  // more requests than the trace has
    results.resize(sweep.grid.gpus.size());
    for (SweepResult& result : results) result.problem = error.what();
  }
  SweepLines lines;
  const std::size_t first_row = workload * sweep.grid.gpus.size();
  for (std::size_t gpu = 0; gpu < results.size(); ++gpu) {
    const std::size_t row = first_row + gpu;
    if (row < rows.begin || row >= rows.end) continue;
    lines.text += row_text(sweep.format, sweep.grid, row, results[gpu]);
    ++lines.rows;
    lines.impossible += results[gpu].problem.empty() ? 0 : 1;
  }
  return lines;
}

// Workloads from `begin` on, for threads that take one after the other and a reader that wants the
// results in order.
class OrderedResults {
 public:
  OrderedResults(std::size_t begin, std::size_t end, std::size_t ahead)
      : next_(begin), taken_(begin), end_(end), ahead_(ahead) {}

  // The next workload to evaluate, once the reader is near enough; empty when there is none or the
  // run is stopped.
  std::optional<std::size_t> take() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || taken_ == end_ || taken_ < next_ + ahead_; });
    if (stopped_ || taken_ == end_) return std::nullopt;
    return taken_++;
  }

  void put(std::size_t workload, SweepLines lines) {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_.emplace(workload, std::move(lines));
    changed_.notify_all();
  }

  void fail(std::exception_ptr failure) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    stopped_ = true;
    changed_.notify_all();
  }

  void stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  bool is_finished() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return next_ == end_;
  }

  // All results that are there in order; waits a while for the first one.
  std::vector<SweepLines> get() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kStopInterval, [&] { return failure_ || done_.count(next_) != 0; });
    if (failure_) std::rethrow_exception(failure_);
    std::vector<SweepLines> lines;
    for (auto found = done_.find(next_); found != done_.end(); found = done_.find(next_)) {
      lines.push_back(std::move(found->second));
      done_.erase(found);
      ++next_;
    }
    changed_.notify_all();
    return lines;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, SweepLines> done_;
  std::size_t next_;   // to hand over
  std::size_t taken_;  // the first that no thread has taken
  std::size_t end_;
  std::size_t ahead_;
  bool stopped_ = false;
  std::exception_ptr failure_;
};

// Threads that end with the object.
class Workers {
 public:
  Workers(std::size_t count, OrderedResults& results, std::atomic<bool>& stop,
          const std::function<void()>& work)
      : results_(results), stop_(stop) {
    try {
      for (std::size_t i = 0; i < count; ++i) threads_.emplace_back(work);
    } catch (const std::system_error&) {  // a limit of the system: go on with those there are
      if (threads_.empty()) throw;
    }
  }
  ~Workers() {
    stop_ = true;
    results_.stop();
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

 private:
  OrderedResults& results_;
  std::atomic<bool>& stop_;
  std::vector<std::thread> threads_;
};

}  // namespace

void run_sweep(const Sweep& sweep, const SweepEvaluator& evaluator, SweepRows rows,
               std::size_t threads, const std::function<bool()>& stop,
               const std::function<void(const SweepLines&)>& use) {
  if (rows.count() == 0) return;
  const std::size_t gpus = sweep.grid.gpus.size();
  const std::size_t begin = rows.begin / gpus;
  const std::size_t end = (rows.end + gpus - 1) / gpus;
  threads = std::min(threads, end - begin);
  OrderedResults results(begin, end, threads * kWorkloadsAhead);
  std::atomic<bool> stopped{false};
  const Workers workers(threads, results, stopped, [&] {
    try {
      while (const std::optional<std::size_t> workload = results.take()) {
        SweepLines lines = lines_of(sweep, evaluator, *workload, rows, stopped);
        if (stopped) return;
        results.put(*workload, std::move(lines));
      }
    } catch (...) {
      results.fail(std::current_exception());
    }
  });
  while (!results.is_finished() && !stop()) {
    for (const SweepLines& lines : results.get()) use(lines);
  }
}

}  // namespace pw
