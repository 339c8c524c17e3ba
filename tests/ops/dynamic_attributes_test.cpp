// Every attribute that may be dynamic, of every op: the same bits from a constant and from a field
// of the state, direct and recorded, and a replay that follows the field. The calls are those of
// the op's rows, with operands made contiguous.
#include <algorithm>

#include "framework/core/op.h"
#include "reprise/ops/op_named.h"
#include "tests/ops/op_calls.h"

namespace reprise::testing {
namespace {

/// A call as it is recorded: the operands it writes keep their first content at hand.
class Recorded {
 public:
  Recorded(const Device& device, GraphSession& session, const OpCallOfRow& call, std::uint64_t seed)
      : device_(device) {
    std::mt19937_64 rng(seed);
    std::vector<Tensor> operands(call.operands.size());
    std::vector<Tensor> outputs(call.op->results.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!call.operands[i]) {
        continue;
      }
      const TensorSpec& spec = *call.operands[i];
      const Bytes bytes = random_content(rng, spec);
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
    seed_ = test_seed();
    SCOPED_TRACE(seed_note(seed_));
    std::size_t tried = 0;
    constexpr std::size_t kEnough = 6;  // rows that depend on it: each may compile other kernels
    for (const OpCallOfRow& call : calls_of(op_)) {
      if (tried == kEnough) {
        break;
      }
      SCOPED_TRACE(call.row);
      tried += check(*device, call) ? 1U : 0U;
    }
    EXPECT_GT(tried, 0U) << "no row of the op depends on this attribute";
  }

 private:
  std::vector<Bytes> direct(const Device& device, const OpCallOfRow& call,
                            const StateBlock& state = {}) const {
    GraphExecutor executor(device);
    auto session = executor.begin({.state = state});
    const Recorded recorded(device, session, call, seed_);
    return recorded.read(session.finish());
  }

  /// False if no other value changes what the call does. That is looked for with the references,
  /// which compile no kernel for each value.
  bool check(const Device& device, const OpCallOfRow& call) const {
    const Device references = test_device("reference");
    const std::uint32_t value = value_and_word(call, attribute_).first;
    const std::vector<Bytes> expected = direct(references, call);
    for (const std::uint32_t other : other_values(attribute_, value)) {
      const OpCallOfRow changed = with(call, attribute_, other, StateField::kNone);
      try {
        if (direct(references, changed) == expected) {
          continue;
        }
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::invalid_argument) << e.what();
        continue;
      }
      compare(device, call, value, direct(device, call), other, direct(device, changed));
      return true;
    }
    return false;
  }

  void compare(const Device& device, const OpCallOfRow& call, std::uint32_t value,
               const std::vector<Bytes>& expected, std::uint32_t other,
               const std::vector<Bytes>& changed) const {
    const StateBlock state = state_of(device, value);
    const OpCallOfRow dynamic = with(call, attribute_, 0, 1);
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

const std::size_t kRegisteredAttributes = [] {
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
  for (const OpDef* op : library_ops()) {
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
    {"attention", "has_past"},
    {"copy", "dtype"},
    {"expert_check", "first"},
    {"expert_check", "stop"},
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
  EXPECT_GT(kRegisteredAttributes, 0U);
  for (const OpDef* op : library_ops()) {
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
