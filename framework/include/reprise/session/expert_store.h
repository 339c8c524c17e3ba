// ExpertStore: the weights of a mixture of experts in memory of the host. A device holds some of
// them at a time, in cells. One cell of a layer has room for all projections of one expert.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/session/device.h"

namespace reprise {

class Recorder;
struct Site;

/// The weights of all experts, by layer and projection. Fill it before graphs use it.
/// Lifetime: copies share the store; copying is cheap. A default constructed one is empty: "none".
/// Threads: may be read by any thread once it is filled.
class ExpertStore {
 public:
  struct Projection {
    std::string name;
    TensorSpec spec;  // [experts, m, k]
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
    std::uint64_t expert_bytes() const;
    std::span<const std::byte> expert(std::size_t i) const;
  };
  struct Layer {
    std::string name;
    std::vector<Projection> projections;
    std::uint64_t expert_bytes() const;  // all projections of one expert
  };

  ExpertStore() = default;
  /// Makes a store of layers with that many experts.
  /// Errors: invalid_argument below 1.
  explicit ExpertStore(std::int64_t experts);
  explicit operator bool() const { return memory_ != nullptr; }
  std::int64_t experts() const;

  /// Adds the weights of all experts of a projection, one after another.
  /// Shapes: [experts, m, k].
  /// Errors: shape_mismatch for a different number of experts; size_mismatch; invalid_argument for
  /// a projection that the layer has already.
  /// Lifetime: the bytes stay in place, kept alive by `owner`, a mapped file for instance; without
  /// an owner they are copied.
  void add(std::string_view layer, std::string_view projection, const Shape& shape, DType dtype,
           std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr) const;
  void add(std::string_view layer, std::string_view projection, const Shape& shape,
           std::span<const float> values) const;

  /// Returns the layers in the order they were added.
  const std::vector<Layer>& layers() const;
  /// Finds a layer.
  /// Errors: unknown_name, listing all layers.
  const Layer& layer(std::string_view name) const;

 private:
  struct Memory;
  std::shared_ptr<Memory> memory_;
};

/// How an expert without a cell is served.
enum class ExpertMiss : std::uint8_t {
  upload,  // its weights move into a cell first: same bits as a device that holds all. Without a
           // state block, or in a direct session, a host step of each layer looks for misses
  cpu,     // its rows are computed by the CPU backend, within its tolerance, by repeating the calls
           // of the layer's ExpertFunction in one host step
};
std::string_view name_of(ExpertMiss miss);

struct ExpertOptions {
  /// Bytes of device memory for cells of all layers; each layer gets as many. 0: room for all
  /// experts.
  std::uint64_t budget_bytes = 0;
  ExpertMiss misses = ExpertMiss::upload;
  /// After so many runs, cells go to the experts that were routed to most since then. 0: never;
  /// only uploaded misses move experts.
  std::uint32_t refresh_interval = 32;
  /// Factor on the counts of earlier runs at each refresh, 0 to 1.
  /// Errors: sessions and executable graphs refuse others with invalid_argument.
  float decay = 0.5F;
};

struct ExpertSetup {
  ExpertStore store{};
  ExpertOptions options{};
  /// For ExpertMiss::cpu: the device that computes misses, open_device("cpu"). Empty: the graph's
  /// own device, which must be a CPU then.
  std::optional<Device> cpu{};
  /// Returns the number of cells of each layer.
  /// Errors: out_of_memory, naming what is needed, if the budget has no room for one.
  std::int64_t cells() const;
};

/// Counts of the routed experts of a layer. A call is a pair of a row and an expert.
struct ExpertStats {
  std::string layer{};
  std::uint64_t runs = 0;
  std::uint64_t tokens_device = 0, tokens_host = 0;  // rows with all experts in cells; other rows
  std::uint64_t calls_device = 0, calls_host = 0;
  std::uint64_t hits = 0, misses = 0;  // calls whose expert had a cell when the layer began
  std::uint64_t promotions = 0, demotions = 0;
  std::uint64_t bytes_moved = 0;  // weights, from the host to the device
  /// Time in which the device had nothing to do: from when the host saw that what comes before a
  /// miss is complete, until it had handed over what comes behind. What the device itself takes to
  /// stop and to begin again is not in it.
  std::uint64_t stall_ns = 0;
};

/// The experts that a router chose in a run.
struct RoutedRun {
  std::uint64_t run = 0;  // runs of the graph so far
  std::string layer{};    // of the store, else the scope of route_top_k: "layer.3/ffn"
  std::int64_t rows = 0, used = 0;
  std::vector<std::int32_t> ids{};  // [rows, used]
};
struct RouteCapture {
  std::vector<RoutedRun> runs{};
  std::uint64_t dropped = 0;  // runs that the ring no longer holds
};

class ExpertRecording;
class GraphSession;

/// The experts of a layer while it is recorded.
/// Lifetime: valid only inside the function that GraphSession::experts calls.
class PlacedExperts {
 public:
  /// Records matmul_experts with the weights of a projection.
  /// Shapes: x [rows, used, k] or [rows, 1, k] gives [rows, used, m].
  /// Errors: unknown_name for a projection the layer does not have.
  [[nodiscard]] Tensor matmul(const Site& site, const Tensor& x, std::string_view projection) const;

 private:
  friend class ExpertRecording;
  explicit PlacedExperts(ExpertRecording& recording) : recording_(&recording) {}
  ExpertRecording* recording_;
};

/// Computes a layer from its rows: calls projections and returns [rows, used, m].
/// Errors: with ExpertMiss::cpu, unsupported for host steps, kernels of the caller's, attributes
/// that live in the state and writes to tensors from outside; shape_mismatch for other results.
using ExpertFunction = std::function<Tensor(const PlacedExperts&)>;

}  // namespace reprise
