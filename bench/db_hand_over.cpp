#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>

#include "bench/clock.h"
#include "bench/db_parts.h"
#include "bench/statistics.h"
#include "bench/synthetic_replays.h"
#include "bench/temporary_profile.h"

namespace reprise::bench {
namespace {

/// What one writes by hand: copies in a queue behind a lock, and a thread that empties it.
class LockedQueue {
 public:
  LockedQueue() : thread_([this](const std::stop_token& stop) { run(stop); }) {}
  LockedQueue(const LockedQueue&) = delete;
  LockedQueue& operator=(const LockedQueue&) = delete;
  ~LockedQueue() { thread_.request_stop(); }

  void push(const ReplayRecord& record) {
    const std::lock_guard lock(mutex_);
    queue_.push_back({record,
                      {record.state.begin(), record.state.end()},
                      {record.step_ticks.begin(), record.step_ticks.end()}});
    filled_.notify_one();
  }
  void drain() {
    std::unique_lock lock(mutex_);
    emptied_.wait(lock, [&] { return queue_.empty(); });
  }

 private:
  struct Copy {
    ReplayRecord record;
    std::vector<std::uint32_t> state;
    std::vector<std::uint64_t> ticks;
  };
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::deque<Copy> taken;
      {
        std::unique_lock lock(mutex_);
        filled_.wait(lock, stop, [&] { return !queue_.empty(); });
        taken.swap(queue_);
        emptied_.notify_all();
      }
    }
  }
  std::mutex mutex_;
  std::condition_variable_any filled_, emptied_;
  std::deque<Copy> queue_;
  std::jthread thread_;
};

struct CallTimes {
  std::vector<double> ns;
  nlohmann::ordered_json json() {
    std::ranges::sort(ns);
    return {{"p50_ns", quantile(ns, 0.5)}, {"p99_ns", quantile(ns, 0.99)}, {"max_ns", ns.back()}};
  }
};

}  // namespace

nlohmann::ordered_json measure_hand_over(const DbArguments& a) {
  const TemporaryProfile profile;
  SyntheticReplays replays(profile.path, static_cast<std::size_t>(a.nodes));
  LockedQueue queue;
  nlohmann::ordered_json json;
  for (const auto& timed :
       {std::pair(TimingMode::replay, "replay"), std::pair(TimingMode::node, "node")}) {
    const auto mode = timed.first;
    const auto* name = timed.second;
    // Each round fits the ring: what a full one costs is not the question.
    const auto round = [&](CallTimes& times, auto&& hand_over) {
      for (long long r = 0; r < std::min<long long>(a.replays, 1'000); ++r) {
        const ReplayRecord& record = replays.next(mode);
        const double begin = now_us();
        hand_over(record);
        times.ns.push_back((now_us() - begin) * 1e3);
      }
    };
    CallTimes none;
    CallTimes sink;
    CallTimes locked;
    for (long long r = 0; r <= a.reps; ++r) {
      round(none, [](const ReplayRecord&) {});
      round(sink, [&](const ReplayRecord& record) { replays.sink().replay(record); });
      replays.sink().flush();
      round(locked, [&](const ReplayRecord& record) { queue.push(record); });
      queue.drain();
      if (r == 0) {  // warms up
        none.ns.clear();
        sink.ns.clear();
        locked.ns.clear();
      }
    }
    replays.require_complete();
    json[name] = {{"none", none.json()}, {"sink", sink.json()}, {"mutex_and_deque", locked.json()}};
    const auto cost = [&](const char* way, const char* key) {
      return json[name][way][key].get<double>() - json[name]["none"][key].get<double>();
    };
    json[name]["sink_to_mutex_p50"] = cost("sink", "p50_ns") / cost("mutex_and_deque", "p50_ns");
    json[name]["sink_to_mutex_p99"] = cost("sink", "p99_ns") / cost("mutex_and_deque", "p99_ns");
  }
  return json;
}

}  // namespace reprise::bench
