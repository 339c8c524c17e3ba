// CaptureComparison: where two plans of one pass differ.
#pragma once
#include "framework/core/op.h"
#include "framework/session/checks/node_steps.h"
#include "framework/session/replay/pass_plan.h"
#include "reprise/session/lint.h"

namespace reprise {

class CaptureComparison {
 public:
  /// Adds to `findings` what differs, but for fields of nodes that are among them already. All of
  /// it outlives this.
  CaptureComparison(const PassPlan& first, const PassPlan& other, std::uint32_t run,
                    std::vector<LintFinding>& findings);
  void compare();

 private:
  /// One of the two.
  struct Side {
    explicit Side(const PassPlan& of);
    const PassPlan& plan;
    const ComputeGraph& graph;
    NodeSteps steps;
    /// Where the values of a storage come from; equal on both sides where a replay finds them.
    struct Origin {
      StorageOrigin memory = StorageOrigin::transient;
      const Buffer* buffer = nullptr;  // of the caller
      std::uint32_t input = kNoIndex;  // number of the input
      std::uint32_t node = kNoIndex;   // computed: which result of which node
      std::uint32_t slot = 0;
      bool operator==(const Origin&) const = default;
    };
    std::vector<Origin> origins;  // by storage
    const Origin& origin_of(std::uint32_t tensor) const {
      return origins[graph.tensors[tensor].storage];
    }
    /// "input 'ids'", "result of op 3 add", "'cache' (buffer 'cache', 4096 bytes)"
    std::string text_of(std::uint32_t tensor) const;
    /// The first node that uses the storage of a tensor; kNoIndex if none does.
    std::uint32_t first_user(std::uint32_t tensor) const;
    /// The tensor that a node has in a slot; kNoIndex for an absent operand.
    std::uint32_t tensor_at(std::uint32_t node, std::size_t slot) const;
    std::string value_of(const Attribute& attribute, std::span<const std::byte> bytes) const;
  };

  void compare_inputs();
  void compare_outputs();
  void compare_node(std::uint32_t node);
  void compare_attributes(std::uint32_t node);
  void compare_operand(std::uint32_t node, std::size_t slot);
  void compare_steps(std::uint32_t node);
  void compare_step(std::uint32_t node, std::uint32_t a, std::uint32_t b, bool follows);
  /// Shape, dtype and strides of two tensors that are called `name`.
  void compare_specs(std::uint32_t node, const std::string& name, const TensorSpec& a,
                     const TensorSpec& b, bool follows);
  /// Whether what the tensor holds differs for a reason that was found already.
  bool explained(std::uint32_t tensor) const;
  void add(std::uint32_t node, std::string_view op, std::string field, std::string first,
           std::string other, bool follows);
  void differ(std::uint32_t node, const std::string& field, std::string first, std::string other,
              bool follows = false);

  Side a_, b_;
  std::uint32_t run_;
  std::vector<LintFinding>& findings_;
  std::vector<bool> node_differs_;   // by node
  std::vector<bool> input_differs_;  // by number
};

}  // namespace reprise
