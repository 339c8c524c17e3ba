// Every attribute that may be dynamic, of every op: the same bits from a constant and from a field
// of the state, direct and recorded, and a replay that follows the field. The calls are those of
// the op's rows, with operands made contiguous.
#include <algorithm>
#include <cstring>

#include "framework/ops/op_table.h"
#include "reprise/graph/compute_graph.h"
#include "tests/ops/op_case_table.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using Bytes = std::vector<std::byte>;

struct Call {
  std::string row;
  const OpDef* op;
  std::vector<std::optional<TensorSpec>> operands;  // empty: absent
  Bytes attributes;
};

Bytes content(std::mt19937_64& rng, const TensorSpec& spec) {
  if (spec.dtype != DType::i32 && spec.dtype != DType::i64) {
    return random_bytes(rng, spec.dtype, spec.shape.elements(), -1, 1);
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

bool may_be_dynamic(const Attribute& attribute) {
  return attribute.type == AttributeType::param_f32 || attribute.type == AttributeType::param_i32;
}

Call with(Call call, const Attribute& attribute, std::uint32_t value, std::uint32_t word) {
  std::memcpy(call.attributes.data() + attribute.offset, &value, sizeof(value));
  std::memcpy(call.attributes.data() + attribute.offset + offsetof(Param<float>, word), &word,
              sizeof(word));
  return call;
}

std::pair<std::uint32_t, std::uint32_t> value_and_word(const Call& call,
                                                       const Attribute& attribute) {
  std::pair<std::uint32_t, std::uint32_t> both;
  std::memcpy(&both.first, call.attributes.data() + attribute.offset, sizeof(both.first));
  std::memcpy(&both.second,
              call.attributes.data() + attribute.offset + offsetof(Param<float>, word),
              sizeof(both.second));
  return both;
}

/// Fields that a row reads become constants.
void freeze(Call& call, const StateLayout& layout) {
  for (const Attribute& attribute : call.op->attributes) {
    if (may_be_dynamic(attribute)) {
      const std::uint32_t word = value_and_word(call, attribute).second;
      if (word != StateField::kNone) {
        call = with(call, attribute, layout.fields()[word].initial, StateField::kNone);
      }
    }
  }
}

std::vector<Call> calls_of(const OpDef& op) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  std::vector<Call> calls;
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
    const ComputeGraph& graph = captured.recorded().graph;
    for (const Node& node : graph.nodes) {
      if (node.op != &op) {
        continue;
      }
      const auto bytes = graph.attributes_of(node);
      Call call{row.label, &op, {}, {bytes.begin(), bytes.end()}};
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

/// A call as it is recorded: the operands it writes keep their first content at hand.
class Recorded {
 public:
  Recorded(const Device& device, GraphSession& session, const Call& call, std::uint64_t seed)
      : device_(device) {
    std::mt19937_64 rng(seed);
    std::vector<Tensor> operands(call.operands.size());
    std::vector<Tensor> outputs(call.op->results.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!call.operands[i]) {
        continue;
      }
      const TensorSpec& spec = *call.operands[i];
      const Bytes bytes = content(rng, spec);
      if (writes(call.op->operands[i].access)) {
        operands[i] = device.from_host(spec.shape, spec.dtype, bytes, "written");
        written_.emplace_back(operands[i], bytes);
      } else {
        operands[i] = session.input("in" + std::to_string(i), spec.shape, spec.dtype, bytes);
      }
    }
    const std::vector<TensorRef> refs(operands.begin(), operands.end());
    session.call({session, *call.op, refs, call.attributes, {}}, outputs);
    for (const auto& [tensor, bytes] : written_) {
      outputs.push_back(tensor);
    }
    for (const Tensor& tensor : outputs) {
      session.output(std::to_string(count_++), tensor);
    }
  }
  void reset() const {
    for (const auto& [tensor, bytes] : written_) {
      const TensorRef ref(tensor);
      device_.write(ref->buffer, ref->offset, bytes);
    }
  }
  template <class Readable>
  std::vector<Bytes> read(const Readable& from) const {
    std::vector<Bytes> all;
    for (std::size_t i = 0; i < count_; ++i) {
      all.push_back(from.template read<std::byte>(std::to_string(i)));
    }
    return all;
  }

 private:
  const Device& device_;
  std::vector<std::pair<Tensor, Bytes>> written_;
  std::size_t count_ = 0;
};

std::vector<std::uint32_t> other_values(const Attribute& attribute, std::uint32_t value) {
  std::vector<std::uint32_t> others;
  if (attribute.type == AttributeType::param_f32) {
    const auto now = std::bit_cast<float>(value);
    for (const float other : {now / 2 + 0.5F, 0.25F, 0.75F, 100.0F}) {
      others.push_back(std::bit_cast<std::uint32_t>(other));
    }
  } else {
    others = {1, 2, 3, 0, 5, 9, 17};
  }
  return others;
}

class DynamicAttributes : public ::testing::Test {
 public:
  DynamicAttributes(const OpDef& op, const Attribute& attribute, std::string device,
                    std::optional<KernelFamily> kernels)
      : op_(op), attribute_(attribute), name_(std::move(device)), kernels_(kernels) {}

  void TestBody() override {
    std::optional<Device> device;
    try {
      device = test_device(name_, {}, kernels_);
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), ErrorCode::unsupported) << e.what();
      GTEST_SKIP() << "This device cannot run these kernels.";
    }
    const ExpectNoValidationMessages quiet;
    seed_ = fresh_seed();
    SCOPED_TRACE(seed_note(seed_));
    std::size_t tried = 0;
    constexpr std::size_t kEnough = 6;  // rows that depend on it: each may compile other kernels
    for (const Call& call : calls_of(op_)) {
      if (tried == kEnough) {
        break;
      }
      SCOPED_TRACE(call.row);
      tried += check(*device, call) ? 1U : 0U;
    }
    EXPECT_GT(tried, 0U) << "no row of the op depends on this attribute";
  }

 private:
  std::vector<Bytes> direct(const Device& device, const Call& call,
                            const StateBlock& state = {}) const {
    GraphExecutor executor(device);
    auto session = executor.begin({.state = state});
    const Recorded recorded(device, session, call, seed_);
    return recorded.read(session.finish());
  }

  /// False if no other value changes what the call does.
  bool check(const Device& device, const Call& call) const {
    const std::uint32_t value = value_and_word(call, attribute_).first;
    const std::vector<Bytes> expected = direct(device, call);
    for (const std::uint32_t other : other_values(attribute_, value)) {
      std::vector<Bytes> changed;
      try {
        changed = direct(device, with(call, attribute_, other, StateField::kNone));
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::invalid_argument) << e.what();
        continue;
      }
      if (changed != expected) {
        compare(device, call, value, expected, other, changed);
        return true;
      }
    }
    return false;
  }

  void compare(const Device& device, const Call& call, std::uint32_t value,
               const std::vector<Bytes>& expected, std::uint32_t other,
               const std::vector<Bytes>& changed) const {
    const StateBlock state = state_of(device, value);
    const Call dynamic = with(call, attribute_, 0, 1);
    EXPECT_TRUE(direct(device, dynamic, state) == expected) << "a direct session differs";
    GraphExecutor executor(device);
    auto session = executor.begin_recorded({.state = state});
    const Recorded recorded(device, session, dynamic, seed_);
    FinishResult result = session.finish();
    EXPECT_TRUE(recorded.read(result) == expected) << "a recorded session differs";
    recorded.reset();
    set(state, other);
    result.graph.launch();
    EXPECT_TRUE(recorded.read(result.graph) == changed) << "a replay with another value differs";
    recorded.reset();
    EXPECT_TRUE(direct(device, dynamic, state) == changed)
        << "a direct session with another value differs";
  }

  StateBlock state_of(const Device& device, std::uint32_t value) const {
    StateLayout layout = StateLayout().host("other", -7);
    if (attribute_.type == AttributeType::param_f32) {
      layout.host_f32("value", std::bit_cast<float>(value));
    } else {
      layout.host("value", std::bit_cast<std::int32_t>(value));
    }
    return {device, layout};
  }
  void set(const StateBlock& state, std::uint32_t value) const {
    if (attribute_.type == AttributeType::param_f32) {
      state.set("value", std::bit_cast<float>(value));
    } else {
      state.set("value", std::bit_cast<std::int32_t>(value));
    }
  }

  const OpDef& op_;
  const Attribute& attribute_;
  std::string name_;
  std::optional<KernelFamily> kernels_;
  std::uint64_t seed_ = 0;
};

const std::size_t kRegistered = [] {
  std::size_t count = 0;
  const auto add = [&](const OpDef& op, const Attribute& attribute, const std::string& device,
                       std::optional<KernelFamily> kernels) {
    const std::string name = std::string(op.name) + "_" + std::string(attribute.name) + "_on_" +
                             device + (kernels ? "_" + std::string(name_of(*kernels)) : "");
    ::testing::RegisterTest(("DynamicAttributes_" + std::string(op.name)).c_str(), name.c_str(),
                            nullptr, nullptr, __FILE__, __LINE__,
                            [&op, &attribute, device, kernels]() -> DynamicAttributes* {
                              return new DynamicAttributes(op, attribute, device, kernels);
                            });
    ++count;
  };
  for (const OpDef* op : ops::all_ops()) {
    for (const Attribute& attribute : op->attributes) {
      if (may_be_dynamic(attribute)) {
        add(*op, attribute, "cpu", std::nullopt);
        add(*op, attribute, "reference", std::nullopt);
        for (const KernelFamily family :
             {KernelFamily::portable, KernelFamily::lanes, KernelFamily::gpu}) {
          add(*op, attribute, "vulkan", family);
        }
      }
    }
  }
  return count;
}();

/// Numbers that say how the op computes, not what: shapes, words, counts and ways.
constexpr std::pair<std::string_view, std::string_view> kConstants[] = {
    {"argsort", "descending"},
    {"attention", "causal"},
    {"copy", "dtype"},
    {"rope", "dims"},
    {"rope", "pairing"},
    {"rope", "section_0"},
    {"rope", "section_1"},
    {"rope", "section_2"},
    {"rope", "section_3"},
    {"rope_set_rows", "dims"},
    {"rope_set_rows", "pairing"},
    {"route_top_k", "gate"},
    {"route_top_k", "k"},
    {"route_top_k", "normalise"},
    {"solve_triangular", "unit"},
    {"top_k", "k"}};
/// All of whose numbers choose shapes.
constexpr std::string_view kOfShapes[] = {"concat",  "conv_1d", "conv_2d", "pad",
                                          "pool_1d", "pool_2d", "repeat"};
constexpr std::string_view kOfTheFramework[] = {"plan", "advance", "collect"};

TEST(Attributes, AllThatAreNumbersMayBeDynamic) {
  EXPECT_GT(kRegistered, 0U);
  for (const OpDef* op : ops::all_ops()) {
    for (const Attribute& attribute : op->attributes) {
      const bool constant = std::ranges::count(kOfTheFramework, op->name) > 0 ||
                            std::ranges::count(kOfShapes, op->name) > 0 ||
                            std::ranges::count(kConstants, std::pair(op->name, attribute.name)) > 0;
      EXPECT_NE(constant, may_be_dynamic(attribute)) << op->name << " " << attribute.name;
    }
  }
}

}  // namespace
}  // namespace reprise::testing
