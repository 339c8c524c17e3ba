#include "reprise/core/recorder.h"

#include <algorithm>
#include <cassert>

#include "framework/core/op.h"
#include "framework/core/tensor_slab.h"

namespace reprise {
namespace {

std::string dtype_list(DTypeSet set) {
  std::string list;
  for (std::size_t d = 0; d < kDTypeCount; ++d) {
    if ((set >> d & 1U) != 0) {
      list += (list.empty() ? "" : ", ") + std::string(name_of(static_cast<DType>(d)));
    }
  }
  return list;
}

[[noreturn]] void no_state() { throw_invalid_argument("There is no state outside of sessions."); }

void check_blocks(const OpCall& call, std::size_t i) {
  const TensorSpec& spec = call.inputs[i].spec();
  const std::int64_t block = info_of(spec.dtype).block_elements;
  if (block > 1 && (spec.shape.back() % block != 0 || !spec.contiguous())) {
    throw_invalid_argument(call.op.name, " needs contiguous rows of whole blocks of ", block,
                           " elements, but ", describe(call, i),
                           spec.contiguous()
                               ? joined_text(" has rows of (", spec.shape.back(), ").")
                               : " is strided.");
  }
}

void check_layout(const OpCall& call, std::size_t i) {
  const Layout layout = call.op.operands[i].layout;
  const TensorSpec& spec = call.inputs[i].spec();
  if (call.op.view || has_layout(spec, layout)) {
    return;
  }
  throw_invalid_argument(
      call.op.name, " needs ",
      layout == Layout::rows ? "rows of neighbouring elements" : "a contiguous tensor", ", but ",
      describe(call, i), " is a strided view; call copy first.");
}

/// What the extent of the results has to be; throws for operands whose extents the op does not
/// take.
Extent extent_of(const OpCall& call) {
  Extent extent = 1;
  Extent result = 1;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorRef& t = call.inputs[i];
    if (!t || t.shape().fixed()) {
      continue;
    }
    const ExtentRule rule = call.op.extents;
    const bool vector = rule == ExtentRule::rows && t.shape().rank() == 1;
    if (!call.op.view && (rule == ExtentRule::none || vector)) {
      throw_invalid_argument(call.op.name, " takes no extent of the state",
                             vector ? " for a vector" : "", ", but ", describe(call, i),
                             " has one.");
    }
    const Extent own = t.shape().extent(0);
    if (!extent.fixed() && (own.word != extent.word || own.max != extent.max)) {
      throw_invalid_argument(call.op.name, " needs operands of one extent of the state, but ",
                             describe(call, i), " has another one than the operands before it.");
    }
    extent = own;
    result = rule == ExtentRule::indexed && i == 0 ? result : own;
  }
  return result;
}

Outputs infer(const OpCall& call) {
  const Extent extent = extent_of(call);
  Outputs outputs = call.op.infer(call);
  for (std::size_t r = 0; r < outputs.count; ++r) {
    const TensorSpec& result = outputs.specs[r];
    // A view's result is its operand's memory: it declares none.
    assert(r >= call.op.results.size() || holds(call.op.results[r].dtypes, result.dtype));
    if (result.shape.extent_word() != extent.word ||
        (!extent.fixed() && result.shape.dim(0) != extent.max)) {
      throw_invalid_argument(
          call.op.name,
          " needs its first operand to have the extent of the state that another one has.");
    }
  }
  return outputs;
}

}  // namespace

Scope Recorder::scope(std::string_view name, std::int32_t index) {
  const std::uint32_t outer = current_scope_;
  current_scope_ = open_scope(outer, name, index);
  return {*this, outer};
}

void Recorder::call(const OpCall& call, std::span<Tensor> results) {
  try {
    check_operands(call);
    arguments_unordered_ = unfinished_operands(call) > 1;
    append(call, infer(call), results);
  } catch (const Error& cause) {
    fail(call.op.name, call.where, cause);
  }
}

void Recorder::check_operands(const OpCall& call) const {
  require_usable();
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Operand& operand = call.op.operands[i];
    const TensorRef& t = call.inputs[i];
    if (!t) {
      if (!operand.optional) {
        refuse_empty(call.op, i);
      }
      continue;
    }
    if (t->slab->owner() != 0 && t->slab->owner() != owner_) {
      throw_invalid_argument(
          operand.name, " (", to_string(t.spec()),
          ") is a transient of another session; declare it there with output() and pass it "
          "here with input().");
    }
    if (!holds(operand.dtypes, t.dtype())) {
      throw_invalid_argument(call.op.name, " does not accept the dtype of ", describe(call, i),
                             "; allowed: ", dtype_list(operand.dtypes), ".");
    }
    check_blocks(call, i);
    check_layout(call, i);
  }
}

void Recorder::require_usable() const {
  if (invalidated()) {
    throw_invalid_argument("The session is invalidated: ", reason_);
  }
  require_open();
}

std::size_t Recorder::unfinished_operands(const OpCall& call) const {
  return static_cast<std::size_t>(std::ranges::count_if(call.inputs, [&](const TensorRef& input) {
    return input && std::ranges::count(unfinished_, &*input,
                                       &decltype(unfinished_)::value_type::second) != 0;
  }));
}

Tensor Recorder::call(const Site& site, const OpCall& call) {
  Tensor result;
  this->call(call, {&result, 1});
  if (!call.op.view || unfinished_operands(call) != 0) {  // other views record nothing
    unfinished_.emplace_back(&site, &*TensorRef(result));
    site.kept = true;
  }
  return result;
}

void Recorder::forget_unfinished(const Site& site) noexcept {
  std::erase_if(unfinished_, [&](const auto& of) { return of.first == &site; });
}

StateField Recorder::find_state(std::string_view /*field*/) const { no_state(); }
Extent Recorder::find_extent(std::string_view /*field*/) const { no_state(); }
Tensor Recorder::find_block() { no_state(); }
Tensor Recorder::find_array(std::string_view /*array*/) { no_state(); }

StateField Recorder::state(std::string_view field, SourceLocation where) {
  return in_context("state", where, [&] { return find_state(field); });
}

Extent Recorder::extent(std::string_view field, SourceLocation where) {
  return in_context("extent", where, [&] { return find_extent(field); });
}

Tensor Recorder::state_block(SourceLocation where) {
  return in_context("state_block", where, [&] { return find_block(); });
}

Tensor Recorder::state_array(std::string_view array, SourceLocation where) {
  return in_context("state_array", where, [&] { return find_array(array); });
}

void Recorder::fail(std::string_view what, SourceLocation where, const Error& cause) {
  const std::string path = scope_path(current_scope_);
  const std::string label = joined_text(what, path.empty() ? "" : " (" + path + ")");
  const std::string context =
      joined_text("(while recording '", session_name(), "' op ", op_count(), " ", label,
                  where.line == 0 ? "" : ", " + to_string(where), ")");
  const Error error(
      cause, context,
      {.op = op_count(), .scope = path, .where = where, .graph = std::string(session_name())});
  if (reason_.empty()) {
    reason_ = error.what();
    failure_ = {op_count(), label, where};
  }
  note_failure(error);
  throw error;
}

}  // namespace reprise
