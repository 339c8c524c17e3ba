// CapturedGraph: a recording that can be replayed for ever. Its state and inputs change between
// launches; its steps, memory and commands do not.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reprise/graph/recorded_graph.h"
#include "reprise/profile/timing_mode.h"
#include "reprise/session/ticket.h"

namespace reprise {

/// Retains everything it uses: weights, caches, state, its arena. Not thread-safe; different graphs
/// may be used from different threads, and so may the tickets of one. An empty graph (default
/// constructed) can only be asked whether it is, and for its replays. Destroying a graph does not
/// disturb its launches; with a profiling database it waits for those whose tickets are released.
class CapturedGraph {
 public:
  class Recording;
  CapturedGraph();
  explicit CapturedGraph(std::shared_ptr<Recording> recording);
  CapturedGraph(CapturedGraph&&) noexcept;
  CapturedGraph& operator=(CapturedGraph&&) noexcept;
  ~CapturedGraph();
  explicit operator bool() const { return recording_ != nullptr; }

  /// Sets an input for this and later launches. Throws invalid_argument for unknown names, another
  /// dtype or another number of elements.
  void set(std::string_view input, std::span<const float> values);
  void set(std::string_view input, std::span<const std::int32_t> values);
  void set(std::string_view input, DType dtype, std::span<const std::byte> bytes);
  /// Sets a state field: see StateBlock::set.
  void set(std::string_view field, std::int32_t value);
  void set(std::string_view field, float value);

  /// One replay: submits and waits. Takes the outputs of the launch() before. Throws device_lost or
  /// timeout.
  void launch();
  /// An output of the last launch(), until the next launch of any kind. T: see Ticket::read.
  template <class T = float>
  std::vector<T> read(std::string_view output) const {
    return elements_of<T>(output, this->output(output));
  }
  OutputView output(std::string_view name) const;
  /// A state field after the last replay known to be complete.
  std::int32_t state(std::string_view field) const;

  /// Submits without waiting. The outputs live in a slot of their own until the ticket is released;
  /// with all slots in use by the device alone it waits for the oldest, with all slots held by
  /// tickets it throws invalid_argument. Never overwrites anything.
  Ticket launch_async();
  /// As launch_async, but empty where that would wait.
  std::optional<Ticket> try_launch_async();
  std::size_t slots() const;

  /// Runs each kernel once over nothing, so that drivers that compile at first use do it now and
  /// not in the first launch. Nanoseconds it took; 0 if there was nothing left to do.
  std::uint64_t upload();
  bool is_uploaded() const;

  /// How the next replays are timed; empty: as the executor says.
  void set_timing(std::optional<TimingMode> mode);
  /// Replays that succeeded and are known to be complete, the run inside finish() included.
  std::uint64_t num_replays() const;
  const RecordedGraph& recorded() const;
  /// Of the last launch().
  const SubmissionTimes& last_times() const;

 private:
  Recording& recording() const;
  std::shared_ptr<Recording> recording_;
};

}  // namespace reprise
