#include <stop_token>

#include "bench/bare_sqlite.h"
#include "bench/clock.h"
#include "bench/db_parts.h"
#include "bench/statistics.h"
#include "bench/synthetic_replays.h"
#include "bench/temporary_profile.h"
#include "framework/profile/capture_reader.h"
#include "reprise/core/error.h"

namespace reprise::bench {
namespace {

using Clock = std::chrono::steady_clock;

nlohmann::ordered_json summary(std::vector<double> ms) {
  std::ranges::sort(ms);
  return {{"p50_ms", quantile(ms, 0.5)}, {"p99_ms", quantile(ms, 0.99)}, {"max_ms", ms.back()}};
}

}  // namespace

nlohmann::ordered_json measure_live_reading(const DbArguments& a) {
  const TemporaryProfile profile;
  SyntheticReplays replays(profile.path, static_cast<std::size_t>(a.nodes));
  const Clock::time_point begin = Clock::now();
  std::uint64_t sent = 0;
  std::jthread writer([&](const std::stop_token& stop) {
    const std::chrono::nanoseconds distance(1'000'000'000 / a.rate);
    for (; !stop.stop_requested(); ++sent) {
      std::this_thread::sleep_until(begin + distance * sent);
      replays.sink().replay(replays.next(TimingMode::node));
    }
  });
  // What a debugger does every frame, and a connection of somebody else's that is not patient.
  const CaptureId id = read_captures(profile.path).at(0).id;
  ProfileWatch watch(profile.path);
  ReplayTable table;
  BareSqlite client(profile.path);
  std::vector<double> library_ms;
  std::vector<double> client_ms;
  std::uint64_t busy = 0;
  std::uint64_t failed = 0;
  constexpr std::chrono::nanoseconds kFrame(1'000'000'000 / 60);
  for (std::int64_t frame = 1; kFrame * frame < std::chrono::seconds(a.seconds); ++frame) {
    std::this_thread::sleep_until(begin + kFrame * frame);
    const double start = now_us();
    try {
      if (watch.changed()) {
        read_new_replays(profile.path, id, table);
        read_node_timings(profile.path, id);
      }
    } catch (const Error&) {
      ++failed;
    }
    const double middle = now_us();
    if (!client.read("SELECT id, device_ns FROM replays ORDER BY id DESC LIMIT 64")) {
      ++busy;
    }
    client_ms.push_back((now_us() - middle) / 1e3);
    library_ms.push_back((middle - start) / 1e3);
  }
  writer.request_stop();
  writer.join();
  const std::chrono::duration<double> took = Clock::now() - begin;
  replays.sink().flush();
  const ProfileHealth health = replays.sink().health();
  return {{"replays_per_s", static_cast<double>(sent) / took.count()},
          {"replays_read", table.rows.size()},
          {"replays_dropped", health.replays_dropped},
          {"timings_dropped", health.timings_dropped},
          {"library", summary(library_ms)},
          {"library_failed", failed},
          {"client", summary(client_ms)},
          {"client_busy", busy}};
}

}  // namespace reprise::bench
