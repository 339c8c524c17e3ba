// ExpertStore: the weights of a mixture of experts in memory of the host. A device holds some of
// them at a time, in cells: one cell of a layer has room for all projections of one expert.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/session/device.h"

namespace reprise {

/// A cheap value; copies share the store. An empty one (default constructed) means "none". Filled
/// before graphs use it; read by any thread afterwards.
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
    std::uint64_t expert_bytes() const;  // of all projections of one expert
  };

  ExpertStore() = default;
  /// Throws invalid_argument below 1.
  explicit ExpertStore(std::int64_t experts);
  explicit operator bool() const { return memory_ != nullptr; }
  std::int64_t experts() const;

  /// The weights of all experts of a projection, one after another: [experts, m, k]. The bytes stay
  /// where they are, kept by `owner`, in a mapped file for instance; without an owner they are
  /// copied. Throws shape_mismatch for another number of experts, size_mismatch, invalid_argument
  /// for a projection that the layer has already.
  void add(std::string_view layer, std::string_view projection, const Shape& shape, DType dtype,
           std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr) const;
  void add(std::string_view layer, std::string_view projection, const Shape& shape,
           std::span<const float> values) const;

  /// In the order they were added.
  const std::vector<Layer>& layers() const;
  /// Throws unknown_name, listing those there are.
  const Layer& layer(std::string_view name) const;

 private:
  struct Memory;
  std::shared_ptr<Memory> memory_;
};

/// What serves an expert that no cell has.
enum class ExpertMiss : std::uint8_t {
  upload,  // its weights move into a cell before its products: the bits of a device that has all
  cpu,     // its products are computed by the CPU backend, and added within its tolerance
};
std::string_view name_of(ExpertMiss miss);

struct ExpertOptions {
  /// Of device memory, for cells of all layers; each layer gets as many. 0: room for all experts.
  std::uint64_t budget_bytes = 0;
  ExpertMiss misses = ExpertMiss::upload;
  /// After so many runs the experts that were routed to most since take the cells; 0: never, other
  /// than for misses that are uploaded.
  std::uint32_t refresh_interval = 32;
  /// What counts of earlier runs are worth after each refresh, 0 to 1.
  float decay = 0.5F;
};

struct ExpertSetup {
  ExpertStore store{};
  ExpertOptions options{};
  /// Of ExpertMiss::cpu: the device that computes misses, open_device("cpu"). Empty: the graph's
  /// own, which is a CPU then.
  std::optional<Device> cpu{};
  /// Of each layer. Throws out_of_memory, naming what is needed, if the budget has no room for one.
  std::int64_t cells() const;
};

/// What became of the routed experts of a layer. Calls are pairs of a row and an expert.
struct ExpertStats {
  std::string layer{};
  std::uint64_t runs = 0;
  std::uint64_t tokens_device = 0, tokens_host = 0;  // rows whose experts were all in cells; others
  std::uint64_t calls_device = 0, calls_host = 0;
  std::uint64_t hits = 0, misses = 0;  // calls whose expert had a cell when the layer began
  std::uint64_t promotions = 0, demotions = 0;
  std::uint64_t bytes_moved = 0;  // weights, from the host to the device
  std::uint64_t stall_ns = 0;     // the device waited for the host
};

/// The experts that a router chose in a run.
struct RoutedRun {
  std::uint64_t run = 0;  // runs of the graph so far
  std::string layer{};
  std::int64_t rows = 0, used = 0;
  std::vector<std::int32_t> ids{};  // [rows, used]
};
struct RouteCapture {
  std::vector<RoutedRun> runs{};
  std::uint64_t dropped = 0;  // runs that the ring no longer had
};

}  // namespace reprise
