// CapturedGraph: a recording that can be replayed for ever. Its state and inputs change between
// launches; its steps, memory and commands do not.
#pragma once
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "reprise/graph/recorded_graph.h"

namespace reprise {

/// Throws invalid_argument unless elements of type T are what `spec` holds (std::byte always is).
template <class T>
void require_elements(std::string_view name, const TensorSpec& spec);
template <>
void require_elements<float>(std::string_view name, const TensorSpec& spec);
template <>
void require_elements<std::int32_t>(std::string_view name, const TensorSpec& spec);
template <>
void require_elements<std::byte>(std::string_view name, const TensorSpec& spec);

template <class T>
std::vector<T> elements_of(std::string_view name, const TensorSpec& spec,
                           std::span<const std::byte> bytes) {
  require_elements<T>(name, spec);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(static_cast<void*>(values.data()), bytes.data(), values.size() * sizeof(T));
  }
  return values;
}

/// Retains everything it uses: weights, caches, state, its arena. Not thread-safe; different graphs
/// may be used from different threads. An empty graph (default constructed) can only be asked.
class CapturedGraph {
 public:
  class Recording;
  CapturedGraph();
  explicit CapturedGraph(std::unique_ptr<Recording> recording);
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

  /// One replay: submits and waits. Throws device_lost or timeout.
  void launch();
  /// An output of the last replay. T: see FinishResult::read.
  template <class T = float>
  std::vector<T> read(std::string_view output) const {
    const auto [spec, bytes] = output_bytes(output);
    return elements_of<T>(output, spec, bytes);
  }
  /// A state field after the last replay.
  std::int32_t state(std::string_view field) const;

  /// Replays that succeeded, the run inside finish() included.
  std::uint64_t num_replays() const;
  const RecordedGraph& recorded() const;
  /// Host and device times of the last replay, in nanoseconds.
  struct Times {
    std::uint64_t prepare_ns = 0, submit_ns = 0, wait_ns = 0;
    std::optional<std::uint64_t> device_ns;
  };
  Times last_times() const;

 private:
  std::pair<TensorSpec, std::span<const std::byte>> output_bytes(std::string_view output) const;
  Recording& recording() const;
  std::unique_ptr<Recording> recording_;
};

}  // namespace reprise
