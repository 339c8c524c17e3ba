// ComputeGraph: a recording as flat tables in capture order. It is a value: rows refer to each
// other by index. Passes and plans read it; nothing changes it after the session finished.
#pragma once
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "reprise/core/operand.h"
#include "reprise/graph/port.h"
#include "reprise/graph/state_layout.h"

namespace reprise {

struct OpDef;

inline constexpr std::uint32_t kNoIndex = 0xFFFFFFFF;

/// Origin of the memory of a storage.
enum class StorageOrigin : std::uint8_t {
  transient,       // planned into the arena
  caller,          // a persistent tensor that the pass was given: weights, caches
  state,           // the state block
  state_patch,     // fields that the host sets
  state_table,     // its expressions
  state_array,     // all of them
  empty_state,     // in place of a block, where there is none
  iteration,       // see backend/step.h; every recording has its own
  iteration_rows,  // results of iterations; every recording has its own
  own,             // of each recording, by name: handles, cells of experts
};

/// One piece of memory. Views share it.
struct Storage {
  std::uint64_t bytes = 0;
  StorageOrigin origin = StorageOrigin::transient;
  bool input = false;      // written by every launch before the first step; lives to the end
  bool output = false;     // read by every launch after the last step; lives to the end
  std::uint32_t name = 0;  // if the origin is `own`
  bool is_persistent() const { return origin != StorageOrigin::transient; }
  /// Returns whether the memory only runs the graph: no value of the pass lies in it.
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
  std::uint32_t alias_of = kNoIndex;  // views: the tensor they show
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
  /// Returns "layer.3/attn"; empty for the outermost scope.
  std::string path(std::uint32_t scope) const;
  std::uint32_t outer_of(std::uint32_t scope) const { return std::get<0>(scopes_[scope]); }
  std::uint32_t name_of(std::uint32_t scope) const { return std::get<1>(scopes_[scope]); }
  /// Returns the index of a scope; negative: none.
  std::int32_t index_of(std::uint32_t scope) const { return std::get<2>(scopes_[scope]); }
  std::uint32_t text_count() const { return static_cast<std::uint32_t>(texts_.size()); }
  std::uint32_t scope_count() const { return static_cast<std::uint32_t>(scopes_.size()); }
  /// Returns "attn": the last part of the path.
  std::string last_part(std::uint32_t scope) const;

 private:
  using ScopeKey = std::tuple<std::uint32_t, std::uint32_t, std::int32_t>;  // outer, name, index
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::string> texts_{""};
  std::vector<ScopeKey> scopes_{{0, 0, -1}};
  std::map<ScopeKey, std::uint32_t> scope_ids_;
  std::string scratch_;
};

/// A field of the state that counts rows of tensors.
struct GraphExtent {
  std::uint32_t word = 0;  // word in the block
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
  /// Where the steps of graphs with several iterations read their grids. The node that writes it
  /// decides whether they run.
  std::uint32_t iteration_tensor = kNoIndex;
  std::vector<GraphExtent> extents;
  std::vector<Port> inputs, outputs;         // in order of declaration
  std::vector<StateFieldInfo> state_fields;  // and arrays after them; empty without a state block
  std::uint32_t max_iterations = 1;          // of one launch
  Names names;
  std::map<std::uint32_t, std::string> host_steps;       // names, by node: of the op host_step
  std::vector<std::shared_ptr<const OpDef>> custom_ops;  // kept alive for the nodes that call them

  std::span<const Use> uses_of(const Node& n) const {
    return {uses.data() + n.first_use, n.use_count};
  }
  std::span<const std::byte> attributes_of(const Node& n) const {
    return {attributes.data() + n.attributes, n.attribute_bytes};
  }
  /// Returns the tensor that a node has in a slot; kNoIndex if it has none there.
  std::uint32_t tensor_at(std::uint32_t node, std::size_t slot) const;
  /// Returns the name of a host step, else the last part of the scope; empty if there is none.
  std::string label_of(std::uint32_t node) const;
  /// Returns whether a node writes the grids that the others read: it runs every time, and first.
  bool decides_iterations(std::uint32_t node) const;
  /// Returns bytes and operations of one node.
  Cost cost_of(std::uint32_t node) const;
};

}  // namespace reprise
