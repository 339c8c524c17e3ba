// PartialRun: the tensors that the first nodes of a graph, or one of them, left.
#pragma once
#include "reprise/session/ticket.h"

namespace reprise {

class Recording;

/// A run of part of a graph. Tensors are indices into CapturedGraph::graph().tensors.
/// Lifetime: readable until the graph is launched or run in part again, which uses the arena anew.
/// Threads: not thread-safe, as its graph is not.
class PartialRun {
 public:
  /// Made by graphs: `run` counts the uses of the arena.
  PartialRun(std::shared_ptr<Recording> recording, std::uint32_t node, std::uint64_t run)
      : recording_(std::move(recording)), node_(node), run_(run) {}

  /// Returns the last node that ran.
  std::uint32_t node() const { return node_; }
  /// Returns the elements of a contiguous tensor. T as with Ticket::read.
  /// Errors: dtype_mismatch; invalid_argument if the index is out of range, a later node computes
  /// the tensor, a node that ran used its memory again (naming that), or it is a strided view.
  template <OutputElement T = float>
  std::vector<T> read(std::uint32_t tensor) const {
    const std::vector<std::byte> bytes = this->bytes(tensor);
    return elements_of<T>(name_of(tensor), {spec_of(tensor), bytes});
  }
  /// Returns the elements of result `result` of a node.
  template <OutputElement T = float>
  std::vector<T> read(std::uint32_t node, std::uint32_t result) const {
    return read<T>(result_of(node, result));
  }
  /// Returns the tensor that holds a result of a node.
  /// Errors: invalid_argument if there is none.
  std::uint32_t result_of(std::uint32_t node, std::uint32_t result) const;

 private:
  std::vector<std::byte> bytes(std::uint32_t tensor) const;
  std::string name_of(std::uint32_t tensor) const;
  const TensorSpec& spec_of(std::uint32_t tensor) const;

  std::shared_ptr<Recording> recording_;
  std::uint32_t node_;
  std::uint64_t run_;
};

}  // namespace reprise
