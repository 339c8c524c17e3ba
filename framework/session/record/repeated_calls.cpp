#include "framework/session/record/repeated_calls.h"

#include <algorithm>
#include <cstring>

#include "framework/core/custom_op.h"
#include "framework/ops/host_step_def.h"

namespace reprise {
namespace {

bool lives_in_state(const OpCall& call) {
  return std::ranges::any_of(call.op.attributes, [&](const Attribute& a) {
    const bool param = a.type == AttributeType::param_i32 || a.type == AttributeType::param_f32;
    std::uint32_t word = StateField::kNone;
    if (param) {
      std::memcpy(&word, call.attributes.data() + a.offset + offsetof(Param<float>, word),
                  sizeof word);
    }
    return word != StateField::kNone;
  });
}

[[noreturn]] void throw_not_repeatable(const OpCall& call, std::string_view why) {
  throw_error(ErrorCode::unsupported, "The CPU computes what experts miss, but cannot repeat (",
              call.op.name, "): it ", why, "; call it outside of the experts, or upload misses.");
}

void require_repeatable(const OpCall& call) {
  if (&call.op == &ops::host_step_def) {
    throw_not_repeatable(call, "is a host step");
  }
  if (custom_op(call.op) != nullptr) {
    throw_not_repeatable(call, "is a kernel of the caller's");
  }
  if (lives_in_state(call)) {
    throw_not_repeatable(call, "is called with a field of the state");
  }
}

}  // namespace

std::optional<RepeatedCalls::Number> RepeatedCalls::find(const TensorRef& tensor) const {
  const auto it =
      std::ranges::find_if(tensors_, [&](const Tensor& t) { return &*TensorRef(t) == &*tensor; });
  if (it == tensors_.end()) {
    return {};
  }
  return static_cast<Number>(it - tensors_.begin());
}

RepeatedCalls::Number RepeatedCalls::number_of(const TensorRef& tensor) {
  if (const auto known = find(tensor)) {
    return *known;
  }
  tensors_.push_back(tensor.own());
  return tensors_.size() - 1;
}

void RepeatedCalls::add(const OpCall& call, std::span<const Tensor> results) {
  require_repeatable(call);
  Call& added =
      calls_.emplace_back(Call{&call.op, {}, {call.attributes.begin(), call.attributes.end()}, {}});
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorRef& input = call.inputs[i];
    if (!input) {
      added.inputs.emplace_back();
      continue;
    }
    const std::size_t known = tensors_.size();
    added.inputs.emplace_back(number_of(input));
    if (tensors_.size() > known) {
      given_.push_back(known);
    }
    // What is given is read behind all calls, when this one has written it already.
    if (call.op.operands[i].access != Access::read && !makes(input)) {
      throw_not_repeatable(call, "writes a tensor that was made outside");
    }
  }
  for (const Tensor& result : results) {
    added.results.push_back(number_of(result));
  }
}

std::vector<Tensor> RepeatedCalls::given() const {
  std::vector<Tensor> given;
  std::ranges::transform(given_, std::back_inserter(given),
                         [&](Number number) { return tensors_[number]; });
  return given;
}

bool RepeatedCalls::makes(const TensorRef& tensor) const {
  const auto number = find(tensor);
  return number && std::ranges::find(given_, *number) == given_.end();
}

void RepeatedCalls::end(const TensorRef& result) {
  result_ = number_of(result);
  count_ = tensors_.size();
  tensors_.clear();
}

Tensor RepeatedCalls::replay(Recorder& recorder, const std::vector<Tensor>& given) const {
  std::vector<Tensor> tensors(count_);
  for (std::size_t i = 0; i < given_.size(); ++i) {
    tensors[given_[i]] = given[i];
  }
  for (const Call& call : calls_) {
    std::vector<TensorRef> inputs;
    for (const std::optional<Number>& input : call.inputs) {
      inputs.push_back(input ? TensorRef(tensors[*input]) : TensorRef());
    }
    std::vector<Tensor> results(call.results.size());
    recorder.call(OpCall{recorder, *call.op, inputs, call.attributes, SourceLocation::here()},
                  results);
    for (std::size_t i = 0; i < results.size(); ++i) {
      tensors[call.results[i]] = std::move(results[i]);
    }
  }
  return tensors[result_];
}

}  // namespace reprise
