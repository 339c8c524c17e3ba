// Every op and every operand that takes an extent, as the calls of the op's rows try them out: a
// graph that ran with all rows of its bucket, then runs with a few while NaN lies behind them, and
// a direct session, against the reference over these rows alone.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "framework/core/op.h"
#include "reprise/ops/copy.h"
#include "reprise/ops/op_named.h"
#include "tests/ops/kernel_devices.h"
#include "tests/ops/op_calls.h"
#include "tests/ops/poisoned_arena.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kBucket = 9;
constexpr std::int64_t kRowCounts[] = {2, 7};
constexpr double kLimit = 1e-4;  // a row too many or too few is far above it
constexpr double kLow = 0.5;     // of operands: what divides and sums up stays well-conditioned

/// A call some of whose operands have the extent, by bits.
struct Form {
  OpCallOfRow call;
  std::uint32_t with_extent;
  bool from_state = false;  // its numbers are fields of the state beside the rows
  bool has(std::size_t operand) const { return (with_extent >> operand & 1U) != 0; }
};

/// The operands with so many rows; repeat says in its attributes what its result has.
Form resized(OpCallOfRow call, std::uint32_t with_extent, bool from_state) {
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if ((with_extent >> i & 1U) != 0) {
      call.operands[i] =
          TensorSpec(call.operands[i]->shape.with_front(kBucket), call.operands[i]->dtype);
    }
  }
  const auto set = [&](std::string_view name, std::int32_t value) {
    const auto found = std::ranges::find(call.op->attributes, name, &Attribute::name);
    if (found != call.op->attributes.end()) {
      std::memcpy(call.attributes.data() + found->offset, &value, sizeof(value));
    }
  };
  if (std::ranges::count(call.op->attributes, "extent", &Attribute::name) > 0) {
    set("extent", 0);
    set("dim0", kBucket);
  }
  return {std::move(call), with_extent, from_state};
}

/// One form over one state block: a field counts the rows, others are numbers of the call. Without
/// a seed its values are zeros, which take no time.
class Runs {
 public:
  Runs(const Device& device, const Form& form, std::optional<std::uint64_t> seed)
      : device_(device), form_(form), executor_(device), state_(device, layout(form)) {
    std::mt19937_64 rng(seed.value_or(0));
    for (const auto& spec : form.call.operands) {
      content_.push_back(!spec  ? Bytes()
                         : seed ? random_content(rng, *spec, kLow)
                                : Bytes(spec->bytes()));
    }
  }

  /// Throws invalid_argument if the op does not take it so.
  CapturedGraph graph() {
    auto session = executor_.begin_recorded({.state = state_, .extents = {{"rows", kBucket}}});
    record(session, kBucket);
    tables_ = written_;
    return session.finish({.run = false, .pool = pool_}).graph;
  }
  std::vector<Bytes> direct(std::int64_t rows) {
    state_.set("rows", static_cast<std::int32_t>(rows));
    auto session = executor_.begin({.state = state_, .extents = {{"rows", kBucket}}});
    record(session, rows);
    const FinishResult result = session.finish();
    return read(result);
  }
  std::vector<Bytes> replay(CapturedGraph& graph, std::int64_t rows, std::int64_t poisoned_from) {
    state_.set("rows", static_cast<std::int32_t>(rows));
    PoisonedArena(device_, pool_, graph).poison();
    for (std::size_t i = 0; i < content_.size(); ++i) {
      if (form_.has(i)) {
        Bytes bytes = first_rows(i, rows);
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(
                                      std::min(bytes.size(), first_rows(i, poisoned_from).size())),
                  bytes.end(), std::byte{0xFF});
        graph.set_input(name(i), form_.call.operands[i]->dtype, bytes);
      }
    }
    for (const auto& [tensor, operand] : tables_) {
      const TensorRef ref(tensor);
      device_.write(ref->buffer, ref->offset, content_[operand]);
    }
    graph.launch();
    return read(graph);
  }

  /// What the op means, over these rows alone.
  std::vector<Bytes> expected(std::int64_t rows) const {
    const OpDef& op = *form_.call.op;
    std::vector<Bytes> bytes;
    std::vector<TensorSpec> specs;
    for (std::size_t i = 0; i < content_.size(); ++i) {
      specs.push_back(!form_.call.operands[i] ? TensorSpec()
                      : form_.has(i)          ? spec_of(*form_.call.operands[i], rows)
                                              : *form_.call.operands[i]);
      bytes.push_back(form_.has(i) ? first_rows(i, rows) : content_[i]);
    }
    for (const TensorSpec& result : results_) {
      specs.push_back(result.shape.fixed() ? result : spec_of(result, rows));
      bytes.emplace_back(specs.back().bytes());
    }
    std::vector<HostTensor> tensors;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const bool absent = i < content_.size() && !form_.call.operands[i];
      tensors.push_back(absent ? HostTensor{} : HostTensor{bytes[i].data(), &specs[i]});
    }
    op.reference({op, tensors, form_.call.attributes, nullptr});
    std::vector<Bytes> outputs(bytes.begin() + static_cast<std::ptrdiff_t>(content_.size()),
                               bytes.end());
    for (std::size_t i = 0; i < content_.size(); ++i) {
      if (writes(op.operands[i].access) && form_.call.operands[i]) {
        outputs.push_back(bytes[i]);
      }
    }
    return outputs;
  }
  DType dtype(std::size_t output) const { return dtypes_[output]; }

 private:
  static StateLayout layout(const Form& form) {
    StateLayout layout = StateLayout().host("rows", kBucket);
    for (const Attribute& attribute : form.call.op->attributes) {
      if (form.from_state && may_be_dynamic(attribute)) {
        const std::uint32_t value = value_and_word(form.call, attribute).first;
        if (attribute.type == AttributeType::param_f32) {
          layout.host_f32(std::string(attribute.name), std::bit_cast<float>(value));
        } else {
          layout.host(std::string(attribute.name), std::bit_cast<std::int32_t>(value));
        }
      }
    }
    return layout;
  }
  /// Of the call as it is recorded.
  Bytes attributes() const {
    OpCallOfRow call = form_.call;
    for (const Attribute& attribute : call.op->attributes) {
      if (form_.from_state && may_be_dynamic(attribute)) {
        call = with(call, attribute, value_and_word(call, attribute).first,
                    state_.layout().find(attribute.name)->word);
      }
    }
    return call.attributes;
  }
  static std::string name(std::size_t operand) { return "in" + std::to_string(operand); }
  static TensorSpec spec_of(const TensorSpec& spec, std::int64_t rows) {
    return {spec.shape.with_front(rows), spec.dtype};
  }
  Bytes first_rows(std::size_t operand, std::int64_t rows) const {
    const TensorSpec& spec = *form_.call.operands[operand];
    return {content_[operand].begin(),
            content_[operand].begin() + static_cast<std::ptrdiff_t>(spec_of(spec, rows).bytes())};
  }

  void record(GraphSession& s, std::int64_t rows) {
    const OpDef& op = *form_.call.op;
    std::vector<Tensor> operands(content_.size());
    std::vector<Tensor> written;
    written_.clear();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!form_.call.operands[i]) {
        continue;
      }
      const TensorSpec& spec = *form_.call.operands[i];
      const bool is_written = writes(op.operands[i].access);
      if (form_.has(i)) {
        const Shape shape = spec.shape.with_extent(s.extent("rows").word);
        operands[i] = s.input(name(i), shape, spec.dtype, first_rows(i, rows));
        operands[i] = is_written ? copy(s, operands[i]) : operands[i];
      } else if (is_written) {
        operands[i] = device_.from_host(spec.shape, spec.dtype, content_[i], name(i));
        written_.emplace_back(operands[i], i);
      } else {
        operands[i] = s.input(name(i), spec.shape, spec.dtype, content_[i]);
      }
      if (is_written) {
        written.push_back(operands[i]);
      }
    }
    const std::vector<TensorRef> refs(operands.begin(), operands.end());
    std::vector<Tensor> outputs(op.results.size());
    const Bytes attributes = this->attributes();
    s.call({s, op, refs, attributes, {}}, outputs);
    std::erase_if(outputs, [](const Tensor& t) { return !t; });
    results_.clear();
    for (const Tensor& t : outputs) {
      results_.push_back(t.spec());
    }
    outputs.insert(outputs.end(), written.begin(), written.end());
    dtypes_.clear();
    for (const Tensor& t : outputs) {
      s.output("out" + std::to_string(dtypes_.size()), t);
      dtypes_.push_back(t.dtype());
    }
  }
  template <class Readable>
  std::vector<Bytes> read(const Readable& from) const {
    std::vector<Bytes> all;
    for (std::size_t i = 0; i < dtypes_.size(); ++i) {
      all.push_back(from.template read<std::byte>("out" + std::to_string(i)));
    }
    return all;
  }

  const Device& device_;
  const Form& form_;
  GraphExecutor executor_;
  CapturePool pool_{device_};
  StateBlock state_;
  std::vector<Bytes> content_;  // by operand
  // Tensors of the device that the last session writes, and the graph; with their operands.
  std::vector<std::pair<Tensor, std::size_t>> written_, tables_;
  std::vector<TensorSpec> results_;
  std::vector<DType> dtypes_;  // by output
};

bool is_taken(const Device& device, const Form& form) {
  try {
    (void)Runs(device, form, std::nullopt).graph();
    return true;
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == ErrorCode::invalid_argument || e.code() == ErrorCode::unsupported)
        << e.what();
    return false;
  }
}

/// What makes forms different enough for both to be run: which operands have the extent, whether
/// vectors of four can be loaded, whether numbers come from the state; of ops that read so many
/// rows of a table, also the dtypes and which attributes are set. Each form may compile a kernel,
/// which is what the time goes to.
std::string kind_of(const Form& form) {
  const OpDef& op = *form.call.op;
  std::string more = form.from_state ? " from the state" : "";
  if (!op.used_rows.empty()) {
    for (const auto& operand : form.call.operands) {
      more += operand ? " " + std::string(name_of(operand->dtype)) : "";
    }
    for (const Attribute& attribute : op.attributes) {
      const auto from = form.call.attributes.begin() + attribute.offset;
      more += std::all_of(from, from + static_cast<std::ptrdiff_t>(size_of(attribute.type)),
                          [](std::byte b) { return b == std::byte{0}; })
                  ? " -"
                  : " +";
    }
  }
  const bool fours = std::ranges::all_of(form.call.operands, [](const auto& operand) {
    return !operand || operand->shape.back() % 4 == 0;
  });
  return std::to_string(form.with_extent) + (fours ? " fours" : "") + more;
}

std::int64_t elements_of(const OpCallOfRow& call) {
  std::int64_t elements = 0;
  for (const auto& operand : call.operands) {
    elements += operand ? operand->shape.elements() : 0;
  }
  return elements;
}

/// The smallest one of each kind that the op takes. They are found once for all devices.
const std::vector<Form>& forms_of(const OpDef& op) {
  static std::map<std::string_view, std::vector<Form>> known_forms;
  const auto [found, fresh] = known_forms.try_emplace(op.name);
  if (!fresh) {
    return found->second;
  }
  std::vector<Form>& forms = found->second;
  const Device device = test_device("reference");
  std::vector<OpCallOfRow> calls = calls_of(op);
  std::ranges::stable_sort(calls, {}, elements_of);
  std::set<std::string> known;
  for (const OpCallOfRow& call : calls) {
    std::uint32_t present = 0;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      present |= call.operands[i] ? 1U << i : 0U;
    }
    for (std::uint32_t mask = 1; mask <= present; ++mask) {
      if ((mask & ~present) != 0) {
        continue;
      }
      for (const bool from_state : {false, true}) {
        Form form = resized(call, mask, from_state);
        const bool has_numbers = std::ranges::any_of(op.attributes, may_be_dynamic);
        if ((has_numbers || !from_state) && !known.contains(kind_of(form)) &&
            is_taken(device, form)) {
          known.insert(kind_of(form));
          forms.push_back(std::move(form));
        }
      }
    }
  }
  return forms;
}

void expect_close(const Runs& runs, const std::vector<Bytes>& expected,
                  const std::vector<Bytes>& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].size(), actual[i].size()) << "output " << i;
    const DType dtype = runs.dtype(i);
    if (dtype == DType::i32 || dtype == DType::i64) {
      EXPECT_TRUE(expected[i] == actual[i]) << "output " << i;
      continue;
    }
    std::vector<double> e = to_doubles(dtype, expected[i]), a = to_doubles(dtype, actual[i]);
    for (std::size_t n = 0; n < e.size(); ++n) {
      ASSERT_EQ(std::isnan(e[n]), std::isnan(a[n])) << "output " << i << ", element " << n;
      e[n] = std::isnan(e[n]) ? 0 : e[n];
      a[n] = std::isnan(a[n]) ? 0 : a[n];
    }
    EXPECT_LE(nmse(e, a), kLimit) << "output " << i;
  }
}

class ExtentOperands : public ::testing::Test {
 public:
  ExtentOperands(const OpDef& op, std::string device, std::optional<KernelFamily> kernels)
      : op_(op), name_(std::move(device)), kernels_(kernels) {}

  void TestBody() override {
    const std::optional<Device> device = device_with(name_, kernels_);
    if (!device) {
      GTEST_SKIP() << "This device cannot run these kernels.";
    }
    const ExpectNoValidationMessages quiet;
    const std::uint64_t seed = test_seed();
    SCOPED_TRACE(seed_note(seed));
    const std::vector<Form>& forms = forms_of(op_);
    EXPECT_FALSE(forms.empty()) << op_.name << " takes extents, but no row of it can have one.";
    for (const Form& form : forms) {
      std::string operands;
      for (std::size_t i = 0; i < op_.operands.size(); ++i) {
        operands += form.has(i) ? " " + std::string(op_.operands[i].name) : "";
      }
      SCOPED_TRACE("row " + form.call.row + " with an extent of" + operands +
                   (form.from_state ? ", numbers from the state" : ""));
      Runs runs(*device, form, seed);
      CapturedGraph graph = runs.graph();
      for (const std::int64_t rows : kRowCounts) {
        SCOPED_TRACE(std::to_string(rows) + " rows");
        (void)runs.replay(graph, kBucket, rows);
        const std::vector<Bytes> replayed = runs.replay(graph, rows, rows);
        expect_close(runs, runs.expected(rows), replayed);
        EXPECT_TRUE(replayed == runs.direct(rows)) << "direct and replayed outputs differ";
      }
    }
  }

 private:
  const OpDef& op_;
  std::string name_;
  std::optional<KernelFamily> kernels_;
};

const std::size_t kRegisteredExtents = [] {
  std::size_t count = 0;
  const auto add = [&](const OpDef& op, const std::string& device,
                       std::optional<KernelFamily> kernels) {
    const std::string name = device + (kernels ? "_" + std::string(name_of(*kernels)) : "");
    ::testing::RegisterTest(("ExtentOperands_" + std::string(op.name)).c_str(), name.c_str(),
                            nullptr, nullptr, __FILE__, __LINE__,
                            [&op, device, kernels]() -> ExtentOperands* {
                              return new ExtentOperands(op, device, kernels);
                            });
    ++count;
  };
  for (const OpDef* op : library_ops()) {
    if (op->extents == ExtentRule::none) {
      continue;
    }
    add(*op, "cpu", std::nullopt);
    add(*op, "reference", std::nullopt);
    for (const KernelFamily family :
         {KernelFamily::portable, KernelFamily::lanes, KernelFamily::gpu}) {
      add(*op, "vulkan", family);
    }
  }
  return count;
}();

TEST(ExtentsOfOps, AreRegistered) { EXPECT_GT(kRegisteredExtents, 0U); }

}  // namespace
}  // namespace reprise::testing
