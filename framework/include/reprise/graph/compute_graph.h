// ComputeGraph: what was recorded, as flat tables in capture order. Indices, no pointers between
// rows, so it is a value. Passes and plans read it; nothing changes it after the session finished.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "reprise/core/op.h"
#include "reprise/graph/port.h"
#include "reprise/graph/state_layout.h"

namespace reprise {

inline constexpr std::uint32_t kNoIndex = 0xFFFFFFFF;

/// Where a recording gets the memory of a storage from.
enum class StorageOrigin : std::uint8_t {
  transient,       // planned into the arena
  caller,          // a persistent tensor that the pass was given: weights, caches
  state,           // the state block
  state_patch,     // what the host sets of it
  state_table,     // its expressions
  state_array,     // all of them
  empty_state,     // in place of a block, where there is none
  iteration,       // see core/step.h; every recording has its own
  iteration_rows,  // what iterations leave; every recording has its own
  own,             // of each recording, by name: handles, cells of experts
};

/// One piece of memory. Views share it.
struct Storage {
  std::uint64_t bytes = 0;
  StorageOrigin origin = StorageOrigin::transient;
  bool input = false;      // written by every launch before the first step; lives to the end
  bool output = false;     // read by every launch after the last step; lives to the end
  std::uint32_t name = 0;  // of what is `own`
  bool is_persistent() const { return origin != StorageOrigin::transient; }
  /// Memory that runs the graph: no value of the pass lies in it.
  bool is_internal() const {
    return origin == StorageOrigin::iteration || origin == StorageOrigin::iteration_rows;
  }
};

enum class TensorRole : std::uint8_t { activation, input, output, param, state };
std::string_view name_of(TensorRole role);

struct GraphTensor {
  TensorSpec spec;
  std::uint64_t offset = 0;  // bytes inside its storage
  std::uint32_t storage = 0;
  std::uint32_t name = 0;  // 0: unnamed
  TensorRole role = TensorRole::activation;
  std::uint32_t alias_of = kNoIndex;  // views: the tensor they look at
};

/// A tensor used by a node; `slot` counts operands, then results.
struct Use {
  std::uint32_t tensor;
  std::uint8_t slot;
  Access access;
};

struct Node {
  const OpDef* op = nullptr;
  SourceLocation where;
  std::uint32_t first_use = 0;
  std::uint32_t attributes = 0;  // offset into the attribute bytes
  std::uint32_t scope = 0;
  std::uint16_t attribute_bytes = 0;
  std::uint8_t use_count = 0;
  bool arguments_unordered = false;  // see Recorder::arguments_unordered_
};

/// Interned text and scope paths; looking up known text does not allocate.
class Names {
 public:
  std::uint32_t intern(std::string_view text);
  std::string_view text(std::uint32_t id) const { return texts_[id]; }
  std::uint32_t scope(std::uint32_t outer, std::string_view name, std::int32_t index);
  /// "layer.3/attn"; empty for the outermost scope.
  std::string path(std::uint32_t scope) const;
  std::uint32_t outer_of(std::uint32_t scope) const { return scopes_[scope].outer; }
  std::uint32_t name_of(std::uint32_t scope) const { return scopes_[scope].name; }
  /// Negative: none.
  std::int32_t index_of(std::uint32_t scope) const { return scopes_[scope].index; }
  std::uint32_t text_count() const { return static_cast<std::uint32_t>(texts_.size()); }
  std::uint32_t scope_count() const { return static_cast<std::uint32_t>(scopes_.size()); }
  /// "attn": the last part of the path.
  std::string last_part(std::uint32_t scope) const;

 private:
  struct ScopeKey {
    std::uint32_t outer, name;
    std::int32_t index;
    bool operator==(const ScopeKey&) const = default;
  };
  struct ScopeHash {
    std::size_t operator()(const ScopeKey& k) const {
      return (std::size_t{k.outer} * 0x9E3779B97F4A7C15U) ^ (std::size_t{k.name} << 20U) ^
             static_cast<std::uint32_t>(k.index);
    }
  };
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::string> texts_{""};
  std::vector<ScopeKey> scopes_{{0, 0, -1}};
  std::unordered_map<ScopeKey, std::uint32_t, ScopeHash> scope_ids_;
  std::string scratch_;
};

/// A field of the state that counts rows of tensors.
struct GraphExtent {
  std::uint32_t word = 0;  // in the block
  std::int64_t max = 0;    // its bucket
};

struct ComputeGraph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Use> uses;
  std::vector<GraphTensor> tensors;
  std::vector<Storage> storages;
  std::vector<std::byte> attributes;
  std::uint32_t state_tensor = kNoIndex;  // the state block, if a node reads or writes it
  /// Where the steps of graphs that run several iterations read their grids; the node that writes
  /// it decides whether they run.
  std::uint32_t iteration_tensor = kNoIndex;
  std::vector<GraphExtent> extents;
  std::vector<Port> inputs, outputs;         // in order of declaration
  std::vector<StateFieldInfo> state_fields;  // and arrays after them; empty without a state block
  std::uint32_t max_iterations = 1;          // of one launch
  Names names;
  std::map<std::uint32_t, std::string> host_steps;       // names, by node: of the op host_step
  std::vector<std::shared_ptr<const OpDef>> custom_ops;  // what nodes call that would go otherwise

  std::span<const Use> uses_of(const Node& n) const {
    return {uses.data() + n.first_use, n.use_count};
  }
  std::span<const std::byte> attributes_of(const Node& n) const {
    return {attributes.data() + n.attributes, n.attribute_bytes};
  }
  /// Of a host step its name, else the last part of the scope; empty if there is none.
  std::string label_of(std::uint32_t node) const;
  /// Whether a node writes what the others read their grids from: it runs every time, and first.
  bool decides_iterations(std::uint32_t node) const;
  /// Bytes and operations of one node.
  Cost cost_of(std::uint32_t node) const;
};

/// A node with its operands bound to the graph's storages. Valid while the graph is unchanged, and
/// what else it was made from.
class NodeCall {
 public:
  NodeCall(const ComputeGraph& graph, std::uint32_t node);
  /// A call in place of a node, with uses of its own.
  NodeCall(const ComputeGraph& graph, std::uint32_t node, const OpDef& op,
           std::span<const Use> uses, std::span<const std::byte> attributes);
  const BoundCall& call() const { return call_; }

 private:
  static constexpr std::size_t kMaxTensors = 12;
  std::array<BoundTensor, kMaxTensors> tensors_{};
  BoundCall call_;
};

}  // namespace reprise
