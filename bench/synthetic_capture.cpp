#include "bench/synthetic_capture.h"

#include <array>

#include "framework/core/op.h"
#include "framework/graph/make_plan.h"

namespace reprise::bench {
namespace {

constexpr std::int64_t kRowWidth = 64;
constexpr std::size_t kLayerNodes = 15;

Cost cost(const BoundCall& call) { return streaming_cost(call, 2 * kRowWidth); }

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const std::array<std::uint32_t, 2> push{call.node, kRowWidth};
  steps.dispatch(call, traits, {call.op.name, {64}, 1}, {4, 1, 1}, push);
}

constexpr std::array<Operand, 2> kOperands{{{"x"}, {"w"}}};
constexpr std::array<Operand, 1> kResults{{{"y", Access::write}}};

constexpr OpDef op_named(std::string_view name) {
  return {.name = name, .operands = kOperands, .results = kResults, .cost = cost, .lower = lower};
}

// Places in kOps and kOpNs.
enum Op : std::size_t { norm, matmul, rope, set_rows, softmax, silu_mul, add };
constexpr std::array<OpDef, 7> kOps{op_named("rms_norm"), op_named("matmul"),  op_named("rope"),
                                    op_named("set_rows"), op_named("softmax"), op_named("silu_mul"),
                                    op_named("add")};
constexpr std::array<std::uint64_t, 7> kOpNs{2'000, 20'000, 1'500, 900, 4'000, 2'500, 1'200};

class GraphMaker {
 public:
  std::shared_ptr<const ExecutionPlan> make(std::size_t nodes, const std::string& name) {
    graph_->name = name;
    std::uint32_t x = tensor(TensorRole::input, "tokens");
    for (std::int32_t layer = 0; graph().nodes.size() + kLayerNodes <= nodes; ++layer) {
      x = add_layer(layer, x);
    }
    while (graph().nodes.size() < nodes) {
      x = node(norm, 0, x, tensor(TensorRole::param, "output_norm"));
    }
    graph().tensors[x].role = TensorRole::output;
    graph().storages[graph().tensors[x].storage].output = true;
    return std::make_shared<const ExecutionPlan>(make_plan(graph_, {}));
  }

 private:
  ComputeGraph& graph() { return *graph_; }

  std::uint32_t tensor(TensorRole role, std::string_view name) {
    const TensorSpec spec({1, kRowWidth}, DType::f32);
    Storage storage;
    storage.bytes = spec.bytes();
    storage.input = role == TensorRole::input;
    storage.origin = role == TensorRole::param ? StorageOrigin::caller : StorageOrigin::transient;
    GraphTensor tensor;
    tensor.spec = spec;
    tensor.role = role;
    tensor.storage = static_cast<std::uint32_t>(graph().storages.size());
    tensor.name = name.empty() ? 0 : graph().names.intern(name);
    graph().storages.push_back(storage);
    graph().tensors.push_back(tensor);
    return static_cast<std::uint32_t>(graph().tensors.size() - 1);
  }

  /// Returns what it writes.
  std::uint32_t node(Op op, std::uint32_t scope, std::uint32_t x, std::uint32_t w) {
    Node node;
    node.op = &kOps[op];
    node.where = {"forward.cpp", "record_step", static_cast<std::uint32_t>(20 + op)};
    node.scope = scope;
    node.first_use = static_cast<std::uint32_t>(graph().uses.size());
    node.use_count = 3;
    const std::uint32_t y = tensor(TensorRole::activation, "");
    graph().uses.insert(graph().uses.end(),
                        {{x, 0, Access::read}, {w, 1, Access::read}, {y, 2, Access::write}});
    graph().nodes.push_back(node);
    return y;
  }

  std::uint32_t add_layer(std::int32_t index, std::uint32_t x) {
    const std::uint32_t layer = graph().names.scope(0, "layer", index);
    const std::uint32_t attn = graph().names.scope(layer, "attn", -1);
    const std::uint32_t ffn = graph().names.scope(layer, "ffn", -1);
    const auto weight = [&](std::string_view name) { return tensor(TensorRole::param, name); };
    const std::uint32_t h = node(norm, attn, x, weight("attn_norm"));
    const std::uint32_t q = node(rope, attn, node(matmul, attn, h, weight("wq")), weight("rope"));
    const std::uint32_t k = node(rope, attn, node(matmul, attn, h, weight("wk")), weight("rope"));
    const std::uint32_t keys = node(set_rows, attn, k, weight("keys"));
    const std::uint32_t scores = node(softmax, attn, node(matmul, attn, q, keys), h);
    const std::uint32_t mixed = node(matmul, attn, scores, weight("wo"));
    const std::uint32_t a = node(add, attn, mixed, x);
    const std::uint32_t f = node(norm, ffn, a, weight("ffn_norm"));
    const std::uint32_t gate = node(matmul, ffn, f, weight("gate"));
    const std::uint32_t up = node(matmul, ffn, f, weight("up"));
    return node(add, ffn, node(silu_mul, ffn, gate, up), a);
  }

  std::shared_ptr<ComputeGraph> graph_ = std::make_shared<ComputeGraph>();
};

}  // namespace

std::shared_ptr<const ExecutionPlan> synthetic_graph(std::size_t nodes, const std::string& name) {
  return GraphMaker().make(nodes, name);
}

DeviceInfo synthetic_device() {
  DeviceInfo device;
  device.backend = "vulkan";
  device.name = "synthetic";
  device.timestamp_valid_bits = 64;
  device.timestamp_period_ns = 1;
  return device;
}

std::uint64_t synthetic_ns(const Node& node) {
  return kOpNs[static_cast<std::size_t>(node.op - kOps.data())];
}

}  // namespace reprise::bench
