#include "framework/session/checks/capture_comparison.h"

#include <algorithm>
#include <cstring>

#include "framework/core/op.h"
#include "framework/session/checks/node_steps.h"
#include "framework/session/device/value_text.h"

namespace reprise {
namespace {

std::size_t slots_of(const OpDef& op) { return op.operands.size() + op.results.size(); }

std::string name_of_slot(const OpDef& op, std::size_t slot) {
  return std::string(slot < op.operands.size() ? op.operands[slot].name
                                               : op.results[slot - op.operands.size()].name);
}

std::string number_text(std::uint64_t number) { return std::to_string(number); }

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

/// One of the two.
struct Side {
  explicit Side(const PassPlan& of)
      : plan(of),
        graph(of.graph()),
        steps(of.execution->steps, graph.nodes.size()),
        origins(graph.storages.size()) {
    for (std::size_t s = 0; s < origins.size(); ++s) {
      origins[s].memory = graph.storages[s].origin;
      origins[s].buffer = of.given[of.execution->places[s].pool].get();
    }
    for (std::uint32_t i = 0; i < graph.inputs.size(); ++i) {
      origins[graph.tensors[graph.inputs[i].tensor].storage].input = i;
    }
    for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
      for (const Use& use : graph.uses_of(graph.nodes[n])) {
        Origin& origin = origins[graph.tensors[use.tensor].storage];
        if (writes(use.access) && origin == Origin()) {
          origin.node = n;
          origin.slot = use.slot;
        }
      }
    }
  }

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

  /// "input 'ids'", "result of op 3 add", "'cache' in the buffer 'cache' of 4096 bytes"
  std::string text_of(std::uint32_t tensor) const {
    const GraphTensor& t = graph.tensors[tensor];
    const Origin& origin = origin_of(tensor);
    const std::string name = "'" + std::string(graph.names.text(t.name)) + "'";
    if (origin.buffer != nullptr) {
      return name + " in the buffer '" + origin.buffer->name() + "' of " +
             bytes_text(origin.buffer->bytes());
    }
    if (origin.memory != StorageOrigin::transient) {
      return name + " of the state";
    }
    if (origin.input != kNoIndex) {
      return "input '" + graph.inputs[origin.input].name + "'";
    }
    return origin.node == kNoIndex ? "nothing"
                                   : "result of op " + std::to_string(origin.node) + " " +
                                         std::string(graph.nodes[origin.node].op->name);
  }

  /// The first node that uses the storage of a tensor; kNoIndex if none does.
  std::uint32_t first_user(std::uint32_t tensor) const {
    const std::uint32_t storage = graph.tensors[tensor].storage;
    for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
      for (const Use& use : graph.uses_of(graph.nodes[n])) {
        if (graph.tensors[use.tensor].storage == storage) {
          return n;
        }
      }
    }
    return kNoIndex;
  }

  /// The tensor that a node has in a slot; kNoIndex for an absent operand.
  std::uint32_t tensor_at(std::uint32_t node, std::size_t slot) const {
    const auto uses = graph.uses_of(graph.nodes[node]);
    const auto use = std::ranges::find(uses, slot, &Use::slot);
    return use == uses.end() ? kNoIndex : use->tensor;
  }

  std::string value_of(const Attribute& attribute, std::span<const std::byte> bytes) const {
    const bool param =
        attribute.type == AttributeType::param_i32 || attribute.type == AttributeType::param_f32;
    std::uint32_t word = StateField::kNone;
    if (param) {
      std::memcpy(&word, bytes.data() + offsetof(Param<float>, word), sizeof word);
    }
    if (word != StateField::kNone) {
      const auto& fields = graph.state_fields;
      const auto field = std::ranges::find(fields, word, &StateFieldInfo::word);
      return field == fields.end() ? "word " + std::to_string(word) + " of the state"
                                   : "state field '" + field->name + "'";
    }
    if (attribute.type == AttributeType::boolean) {
      return std::to_integer<unsigned>(bytes[0]) != 0 ? "true" : "false";
    }
    const bool real =
        attribute.type == AttributeType::f32 || attribute.type == AttributeType::param_f32;
    return text_of_element(real ? DType::f32 : DType::i32, bytes.first(sizeof(float)));
  }
};

class CaptureComparison {
 public:
  CaptureComparison(const PassPlan& first, const PassPlan& other, std::uint32_t run,
                    std::vector<LintFinding>& findings)
      : a_(first),
        b_(other),
        run_(run),
        findings_(findings),
        node_differs_(a_.graph.nodes.size()),
        input_differs_(first.graph().inputs.size()) {}

  void compare() {
    compare_inputs();
    const std::size_t nodes = std::min(a_.graph.nodes.size(), b_.graph.nodes.size());
    std::uint32_t n = 0;
    while (n < nodes && a_.graph.nodes[n].op->name == b_.graph.nodes[n].op->name) {
      compare_node(n++);
    }
    if (n < std::max(a_.graph.nodes.size(), b_.graph.nodes.size())) {
      const auto name = [n](const Side& side) {
        return n < side.graph.nodes.size() ? std::string(side.graph.nodes[n].op->name) : "no op";
      };
      add(n, n < a_.graph.nodes.size() ? name(a_) : name(b_), "op", name(a_), name(b_), false);
      return;
    }
    compare_outputs();
  }

 private:
  void compare_inputs() {
    const auto& a = a_.graph.inputs;
    const auto& b = b_.graph.inputs;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const TensorSpec& first = a[i].spec;
      const TensorSpec& other = b[i].spec;
      compare_specs(a_.first_user(a[i].tensor), "input '" + a[i].name + "'", first, other, false);
      input_differs_[i] = first.shape != other.shape || first.dtype != other.dtype;
    }
    compare_values(LintFinding::kNoNode, "input", "inputs", a.size(), b.size(), number_text, false);
  }

  void compare_outputs() {
    const auto& a = a_.graph.outputs;
    const auto& b = b_.graph.outputs;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const std::uint32_t node = a_.origin_of(a[i].tensor).node;
      const std::string name = "output '" + a[i].name + "'";
      const std::string_view op = node == kNoIndex ? "output" : a_.graph.nodes[node].op->name;
      const bool follows = explained(a[i].tensor);
      const GraphTensor& first = a_.graph.tensors[a[i].tensor];
      const GraphTensor& other = b_.graph.tensors[b[i].tensor];
      if (a_.origin_of(a[i].tensor) != b_.origin_of(b[i].tensor)) {
        add(node, op, "buffer of " + name, a_.text_of(a[i].tensor), b_.text_of(b[i].tensor), false);
      } else {
        compare_values(node, op, "offset of " + name, first.offset, other.offset, bytes_text,
                       follows);
      }
      compare_specs(node, name, first.spec, other.spec, follows);
    }
    compare_values(LintFinding::kNoNode, "output", "outputs", a.size(), b.size(), number_text,
                   false);
  }

  /// Shape, dtype and strides of two tensors that are called `name`.
  void compare_specs(std::uint32_t node, const std::string& name, const TensorSpec& a,
                     const TensorSpec& b, bool follows) {
    const std::string_view op = node < a_.graph.nodes.size()
                                    ? a_.graph.nodes[node].op->name
                                    : std::string_view(name).substr(0, name.find(' '));
    const auto dtype_text = [](DType dtype) { return std::string(name_of(dtype)); };
    const auto shape_text = [](const Shape& shape) { return to_string(shape); };
    const auto strides_text = [&](const Strides& strides) {
      return to_string(Shape(std::span(strides).first(a.shape.rank())));
    };
    compare_values(node, op, "dtype of " + name, a.dtype, b.dtype, dtype_text, follows);
    compare_values(node, op, "shape of " + name, a.shape, b.shape, shape_text, follows);
    if (a.shape == b.shape) {
      compare_values(node, op, "strides of " + name, a.strides, b.strides, strides_text, follows);
    }
  }

  void compare_node(std::uint32_t node) {
    compare_attributes(node);
    const OpDef& op = *a_.graph.nodes[node].op;
    for (std::size_t slot = 0; slot < slots_of(op); ++slot) {
      compare_operand(node, slot);
    }
    if (op.family == OpFamily::movement) {
      compare_texts(node, "copy bytes", number_text(a_.graph.cost_of(node).write_bytes),
                    number_text(b_.graph.cost_of(node).write_bytes), node_differs_[node]);
    }
    compare_steps(node);
  }

  void compare_attributes(std::uint32_t node) {
    const Node& n = a_.graph.nodes[node];
    const auto first = a_.graph.attributes_of(n);
    const auto other = b_.graph.attributes_of(b_.graph.nodes[node]);
    for (const Attribute& attribute : n.op->attributes) {
      const std::size_t bytes = size_of(attribute.type);
      if (attribute.offset + bytes > std::min(first.size(), other.size())) {
        continue;
      }
      const auto a = first.subspan(attribute.offset, bytes);
      const auto b = other.subspan(attribute.offset, bytes);
      if (!std::ranges::equal(a, b)) {
        differ(node, std::string(attribute.name), a_.value_of(attribute, a),
               b_.value_of(attribute, b), false);
      }
    }
  }

  void compare_operand(std::uint32_t node, std::size_t slot) {
    const OpDef& op = *a_.graph.nodes[node].op;
    const std::string name = name_of_slot(op, slot);
    const std::uint32_t a = a_.tensor_at(node, slot);
    const std::uint32_t b = b_.tensor_at(node, slot);
    if (a == kNoIndex || b == kNoIndex) {
      const auto text = [](std::uint32_t t) { return t == kNoIndex ? "absent" : "given"; };
      compare_texts(node, "operand " + name, text(a), text(b), false);
      return;
    }
    const GraphTensor& first = a_.graph.tensors[a];
    const GraphTensor& other = b_.graph.tensors[b];
    // What a node computes has the shape that its operands and attributes give it.
    const bool result = slot >= op.operands.size();
    const bool follows = result ? node_differs_[node] : explained(a);
    if (!result && a_.origin_of(a) != b_.origin_of(b)) {
      differ(node, "buffer of " + name, a_.text_of(a), b_.text_of(b), false);
    }
    const std::size_t before = findings_.size();
    compare_values(node, op.name, "offset of " + name, first.offset, other.offset, bytes_text,
                   follows);
    compare_specs(node, name, first.spec, other.spec, follows);
    node_differs_[node] = node_differs_[node] || findings_.size() != before;
  }

  void compare_steps(std::uint32_t node) {
    const std::uint32_t count = a_.steps.count(node);
    const bool follows = node_differs_[node];
    compare_texts(node, "steps", number_text(count), number_text(b_.steps.count(node)), follows);
    for (std::uint32_t s = 0; count == b_.steps.count(node) && s < count; ++s) {
      compare_step(node, a_.steps.first(node) + s, b_.steps.first(node) + s, follows);
    }
  }

  void compare_step(std::uint32_t node, std::uint32_t a, std::uint32_t b, bool follows) {
    const StepList& first = a_.plan.execution->steps;
    const StepList& other = b_.plan.execution->steps;
    const Step& x = first[a];
    const Step& y = other[b];
    compare_texts(node, "kernel", text_of(x), text_of(y), follows);
    compare_texts(node, "grid", text_of(x.grid), text_of(y.grid), follows);
    if (x.kind != y.kind || x.binding_count != y.binding_count) {
      return;
    }
    if (x.kind == StepKind::dispatch && !std::ranges::equal(first.bytes(x), other.bytes(y))) {
      const auto [in_a, in_b] = first_words(first.bytes(x), other.bytes(y));
      differ(node, "push constants", in_a, in_b, follows);
    }
    for (std::uint32_t i = 0; i < x.binding_count; ++i) {
      const Binding& of_a = first.bindings(x)[i];
      const Binding& of_b = other.bindings(y)[i];
      const OpDef& op = *a_.graph.nodes[node].op;
      const std::string name = i < slots_of(op) ? name_of_slot(op, i) : "the state";
      compare_texts(node, x.kind == StepKind::copy ? "copy bytes" : "bytes of " + name,
                    number_text(of_a.bytes), number_text(of_b.bytes), follows);
      // Transients lie where there is room; where theirs is says nothing about the node.
      if (of_a.pool != ExecutionPlan::kArena) {
        compare_texts(node, "offset of " + name, bytes_text(of_a.offset), bytes_text(of_b.offset),
                      follows);
      }
    }
  }

  /// Whether what the tensor holds differs for a reason that was found already.
  bool explained(std::uint32_t tensor) const {
    const Side::Origin& origin = a_.origin_of(tensor);
    return (origin.input != kNoIndex && input_differs_[origin.input]) ||
           (origin.node != kNoIndex && node_differs_[origin.node]);
  }

  void add(std::uint32_t node, std::string_view op, std::string field, std::string first,
           std::string other, bool follows) {
    const bool known = std::ranges::any_of(findings_, [&](const LintFinding& f) {
      return f.node == node && f.op == op && f.field == field;
    });
    if (known) {
      return;
    }
    if (first == other) {
      other = "another one";
    }
    LintFinding finding{.node = node,
                        .op = std::string(op),
                        .field = std::move(field),
                        .first = std::move(first),
                        .other = std::move(other),
                        .run = run_,
                        .follows = follows};
    const Side& side = node < a_.graph.nodes.size() ? a_ : b_;
    if (node < side.graph.nodes.size()) {
      const Node& n = side.graph.nodes[node];
      finding.scope = side.graph.names.path(n.scope);
      finding.where = n.where;
    }
    findings_.push_back(std::move(finding));
  }

  template <class T, class TextOf>
  void compare_values(std::uint32_t node, std::string_view op, std::string field, const T& first,
                      const T& other, TextOf text, bool follows) {
    if (first != other) {
      add(node, op, std::move(field), text(first), text(other), follows);
    }
  }

  void differ(std::uint32_t node, std::string field, std::string first, std::string other,
              bool follows) {
    node_differs_[node] = true;
    add(node, a_.graph.nodes[node].op->name, std::move(field), std::move(first), std::move(other),
        follows);
  }

  void compare_texts(std::uint32_t node, std::string field, std::string first, std::string other,
                     bool follows) {
    if (first != other) {
      differ(node, std::move(field), std::move(first), std::move(other), follows);
    }
  }

  Side a_, b_;
  std::uint32_t run_;
  std::vector<LintFinding>& findings_;
  std::vector<bool> node_differs_;   // by node
  std::vector<bool> input_differs_;  // by number
};

}  // namespace

void compare_captures(const PassPlan& first, const PassPlan& other, std::uint32_t run,
                      std::vector<LintFinding>& findings) {
  CaptureComparison(first, other, run, findings).compare();
}

}  // namespace reprise
