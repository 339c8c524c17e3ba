// What a device can reach at most, measured: the rates that the ops of a graph are held against.
#pragma once
#include <optional>

#include "reprise/session/graph_executor.h"

namespace reprise::bench {

struct Ceilings {
  std::optional<double> read_gb_s;  // reading `bytes` over and over, as many streams as help
  std::optional<double>
      copy_gb_s;  // reading one half of them and writing the other, counted both ways
  std::optional<double> fma_gflops;  // f32 multiply-adds in registers, two operations each
};

/// `threads` threads of the host, each with its part of the bytes. The best of several short runs.
Ceilings host_ceilings(unsigned threads, std::uint64_t bytes);

/// Those of the host with so many threads for the CPU, and with those of its driver for a software
/// device. Devices with memory of their own read and write by the copy op; the peak of their
/// arithmetic is not measured.
Ceilings ceilings_of(GraphExecutor& executor, std::int64_t threads, std::uint64_t bytes);

}  // namespace reprise::bench
