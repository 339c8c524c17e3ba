#include "tests/ops/op_calls.h"

#include <algorithm>
#include <cstring>

#include "framework/core/op.h"
#include "reprise/graph/compute_graph.h"
#include "tests/ops/op_case_table.h"

namespace reprise::testing {
namespace {

/// Builds a row without running it.
class RowContext final : public CaseContext {
 public:
  RowContext(const Device& device, GraphSession& session) : device_(device), session_(session) {}
  Recorder& recorder() override { return session_; }
  Tensor input(const Shape& shape, DType dtype, double /*low*/, double /*high*/) override {
    const Bytes zeros(TensorSpec(shape, dtype).bytes());
    return session_.input("in" + std::to_string(inputs_++), shape, dtype, zeros);
  }
  Tensor ids(const Shape& shape, DType dtype, std::int64_t /*low*/,
             std::int64_t /*high*/) override {
    return input(shape, dtype, 0, 0);
  }
  Tensor integers(const Shape& shape, const std::vector<std::int32_t>& values) override {
    return session_.input("in" + std::to_string(inputs_++), shape, values);
  }
  Tensor floats(const Shape& shape, const std::vector<std::int32_t>& /*bits*/) override {
    return input(shape, DType::f32, 0, 0);
  }
  Tensor persistent(const Shape& shape, DType dtype) override {
    return device_.zeros(shape, dtype);
  }

 private:
  const Device& device_;
  GraphSession& session_;
  std::size_t inputs_ = 0;
};

/// Fields that a row reads become constants.
void freeze(OpCallOfRow& call, const StateLayout& layout) {
  for (const Attribute& attribute : call.op->attributes) {
    if (may_be_dynamic(attribute)) {
      const std::uint32_t word = value_and_word(call, attribute).second;
      if (word != StateField::kNone) {
        call = with(call, attribute, layout.fields()[word].initial, StateField::kNone);
      }
    }
  }
}

}  // namespace

Bytes random_content(std::mt19937_64& rng, const TensorSpec& spec, double low) {
  if (spec.dtype != DType::i32 && spec.dtype != DType::i64) {
    return random_bytes(rng, spec.dtype, spec.shape.elements(), low, 1);
  }
  // Different ones: of rows that are written twice, either write may be the last.
  Bytes bytes(spec.bytes());
  auto next = static_cast<std::uint32_t>(rng() % 4);
  for (std::size_t i = 0; i < bytes.size(); i += info_of(spec.dtype).block_bytes) {
    std::memcpy(bytes.data() + i, &next, sizeof(next));
    ++next;
  }
  return bytes;
}

bool may_be_dynamic(const Attribute& attribute) {
  return attribute.type == AttributeType::param_f32 || attribute.type == AttributeType::param_i32;
}

OpCallOfRow with(OpCallOfRow call, const Attribute& attribute, std::uint32_t value,
                 std::uint32_t word) {
  std::memcpy(call.attributes.data() + attribute.offset, &value, sizeof(value));
  std::memcpy(call.attributes.data() + attribute.offset + offsetof(Param<float>, word), &word,
              sizeof(word));
  return call;
}

std::pair<std::uint32_t, std::uint32_t> value_and_word(const OpCallOfRow& call,
                                                       const Attribute& attribute) {
  std::pair<std::uint32_t, std::uint32_t> both;
  std::memcpy(&both.first, call.attributes.data() + attribute.offset, sizeof(both.first));
  std::memcpy(&both.second,
              call.attributes.data() + attribute.offset + offsetof(Param<float>, word),
              sizeof(both.second));
  return both;
}

std::vector<OpCallOfRow> calls_of(const OpDef& op) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  std::vector<OpCallOfRow> calls;
  const auto all = all_op_cases();
  for (const OpCase& row : std::ranges::find(all, op.name, &NamedCases::op)->cases()) {
    StateLayout layout;
    for (const auto& [name, values] : row.state) {
      layout.host(name, values.front());
    }
    for (const auto& [name, initial] : row.carried) {
      layout.carried(name, initial);
    }
    auto session = executor.begin_recorded({.state = StateBlock(device, layout)});
    RowContext context(device, session);
    const std::vector<Tensor> results = row.build(context);
    const CapturedGraph captured = session.finish({.run = false}).graph;
    const ComputeGraph& graph = captured.graph();
    for (const Node& node : graph.nodes) {
      if (node.op != &op) {
        continue;
      }
      const auto bytes = graph.attributes_of(node);
      OpCallOfRow call{row.label, &op, {}, {bytes.begin(), bytes.end()}};
      call.operands.resize(op.operands.size());
      for (const Use& use : graph.uses_of(node)) {
        if (use.slot < op.operands.size()) {
          const TensorSpec& spec = graph.tensors[use.tensor].spec;
          call.operands[use.slot] = TensorSpec(spec.shape, spec.dtype);
        }
      }
      freeze(call, layout);
      calls.push_back(std::move(call));
    }
  }
  return calls;
}

}  // namespace reprise::testing
