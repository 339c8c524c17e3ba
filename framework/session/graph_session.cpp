#include "reprise/session/graph_session.h"

#include <array>

#include "framework/session/record/session.h"

namespace reprise {

GraphSession::GraphSession(std::unique_ptr<Session> session) : session_(std::move(session)) {
  owner_ = session_->builder().owner();
  session_->begin(*this);
}

GraphSession::~GraphSession() {
  try {
    session_->discard(reason());
  } catch (...) {  // NOLINT(bugprone-empty-catch): a destructor has nobody to tell
  }
}

void GraphSession::require_open() const {
  session_->core().require_running();
  if (session_->is_finished()) {
    throw_invalid_argument("The session '", session_->options().name,
                           "' is finished; begin another one.");
  }
}

Tensor GraphSession::input(std::string_view name, const Shape& shape, std::span<const float> values,
                           SourceLocation where) {
  return input(name, shape, DType::f32, std::as_bytes(values), where);
}

Tensor GraphSession::input(std::string_view name, const Shape& shape,
                           std::span<const std::int32_t> values, SourceLocation where) {
  return input(name, shape, DType::i32, std::as_bytes(values), where);
}

Tensor GraphSession::input(std::string_view name, const Shape& shape, DType dtype,
                           std::span<const std::byte> bytes, SourceLocation where) {
  return in_context("input", where,
                    [&] { return session_->input(name, TensorSpec(shape, dtype), bytes); });
}

Tensor GraphSession::input(std::string_view name, const Shape& shape, DType dtype,
                           SourceLocation where) {
  return in_context("input", where,
                    [&] { return session_->input(name, TensorSpec(shape, dtype)); });
}

Tensor GraphSession::param(std::string_view name, const Shape& shape, DType dtype,
                           SourceLocation where) {
  return in_context("param", where, [&] { return session_->param(name, shape, dtype); });
}

void GraphSession::output(std::string_view name, const Tensor& tensor, SourceLocation where) {
  in_context("output", where, [&] { session_->output(name, tensor); });
}

FinishResult GraphSession::finish(const FinishOptions& options) {
  return in_context("finish", {}, [&] { return session_->finish(*this, options); });
}

Ticket GraphSession::submit() {
  return in_context("submit", {}, [&] { return session_->submit(*this); });
}

void GraphSession::in_session(std::string_view what, const std::function<void(Session&)>& call) {
  in_context(what, {}, [&] { call(*session_); });
}

void GraphSession::note_failure(const Error& error) const noexcept {
  session_->core().device().backend().life().note(error);
}

std::string_view name_of(SessionPhase phase) {
  constexpr std::array<std::string_view, 3> kNames{"recording", "finished", "invalidated"};
  return kNames[static_cast<std::size_t>(phase)];
}

SessionStatus GraphSession::status() const {
  if (invalidated()) {
    return {SessionPhase::invalidated, failure().op, failure().label, reason(), failure().where};
  }
  return {session_->is_finished() ? SessionPhase::finished : SessionPhase::recording, op_count()};
}

void GraphSession::append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) {
  session_->append(call, outputs, current_scope_, arguments_unordered_, results);
}

Tensor GraphSession::find_block() { return session_->find_block(); }

Tensor GraphSession::find_array(std::string_view array) { return session_->find_array(array); }

StateField GraphSession::find_state(std::string_view field) const {
  return session_->find_state(field);
}

Extent GraphSession::find_extent(std::string_view field) const {
  return session_->find_extent(field);
}

std::string GraphSession::tensor_name(const TensorRecord& tensor) const {
  return session_->builder().tensor_name(tensor);
}

std::uint32_t GraphSession::open_scope(std::uint32_t outer, std::string_view name,
                                       std::int32_t index) {
  return session_->builder().graph().names.scope(outer, name, index);
}

std::string GraphSession::scope_path(std::uint32_t scope) const {
  // A finished recorded session gave its names away with its graph.
  return session_->is_finished() ? "" : session_->builder().graph().names.path(scope);
}

std::string_view GraphSession::session_name() const { return session_->options().name; }

std::uint32_t GraphSession::op_count() const { return session_->op_count(); }

}  // namespace reprise
