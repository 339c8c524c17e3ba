// Calls of a random program that record.
#include <algorithm>

#include "tests/session/programs/pass.h"
#include "tests/session/programs/random_program.h"

namespace reprise::testing {
namespace {

const char* name_of(OpKind kind) {
  constexpr const char* kNames[] = {"add",      "mul",    "copy",   "get_rows",
                                    "set_rows", "argmax", "advance"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string text_of(const ParamModel& param) {
  return param.word ? "state." + std::string(kFields[*param.word]) : std::to_string(param.constant);
}

std::string text_of(const OperandModel& operand) {
  return (operand.buffer ? operand.buffer->name : "t" + std::to_string(operand.transient)) + "[" +
         std::to_string(operand.rows) + "]";
}

}  // namespace

void RandomProgram::input() {
  Session* session = pick_session();
  if (session == nullptr) {
    return;
  }
  const auto rows = static_cast<std::int64_t>(number(1, 4));
  const bool known = !session->body.inputs.empty() && chance(15);
  const std::string name = known ? session->body.inputs.begin()->first : fresh("x");
  Value value = random_rows(rows);
  const bool short_of_one = chance(30);
  if (short_of_one) {
    value.numbers.pop_back();
  }
  Tensor tensor;
  if (call(session->name + ".input(" + name + ", " + std::to_string(rows) + " rows)",
           Outcome()
               .unless(session->phase == Phase::recording)
               .unless(*session->running, ErrorCode::shut_down)
               .unless(!known)
               .unless(!short_of_one, ErrorCode::size_mismatch),
           [&] {
             tensor = session->real->input(name, {rows, kColumns}, value.numbers);
           })) {
    session->body.add_input(name, value);
    const std::size_t transient = session->body.inputs[name];
    if (session->memory) {
      session->memory->resize(transient + 1);
      session->memory->back() = std::move(value);
    }
    session->tensors.push_back(
        {std::move(tensor), {transient, nullptr, rows}, false, session->number});
  } else {
    failed(*session);
  }
}

RandomProgram::Transient RandomProgram::operand(Session& session, bool integers, bool one_row) {
  if (chance(60)) {
    return {};  // an empty tensor
  }
  std::vector<Transient*> own;
  Session& of = chance(40) ? *pick(sessions_) : session;
  for (Transient& tensor : of.tensors) {
    if (tensor.integers == integers) {
      own.push_back(&tensor);
    }
  }
  const auto is_long = [](const Transient* t) { return t->operand.rows != 1; };
  if (one_row && !std::ranges::all_of(own, is_long)) {
    std::erase_if(own, is_long);
  }
  if (!own.empty() && (integers || one_row || chance(2))) {
    return *own[number(0, own.size() - 1)];
  }
  Held* held = pick(tensors_);
  if (integers || held == nullptr) {
    return {};
  }
  return {held->real, {0, held->buffer, held->buffer->rows()}, false, 0};
}

ParamModel RandomProgram::random_param(bool has_state, std::int32_t low, std::int32_t high) {
  ParamModel param;
  param.constant =
      low + static_cast<std::int32_t>(number(0, static_cast<std::uint64_t>(high - low)));
  if (chance(has_state ? 2 : 50)) {
    constexpr StateWord kWords[] = {kRow, kPos, kLength};
    param.word = kWords[number(0, 2)];
  }
  return param;
}

void RandomProgram::random_attributes(OpModel& op, bool has_state) {
  if (op.kind == OpKind::set_rows) {
    op.param = random_param(has_state, -2, 5);
    op.window = chance(4) ? static_cast<std::int32_t>(number(0, 5)) : 0;
  } else if (op.kind == OpKind::get_row) {
    op.param = random_param(has_state, -1, 4);
  } else if (op.kind == OpKind::advance) {
    op.param.constant = static_cast<std::int32_t>(number(0, 2));
    if (has_state && chance(3)) {
      op.param.word = kRow;
    }
    op.end_token = static_cast<std::int32_t>(number(0, 6)) - 1;
  }
}

/// Advancing takes a state and the argmax of one row, so mostly what it lacks is called.
OpKind RandomProgram::towards_advance(const Session& session, OpKind otherwise) {
  const auto has = [&](bool integers) {
    return std::ranges::any_of(session.tensors, [&](const Transient& t) {
      return t.integers == integers && t.operand.rows == 1;
    });
  };
  const bool possible = session.state != nullptr && has(true);
  if (otherwise != OpKind::advance) {
    return possible && chance(4) ? OpKind::advance : otherwise;
  }
  if (possible || chance(12)) {
    return OpKind::advance;
  }
  return has(false) ? OpKind::argmax : OpKind::get_row;
}

void RandomProgram::op() {
  Session* session = pick_session();
  if (session == nullptr) {
    return;
  }
  OpModel op;
  op.kind = towards_advance(*session, static_cast<OpKind>(number(0, 6)));
  const bool one_row = op.kind == OpKind::advance || op.kind == OpKind::argmax;
  const Transient x = operand(*session, op.kind == OpKind::advance, one_row && !chance(8));
  const Transient y = operand(*session, false);
  op.x = x.operand;
  op.y = y.operand;
  if (op.kind == OpKind::set_rows && same_memory(op.x, op.y)) {
    return;  // values must not share memory with the table
  }
  random_attributes(op, session->state != nullptr);
  record(*session, op, x, y);
}

void RandomProgram::record(Session& session, OpModel op, const Transient& x, const Transient& y) {
  const bool two = takes_two(op.kind);
  Outcome outcome;
  outcome.unless(session.phase == Phase::recording);
  outcome.unless(*session.running, ErrorCode::shut_down);
  for (const Transient* t : {&x, &y}) {
    if (t == &y && !two) {
      break;
    }
    outcome.unless(static_cast<bool>(t->real));
    outcome.unless(t->session == 0 || t->session == session.number);
    outcome.unless(!t->operand.buffer || !t->operand.buffer->freed, ErrorCode::stale);
  }
  outcome.unless(session.state != nullptr || (!op.param.word && op.kind != OpKind::advance),
                 ErrorCode::unknown_name);
  outcome.unless(shapes_fit(op));
  const bool part = outcome.ok() && session.ops_per_submit != 0 &&
                    (session.ops + 1) % session.ops_per_submit == 0;
  if (part) {  // the operands are alive already
    outcome.unless(session.memory || session.state == nullptr || session.state->model.launches());
    outcome.unless(!session.stale(false), ErrorCode::stale);
  }
  Tensor result;
  if (!call(session.name + "." + name_of(op.kind) + "(" + text_of(op.x) +
                (two ? ", " + text_of(op.y) : "") + ", " + text_of(op.param) + ", window " +
                std::to_string(op.window) + ", end " + std::to_string(op.end_token) + ")",
            outcome, [&] { result = programs::call_op(*session.real, op, x.real, y.real); })) {
    failed(session);
    return;
  }
  if (result) {
    op.result = session.body.add_transient();
    const bool integers = op.kind == OpKind::argmax;
    const std::int64_t rows = op.kind == OpKind::get_row ? 1 : x.operand.rows;
    session.tensors.push_back({result, {op.result, nullptr, rows}, integers, session.number});
  }
  session.body.add_op(op);
  ++session.ops;
  if (part) {
    hand_over(session);
  }
  if (!session.tensors.empty() && chance(10)) {  // its memory may be used again
    session.tensors.erase(session.tensors.begin() +
                          static_cast<std::ptrdiff_t>(number(0, session.tensors.size() - 1)));
  }
}

void RandomProgram::output() {
  Session* session = pick_session();
  if (session == nullptr) {
    return;
  }
  const bool known = !session->body.outputs.empty() && chance(20);
  const std::string name = known ? session->body.outputs.begin()->first : fresh("y");
  const Transient tensor = operand(*session, chance(4));
  Outcome outcome;
  outcome.unless(session->phase == Phase::recording)
      .unless(*session->running, ErrorCode::shut_down);
  outcome.unless(!known).unless(static_cast<bool>(tensor.real));
  outcome.unless(tensor.session == 0 || tensor.session == session->number);
  outcome.unless(!tensor.operand.buffer || !tensor.operand.buffer->freed, ErrorCode::stale);
  if (call(session->name + ".output(" + name + ", " + text_of(tensor.operand) + ")", outcome,
           [&] { session->real->output(name, tensor.real); })) {
    session->body.add_output(name, tensor.operand);
    if (tensor.operand.buffer && session->recorded) {
      session->body.buffers.push_back(tensor.operand.buffer);
    }
  } else {
    failed(*session);
  }
}

}  // namespace reprise::testing
