// Steps: the units of work of a device. An op lowers to one or more of them; barriers go between
// them. Flat tables filled in order, so a list is a value and appending rarely allocates.
#pragma once
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/core/kernel_choice.h"
#include "reprise/core/operand.h"

namespace reprise {

struct BoundCall;
struct OpDef;

/// Facts that choose kernel variants: queried properties of a device, and what its user allows.
struct DeviceTraits {
  Precision precision = Precision::exact;  // of the executor; a device leaves it as it is
  bool runs_on_host = false;               // ops run as host functions instead of shaders
  bool replays = true;                     // false: every launch encodes its steps again
  KernelFamily kernels = KernelFamily::portable;
  bool cpu_type = false;             // a software driver: small workgroups, no shared memory
  bool overlaps_dispatches = false;  // without a barrier between them, dispatches may run together
  std::uint32_t subgroup_size = 1;
  std::uint32_t workgroup_size = 64;  // of one-invocation-per-element kernels
  std::uint32_t max_workgroup_size = 128;
  std::uint32_t shared_bytes = 0;
  // Alignment of storage offsets: a power of two, at most kStorageAlignment.
  std::uint32_t binding_alignment = 256;
  std::uint64_t max_binding_bytes = ~std::uint64_t{0};
  std::uint64_t max_state_bytes = ~std::uint64_t{0};
  std::uint32_t max_storage_bindings = 0xFFFFFFFF;  // of one kernel
};

/// Every storage starts at a multiple of this; no driver asks for more.
inline constexpr std::uint64_t kStorageAlignment = 256;

enum class BindingType : std::uint8_t {
  storage,
  uniform,
  grid,  // three words read when the step runs; no shader binds it
};

/// A byte range. While a plan is made, `pool` is a storage of the graph; afterwards a pool of the
/// plan. `offset` of a storage binding is a multiple of DeviceTraits::binding_alignment.
struct Binding {
  std::uint32_t pool = 0;
  Access access = Access::read;
  BindingType type = BindingType::storage;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A shader with its specialization constants; constant 0 is the workgroup size.
struct Kernel {
  static constexpr std::size_t kMaxConstants = 4;
  std::string_view shader;
  std::array<std::uint32_t, kMaxConstants> constants{};
  std::uint32_t constant_count = 0;
  bool operator==(const Kernel&) const = default;
};
/// Returns "matmul.f16 (64, 4)".
std::string to_string(const Kernel& kernel);

/// How many groups of a grid the live rows of an extent need, along one axis: ceil(ceil(rows /
/// tile) * units / local).
struct LiveGroups {
  std::uint32_t tile = 1, units = 0, local = 1;
  std::uint32_t axis = 0;  // x is folded into y, as groups_for() does it
  bool operator==(const LiveGroups&) const = default;
};

/// A grid, and how much of it runs.
struct Groups {
  Groups(std::uint32_t x, std::uint32_t y, std::uint32_t z) : grid{x, y, z} {}
  Groups(const Grid& of, const LiveGroups& rows = {})  // NOLINT(google-explicit-constructor)
      : grid(of), live(rows) {}
  Grid grid;
  LiveGroups live{};  // 0 units: all of it
};

/// Returns the part of a grid that runs for so many rows; never more than all of it.
Grid live_grid(const Groups& groups, std::uint32_t rows);

enum class StepKind : std::uint8_t {
  dispatch,  // a kernel over a grid
  call,      // an op's host function
  copy,      // bindings {from, to}, equal bytes
};
std::string_view name_of(StepKind kind);

struct Step {
  StepKind kind = StepKind::dispatch;
  Precision precision = Precision::exact;  // call only: the precision of its host function
  std::uint32_t node = 0;
  const OpDef* op = nullptr;  // null for copies
  Kernel kernel;              // dispatch only
  /// Dispatches: all groups. Calls: the rows of `extent`, if there is one, in x.
  Grid grid{1, 1, 1};
  LiveGroups live{};
  std::uint32_t extent = Extent::kFixed;  // the word of the state that has the number of rows
  /// Whether the last binding holds the grid instead: 0 groups skip the step, host calls too.
  bool indirect = false;
  bool writes_grids = false;  // what steps behind it read their grids from
  std::uint32_t first_binding = 0, binding_count = 0;
  std::uint32_t first_byte = 0, byte_count = 0;  // push constants, or the attributes of a call
  std::uint32_t first_spec = 0;                  // call only: one per binding
};

/// The grid of a step that reads it from memory.
struct GridRow {
  Groups groups;
  std::uint32_t extent = Extent::kFixed;
};

/// Storage from which indirect steps read their grids: kGridHeaderWords words of other use, then a
/// row per different grid. A row is the full grid, the word of its extent; the grid to run now, a
/// word; tile, units, local and axis of its LiveGroups.
inline constexpr std::uint32_t kGridHeaderWords = 4;
inline constexpr std::uint32_t kGridRowWords = 12;
inline constexpr std::uint32_t kGridNow = 4;  // where the grid to run now begins in a row

class StepList {
 public:
  static constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

  /// Binds all operands and results in the order of the schema, then the state if the op reads it.
  template <class Push>
  void dispatch(const BoundCall& call, const DeviceTraits& traits, const Kernel& kernel,
                const Groups& groups, const Push& push) {
    static_assert(std::is_trivially_copyable_v<Push> && sizeof(Push) <= 128);
    dispatch_bytes(call, traits, kernel, groups, std::as_bytes(std::span(&push, 1)));
  }
  /// Does the same with push constants that have no struct.
  void dispatch_bytes(const BoundCall& call, const DeviceTraits& traits, const Kernel& kernel,
                      const Groups& groups, std::span<const std::byte> push);
  /// Makes room, so that appending that much allocates nothing.
  void reserve(std::size_t steps, std::size_t bindings);
  void call(const BoundCall& call, Precision precision = Precision::exact);
  void copy(std::uint32_t node, const Binding& from, const Binding& to);

  /// Makes steps appended from now on read their grids from rows of that storage. kNoGrids: they
  /// know them ahead. Copies stay as they are.
  void read_grids_from(std::uint32_t storage) { grid_storage_ = storage; }
  /// Says whether steps appended from now on write the grids of others.
  void write_grids(bool write) { writes_grids_ = write; }
  static constexpr std::uint32_t kNoGrids = 0xFFFFFFFF;
  /// Returns the rows, in order.
  std::span<const GridRow> grids() const { return grids_; }
  /// Makes the steps of extents, from `first` on, run over as many rows as `state`, a block, has
  /// now.
  void settle_extents(std::size_t first, std::span<const std::uint32_t> state);

  /// Returns one dispatch alone, over a different grid.
  StepList only(std::size_t index, const Grid& grid) const;

  std::size_t size() const { return steps_.size(); }
  const Step& operator[](std::size_t i) const { return steps_[i]; }
  std::span<const Binding> bindings(const Step& s) const {
    return {bindings_.data() + s.first_binding, s.binding_count};
  }
  std::span<Binding> bindings(const Step& s) {
    return {bindings_.data() + s.first_binding, s.binding_count};
  }
  /// Returns those of all steps.
  std::span<Binding> bindings() { return bindings_; }
  std::span<const std::byte> bytes(const Step& s) const {
    return {bytes_.data() + s.first_byte, s.byte_count};
  }
  std::span<const TensorSpec> specs(const Step& s) const {
    return {specs_.data() + s.first_spec, s.kind == StepKind::call ? s.binding_count : 0};
  }

 private:
  Step& append(StepKind kind, std::uint32_t node, const OpDef* op);
  void append_bytes(Step& step, std::span<const std::byte> bytes);
  /// Appends the last binding of a step, where it reads its grid.
  void bind_grid(Step& step);

  std::vector<Step> steps_;
  std::vector<Binding> bindings_;
  std::vector<std::byte> bytes_;
  std::vector<TensorSpec> specs_;
  std::vector<GridRow> grids_;
  std::uint32_t grid_storage_ = kNoGrids;
  bool writes_grids_ = false;
};

}  // namespace reprise
