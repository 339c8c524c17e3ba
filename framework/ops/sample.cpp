#include "reprise/ops/sample.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/core/float_key.h"
#include "framework/core/philox.h"
#include "framework/core/record.h"
#include "framework/core/sample_arithmetic.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

// What is recorded: the recent tokens become an operand.
struct Form {
  Param<float> temperature;
  Param<std::int32_t> top_k;
  Param<float> top_p;
  Param<float> min_p;
  Param<float> repetition_penalty;
  Param<std::int32_t> seed;
  Param<std::int32_t> position;
};

constexpr Operand kOperands[] = {
    {"logits", Access::read, accepts({DType::f32}), false, Layout::rows},
    {"recent", Access::read, accepts({DType::i32}), true}};
constexpr Operand kResults[] = {{"tokens", Access::write, accepts({DType::i32})}};
constexpr Attribute kAttributes[] = {
    {"temperature", AttributeType::param_f32, offsetof(Form, temperature)},
    {"top_k", AttributeType::param_i32, offsetof(Form, top_k)},
    {"top_p", AttributeType::param_f32, offsetof(Form, top_p)},
    {"min_p", AttributeType::param_f32, offsetof(Form, min_p)},
    {"repetition_penalty", AttributeType::param_f32, offsetof(Form, repetition_penalty)},
    {"seed", AttributeType::param_i32, offsetof(Form, seed)},
    {"position", AttributeType::param_i32, offsetof(Form, position)}};
constexpr std::string_view kShaders[] = {"sample"};

// Mirrors the push block of shaders/sample.comp.
struct Push {
  std::uint32_t rows;
  std::uint32_t tokens;
  std::uint32_t logits_offset;
  std::uint32_t logits_stride;
  std::uint32_t recent_offset;
  std::uint32_t recent_stride;
  std::uint32_t recent_count;
  Form form;
};

void require_range(const OpCall& call, std::string_view name, const Param<float>& param, float low,
                   float high) {
  const float value = param.value;
  if (!param.dynamic() && !(value >= low && value <= high)) {
    throw_invalid_argument(call.op.name, " needs a ", name, " from ", low, " to ", high,
                           ", but got (", value, ").");
  }
}

Outputs infer(const OpCall& call) {
  require_rank(call, 0, 2);
  const Shape& logits = call.inputs[0].shape();
  if (logits.back() < 1 || logits.back() > kMaxSampledTokens) {
    throw_invalid_argument("sample needs 1 to ", kMaxSampledTokens, " tokens per row, but ",
                           describe(call, 0), " has (", logits.back(), ").");
  }
  if (call.inputs[1]) {
    const Shape& recent = call.inputs[1].shape();
    require_pair(recent.rank() == 1 || (recent.rank() == 2 && recent.dim(0) == logits.dim(0)), call,
                 "recent tokens of all rows [n] or of each [rows, n]", 0, 1);
  }
  const Form& form = call.as<Form>();
  require_range(call, "temperature", form.temperature, 0, kLargestDivisor);
  require_range(call, "top_p", form.top_p, 0, 1);
  require_range(call, "min_p", form.min_p, 0, 1);
  require_range(call, "repetition_penalty", form.repetition_penalty, kSmallestDivisor,
                kLargestDivisor);
  return TensorSpec{Shape({logits.dim(0)}).with_extent(logits.extent_word()), DType::i32};
}

/// One row, filter after filter.
class Row {
 public:
  Row(std::span<const float> logits, std::span<const std::int32_t> recent,
      const SampleFilters& filters)
      : filters_(filters), logits_(logits.begin(), logits.end()) {
    penalise(logits, recent);
    for (const float logit : logits_) {
      keys_.push_back(key_of(logit));
    }
    best_ = static_cast<std::size_t>(std::ranges::max_element(keys_) - keys_.begin());
  }

  std::int32_t choose(std::uint32_t word) {
    if (filters_.greedy || keys_[best_] == 0) {
      return static_cast<std::int32_t>(best_);
    }
    std::vector<std::uint32_t> weights(logits_.size());
    std::uint64_t total = 0;
    for (const std::size_t token : kept()) {
      weights[token] = weight(token, filters_.coldness);
      total += weights[token];
    }
    const std::uint64_t draw = drawn(total, word);
    std::uint64_t sum = weights[0];
    std::size_t token = 0;
    while (sum <= draw) {
      sum += weights[++token];
    }
    return static_cast<std::int32_t>(token);
  }

 private:
  void penalise(std::span<const float> logits, std::span<const std::int32_t> recent) {
    if (filters_.penalty == 1) {
      return;
    }
    for (const std::int32_t id : recent) {
      const auto token = static_cast<std::size_t>(id);
      if (id >= 0 && token < logits.size() && std::isfinite(logits[token])) {
        logits_[token] = filters_.penalised(logits[token]);
      }
    }
  }

  std::uint32_t weight(std::size_t token, float coldness) const {
    if (keys_[token] == keys_[best_]) {
      return kCertain;
    }
    if (!std::isfinite(logits_[token]) || !std::isfinite(logits_[best_])) {
      return 0;
    }
    const float below = logits_[token] - logits_[best_];
    return weight_of(below * coldness);
  }

  std::vector<std::size_t> kept() const {
    std::vector<std::size_t> tokens;
    for (std::size_t token = 0; token < keys_.size(); ++token) {
      if (keys_[token] > 0) {
        tokens.push_back(token);
      }
    }
    const bool cuts_k = filters_.top_k > 0 && filters_.top_k < tokens.size();
    if (cuts_k || filters_.top_p < SampleFilters::kWhole) {
      std::ranges::stable_sort(tokens, std::greater<>(),
                               [this](std::size_t t) { return keys_[t]; });
    }
    tokens.resize(cuts_k ? filters_.top_k : tokens.size());
    if (filters_.top_p < SampleFilters::kWhole) {
      keep_likely(tokens);
    }
    std::erase_if(tokens, [this](std::size_t t) { return weight(t, 1) < filters_.min_weight; });
    return tokens;
  }

  void keep_likely(std::vector<std::size_t>& tokens) const {
    std::uint64_t total = 0;
    for (const std::size_t token : tokens) {
      total += weight(token, 1);
    }
    const std::uint64_t wanted = std::max<std::uint64_t>(share_of(total, filters_.top_p), 1);
    std::uint64_t sum = 0;
    std::size_t count = 0;
    while (sum < wanted) {
      sum += weight(tokens[count++], 1);
    }
    tokens.resize(count);
  }

  const SampleFilters& filters_;
  std::vector<float> logits_;
  std::vector<std::uint32_t> keys_;
  std::size_t best_ = 0;
};

void reference(const HostCall& call) {
  const HostTensor& logits = call.tensors[0];
  const HostTensor& recent = call.tensors[1];
  const Form& form = call.as<Form>();
  const SampleFilters filters(call.value(form.temperature), call.value(form.top_k),
                              call.value(form.top_p), call.value(form.min_p),
                              call.value(form.repetition_penalty));
  const auto seed = static_cast<std::uint32_t>(call.value(form.seed));
  const auto position = static_cast<std::uint32_t>(call.value(form.position));
  auto* tokens = elements_of<std::int32_t>(call.tensors[2]);
  for (std::int64_t r = 0; r < logits.shape().dim(0); ++r) {
    const std::span row(elements_of<const float>(logits) + logits.row(0, 0, r),
                        static_cast<std::size_t>(logits.shape().back()));
    std::span<const std::int32_t> used;
    if (recent) {
      used = {elements_of<const std::int32_t>(recent) +
                  (recent.shape().rank() == 2 ? recent.row(0, 0, r) : 0),
              static_cast<std::size_t>(recent.shape().back())};
    }
    const PhiloxCounter words =
        philox4x32({position, static_cast<std::uint32_t>(r), 0, 0}, {seed, 0});
    *tokens++ = Row(row, used, filters).choose(words[0]);
  }
}

constexpr std::int64_t kUnrolled = 4;  // mirrors EACH_TOKEN of the shader

/// Turns of the loops that find recent tokens, by the busiest invocation. Each of 11 passes asks
/// for all its tokens, one turn each at least. Where tokens share flags, one whose flag is set
/// reads all that are recent, by eights; the invocations that a driver runs together read at once.
std::int64_t turns_of_recent(std::int64_t tokens, std::int64_t count, std::int64_t local) {
  constexpr std::int64_t kPasses = 11;
  constexpr std::int64_t kFlags = 32768;  // mirrors kFlagWords of the shader
  constexpr std::int64_t kReadAtOnce = 8;
  const std::int64_t own = kUnrolled * (tokens / (kUnrolled * local) + 1);
  const std::int64_t share = (tokens + kFlags - 1) / kFlags;
  const std::int64_t flagged = share == 1 ? 0 : std::min(own, std::min(count, kFlags) * share);
  return count == 0 ? 0 : kPasses * (own + flagged * ((count + kReadAtOnce - 1) / kReadAtOnce));
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  constexpr std::uint32_t kMaxInvocations = 512;  // shared memory
  constexpr std::int64_t kElementsPerInvocation = 4;
  const BoundTensor& logits = call.tensors[0];
  const BoundTensor& recent = call.tensors[1];
  indexable_elements(logits);
  const std::int64_t tokens = logits.shape().back();
  const std::uint32_t local = group_size(tokens / kElementsPerInvocation, kMaxInvocations, traits);
  const std::int64_t count = recent ? recent.shape().back() : 0;
  // 9 passes by turns, 2 over a part, the search of a digit, the sums of all invocations.
  constexpr std::int64_t kOfDigits = 8 * 128;
  require_loop_limit(call, traits,
                     9 * (tokens / (kUnrolled * local) + 1) + 2 * (tokens / local + 1) + local +
                         kOfDigits + count / local + turns_of_recent(tokens, count, local),
                     tokens);
  const View view = view_of(logits, traits);
  const View recent_view = view_of(recent, traits);
  const Push push{word(logits.shape().dim(0)),
                  word(tokens),
                  view.offset,
                  view.strides[2],
                  recent_view.offset,
                  recent && recent.shape().rank() == 2 ? recent_view.strides[2] : 0,
                  word(count),
                  call.as<Form>()};
  steps.dispatch(call, traits, {kShaders[0], {local}, 1},
                 grid_of(logits.shape(), logits.shape().dim(0)), push);
}

}  // namespace

extern const OpDef sample_def;
const OpDef sample_def{
    .name = "sample",
    .family = OpFamily::sampling,
    .operands = kOperands,
    .results = kResults,
    .attributes = kAttributes,
    .push_bytes = sizeof(Push),
    .shaders = kShaders,
    .infer = infer,
    .cost = cost_per_element<100>,  // each pass of the shader over a row computes a weight
    .reference = reference,
    .lower = lower,
    .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor sample(Site site, TensorRef logits, SampleAttributes a) {
  const ops::Form form{a.temperature,        a.top_k, a.top_p,   a.min_p,
                       a.repetition_penalty, a.seed,  a.position};
  return record(site, ops::sample_def, {logits, a.recent}, form);
}

}  // namespace reprise
