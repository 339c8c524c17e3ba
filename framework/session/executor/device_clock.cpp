#include "framework/session/executor/device_clock.h"

#include <algorithm>
#include <cstring>

#include "framework/session/executor/host_clock.h"

namespace reprise {
namespace {

std::int64_t realtime_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// `count` timestamps one after another; empty if the device cannot time itself.
std::vector<std::uint64_t> take_ticks(Backend& backend, std::uint32_t count) {
  const std::shared_ptr<Timestamps> stamps = backend.timestamps(count);
  if (stamps == nullptr) {
    return {};
  }
  std::vector<std::uint64_t> ticks(count);
  const std::uint64_t bytes = ticks.size() * sizeof(ticks[0]);
  const auto results =
      backend.allocate("timestamps", bytes, BufferKind::download, MemoryPurpose::staging);
  auto encoder = backend.encoder({.name = "clock", .ends_at_host = true});
  encoder->reset(stamps);
  for (std::uint32_t i = 0; i < count; ++i) {
    encoder->stamp(stamps, i);
  }
  encoder->resolve(stamps, stamps->count(), results, 0);
  const EncodingRef list[] = {encoder->finish()};
  backend.wait(backend.submit(list, AfterSubmit::will_wait));
  std::memcpy(ticks.data(), results->mapped(), bytes);
  return ticks;
}

}  // namespace

DeviceClock::DeviceClock(const DeviceInfo& info)
    : mask_(info.timestamp_valid_bits >= 64 ? ~std::uint64_t{0}
                                            : (std::uint64_t{1} << info.timestamp_valid_bits) - 1),
      period_ns_(info.timestamp_period_ns) {}

std::int64_t DeviceClock::moment_ns(std::uint64_t ticks) const {
  return static_cast<std::int64_t>(static_cast<long double>(ticks & mask_) * period_ns_);
}

std::uint64_t DeviceClock::between_ns(std::uint64_t from, std::uint64_t to) const {
  return static_cast<std::uint64_t>(static_cast<double>((to - from) & mask_) * period_ns_);
}

std::optional<ClockRecord> compare_clocks(Backend& backend) {
  ClockRecord record;
  if (const auto sample = backend.clock()) {
    record.host_ns = sample->host_ns;
    record.device_ticks = sample->device_ticks;
    record.max_deviation_ns = sample->max_deviation_ns;
  } else {
    const std::int64_t before = now_ns();
    const std::vector<std::uint64_t> ticks = take_ticks(backend, 1);
    const std::int64_t after = now_ns();
    if (ticks.empty()) {
      return std::nullopt;
    }
    record.host_ns = before + (after - before) / 2;
    record.device_ticks = ticks[0];
    record.max_deviation_ns = static_cast<std::uint64_t>(after - before) / 2;
  }
  record.realtime_ns = realtime_ns() - (now_ns() - record.host_ns);
  return record;
}

std::uint64_t measure_timestamp_bias(Backend& backend) {
  constexpr std::uint32_t kStamps = 257;
  std::vector<std::uint64_t> ticks = take_ticks(backend, kStamps);
  if (ticks.empty()) {
    return 0;
  }
  const DeviceClock clock(backend.info());
  std::vector<std::uint64_t> distances;
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    distances.push_back(clock.between_ns(ticks[i - 1], ticks[i]));
  }
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  return *middle;
}

}  // namespace reprise
