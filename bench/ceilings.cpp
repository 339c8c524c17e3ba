#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/ceilings.cpp"
#include "bench/ceilings.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace reprise::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Independent sums: more than latency times throughput of loads and multiply-adds.
constexpr std::size_t kSums = 8;

/// Reads all of it but less than one round at the end, as so many streams side by side: 1, 2, 4
/// or 8. Prefetchers follow several streams further ahead than one.
float read_all(const float* data, std::size_t count, std::size_t streams) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t each = kSums / streams;
  const std::size_t length = count / streams;
  const auto load = [&](std::size_t i, std::size_t sum) {
    return hn::LoadU(d, data + sum / each * length + i + sum % each * lanes);
  };
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (std::size_t i = 0; i + each * lanes <= length; i += each * lanes) {
    s0 = hn::Add(s0, load(i, 0));
    s1 = hn::Add(s1, load(i, 1));
    s2 = hn::Add(s2, load(i, 2));
    s3 = hn::Add(s3, load(i, 3));
    s4 = hn::Add(s4, load(i, 4));
    s5 = hn::Add(s5, load(i, 5));
    s6 = hn::Add(s6, load(i, 6));
    s7 = hn::Add(s7, load(i, 7));
  }
  s0 =
      hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  return hn::GetLane(hn::SumOfLanes(d, s0));
}

/// Copies all but less than one round; past the caches if it streams.
void copy_all(const float* from, float* to, std::size_t count, bool stream) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    for (std::size_t part = i; part < i + 4 * lanes; part += lanes) {
      const auto value = hn::LoadU(d, from + part);
      if (stream) {
        hn::Stream(value, d, to + part);
      } else {
        hn::StoreU(value, d, to + part);
      }
    }
  }
}

/// Returns the operations it did; `value` keeps the compiler from leaving them out.
std::size_t multiply_add(std::size_t rounds, float& value) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.5F);
  const auto term = hn::Set(d, value);
  // Different values: sums that are the same would be computed once.
  auto s0 = term, s1 = hn::Add(s0, term), s2 = hn::Add(s1, term), s3 = hn::Add(s2, term);
  auto s4 = hn::Add(s3, term), s5 = hn::Add(s4, term), s6 = hn::Add(s5, term),
       s7 = hn::Add(s6, term);
  for (std::size_t i = 0; i < rounds; ++i) {
    s0 = hn::MulAdd(s0, factor, term);
    s1 = hn::MulAdd(s1, factor, term);
    s2 = hn::MulAdd(s2, factor, term);
    s3 = hn::MulAdd(s3, factor, term);
    s4 = hn::MulAdd(s4, factor, term);
    s5 = hn::MulAdd(s5, factor, term);
    s6 = hn::MulAdd(s6, factor, term);
    s7 = hn::MulAdd(s7, factor, term);
  }
  s0 =
      hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  value = hn::GetLane(s0);
  return 2 * kSums * hn::Lanes(d) * rounds;
}

}  // namespace reprise::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <hwy/aligned_allocator.h>
#include <thread>

#include "reprise/ops/copy.h"

namespace reprise::bench {
namespace {

HWY_EXPORT(read_all);
HWY_EXPORT(copy_all);
HWY_EXPORT(multiply_add);

using Clock = std::chrono::steady_clock;
constexpr int kRuns = 20;

/// The best of kRuns runs in which every thread does `work` once, in units per nanosecond.
double best_rate(unsigned threads, const std::function<double(unsigned thread)>& work) {
  double best = 0;
  std::vector<double> done(threads);
  Clock::time_point begin;
  const auto turn = [&, runs = 0]() mutable noexcept {
    const Clock::time_point now = Clock::now();
    if (runs++ > 0) {
      double sum = 0;
      for (const double units : done) {
        sum += units;
      }
      best = std::max(best, sum / std::chrono::duration<double, std::nano>(now - begin).count());
    }
    begin = now;
  };
  std::barrier barrier(static_cast<std::ptrdiff_t>(threads), turn);
  const auto loop = [&](unsigned thread) {
    for (int i = 0; i < kRuns; ++i) {
      barrier.arrive_and_wait();
      done[thread] = work(thread);
    }
    barrier.arrive_and_wait();
  };
  std::vector<std::jthread> others;
  for (unsigned t = 1; t < threads; ++t) {
    others.emplace_back(loop, t);
  }
  loop(0);
  return best;
}

}  // namespace

Ceilings host_ceilings(unsigned threads, std::uint64_t bytes) {
  constexpr std::uint64_t kBytesPerRun = std::uint64_t{64} << 20U;
  constexpr std::size_t kRounds = 1'000'000;
  constexpr std::size_t kLeast = 4096;  // floats: several rounds of read_all()
  const std::size_t part = std::max(bytes / sizeof(float) / threads, kLeast);
  const std::vector<float> data(part * threads, 1.0F);
  const std::size_t repeats = std::max<std::size_t>(kBytesPerRun / (part * sizeof(float)), 1);
  std::vector<float> kept(threads, 1.0F);
  std::vector<hwy::AlignedFreeUniquePtr<float[]>> copies;
  for (unsigned t = 0; t < threads; ++t) {
    copies.push_back(hwy::AllocateAligned<float>(part / 2));
    std::fill_n(copies.back().get(), part / 2, 0.0F);
  }
  const auto read_rate = [&](std::size_t streams) {
    return best_rate(threads, [&](unsigned thread) {
      for (std::size_t i = 0; i < repeats; ++i) {
        kept[thread] += HWY_DYNAMIC_DISPATCH(read_all)(data.data() + thread * part, part, streams);
      }
      return static_cast<double>(repeats * part * sizeof(float));
    });
  };
  const double read = std::max({read_rate(1), read_rate(2), read_rate(4), read_rate(8)});
  const auto copy_rate = [&](bool stream) {
    return best_rate(threads, [&](unsigned thread) {
      const float* const from = data.data() + thread * part;
      // Vectors are stored at multiples of their size.
      const hwy::AlignedFreeUniquePtr<float[]>& to = copies[thread];
      const std::size_t half = part / 2;
      for (std::size_t i = 0; i < repeats; ++i) {
        HWY_DYNAMIC_DISPATCH(copy_all)(from, to.get(), half, stream);
      }
      return static_cast<double>(repeats * half * 2 * sizeof(float));
    });
  };
  const double copied = std::max(copy_rate(false), copy_rate(true));
  const double fma = best_rate(threads, [&](unsigned thread) {
    return static_cast<double>(HWY_DYNAMIC_DISPATCH(multiply_add)(kRounds, kept[thread]));
  });
  return {read, copied, fma};
}

namespace {

Ceilings copy_ceiling(GraphExecutor& executor, std::uint64_t bytes) {
  constexpr std::int64_t kLeast = 1024;
  const std::int64_t half = std::max(static_cast<std::int64_t>(bytes / 2 / sizeof(float)), kLeast);
  const Tensor x = executor.device().zeros({half}, DType::f32, "x");
  auto session = executor.begin_recorded({.name = "copy"});
  const Tensor y = copy(session, x);
  CapturedGraph graph = session.finish().graph;
  graph.set_timing(TimingMode::replay);
  Ceilings ceilings;
  for (int i = 0; i < kRuns; ++i) {
    graph.launch();
    if (const auto ns = graph.last_times().device_ns; ns && *ns > 0) {
      const double rate = static_cast<double>(half) * 2 * sizeof(float) / static_cast<double>(*ns);
      ceilings.read_gb_s = ceilings.copy_gb_s = std::max(ceilings.read_gb_s.value_or(0), rate);
    }
  }
  return ceilings;
}

/// Threads that a software Vulkan driver computes with.
unsigned driver_threads() {
  const char* const workers = std::getenv("LP_NUM_THREADS");
  return workers == nullptr ? std::max(std::thread::hardware_concurrency(), 1U)
                            : static_cast<unsigned>(std::clamp(std::atoi(workers), 1, 1024));
}

}  // namespace

Ceilings ceilings_of(GraphExecutor& executor, std::int64_t threads, std::uint64_t bytes) {
  const DeviceInfo& info = executor.device().info();
  if (info.backend == "cpu") {
    return host_ceilings(static_cast<unsigned>(threads), bytes);
  }
  return info.type == "cpu" ? host_ceilings(driver_threads(), bytes)
                            : copy_ceiling(executor, bytes);
}

}  // namespace reprise::bench

#endif
