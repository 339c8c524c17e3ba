// What finish() hands back.
#pragma once
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reprise/session/captured_graph.h"

namespace reprise {

/// Where the time of one session went, and what it was made of. Durations in nanoseconds.
struct FinishReport {
  std::uint64_t record_ns = 0;  // op calls, from begin to finish; direct sessions encode here too
  std::uint64_t plan_ns = 0;
  std::uint64_t encode_ns = 0;
  std::uint64_t submit_ns = 0;
  std::uint64_t wait_ns = 0;       // for host steps too
  std::uint64_t host_step_ns = 0;  // in the functions of host steps; direct sessions: of record_ns
  std::optional<std::uint64_t> device_ns;  // empty if the device cannot time itself
  std::uint32_t ops = 0, steps = 0, barriers = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t live_peak_bytes = 0;  // recorded sessions only
  std::uint32_t arena_growths = 0;    // direct sessions only: chunks allocated between ops
  std::uint32_t submits = 0;          // parts it was handed to the device in; host steps cut it
  bool replays = true;  // recorded sessions; false: unsupported, every launch encodes again
};

/// What it took to make kernels ready.
struct WarmUp {
  std::uint32_t kernels = 0;  // different ones; 0 on devices that run host functions
  std::uint64_t ns = 0;
};

/// Outputs by name, as bytes of contiguous tensors.
class OutputSet {
 public:
  struct Output {
    TensorSpec spec;
    std::vector<std::byte> bytes;
  };
  void add(std::string name, Output output) {
    outputs_.emplace(std::move(name), std::move(output));
  }
  /// Copies what a run left, after waiting for it; nothing if nothing ran.
  static OutputSet of(const Ticket& ticket);
  /// Errors: unknown_name, listing the outputs; invalid_argument if there are none.
  const Output& find(std::string_view name) const;
  const std::map<std::string, Output, std::less<>>& all() const { return outputs_; }

 private:
  std::map<std::string, Output, std::less<>> outputs_;
};

class FinishResult {
 public:
  FinishReport report;
  CapturedGraph graph;  // recorded sessions only: empty otherwise

  FinishResult() = default;
  FinishResult(FinishReport with, OutputSet outputs, CapturedGraph of)
      : report(with), graph(std::move(of)), outputs_(std::move(outputs)) {}
  /// The elements of a declared output after the run inside finish(). T is float for f32,
  /// std::int32_t for i32, std::byte for the bytes of any dtype.
  /// Errors: unknown_name, dtype_mismatch; invalid_argument if nothing ran, because
  /// FinishOptions::run was false or the state said stop.
  template <OutputElement T = float>
  std::vector<T> read(std::string_view name) const {
    const OutputSet::Output& output = outputs_.find(name);
    return elements_of<T>(name, {output.spec, output.bytes});
  }
  /// All of them; none if nothing ran.
  const OutputSet& outputs() const { return outputs_; }

 private:
  OutputSet outputs_;
};

}  // namespace reprise
