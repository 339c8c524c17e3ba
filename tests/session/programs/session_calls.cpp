// Calls of a random program that record.
#include <algorithm>

#include "tests/session/programs/random_program.h"

namespace reprise::testing {
namespace {

const char* name_of(OpKind kind) {
  constexpr const char* kNames[] = {"add",      "mul",    "copy",   "get_rows",
                                    "set_rows", "argmax", "advance"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string text_of(const ParamModel& param) {
  constexpr const char* kFields[] = {"row", "pos", "token", "done", "length"};
  return param.word ? "state." + std::string(kFields[*param.word]) : std::to_string(param.constant);
}

std::string text_of(const OperandModel& operand) {
  return (operand.buffer ? operand.buffer->name : "t" + std::to_string(operand.transient)) + "[" +
         std::to_string(operand.rows) + "]";
}

}  // namespace

bool RandomProgram::Session::stale(bool with_outputs) const {
  const auto freed = [](const BufferRef& buffer) { return buffer && buffer->freed; };
  return std::any_of(body.buffers.begin() + static_cast<std::ptrdiff_t>(buffers_handed_over),
                     body.buffers.end(), freed) ||
         (with_outputs && std::ranges::any_of(body.outputs, [&](const auto& output) {
            return freed(output.second.buffer);
          }));
}

RandomProgram::Session* RandomProgram::pick_session() {
  std::vector<Session*> usable;
  for (Session& session : sessions_) {
    if (session.usable()) {
      usable.push_back(&session);
    }
  }
  return usable.empty() || chance(12) ? pick(sessions_) : usable[number(0, usable.size() - 1)];
}

void RandomProgram::begin() {
  if (executors_.empty() || sessions_.size() >= 5) {
    return;
  }
  Session session;
  session.number = ++names_;
  session.recorded = !chance(3);
  session.name = (session.recorded ? "recorded" : "direct") + std::to_string(session.number);
  session.state = chance(3) ? nullptr : states_[number(0, states_.size() - 1)];
  const bool iterates = session.recorded && session.state != nullptr;
  session.max_iterations = chance(iterates ? 2 : 20) ? static_cast<std::uint32_t>(number(2, 4))
                           : chance(40)              ? 0
                                                     : 1;
  session.ops_per_submit =
      !session.recorded && chance(2) ? static_cast<std::uint32_t>(number(1, 3)) : 0;
  Executor& of = *pick(executors_);
  GraphExecutor& executor = of.real;
  session.running = of.running;
  SessionOptions options{.name = session.name,
                         .max_iterations = session.max_iterations,
                         .ops_per_submit = session.ops_per_submit};
  if (session.state != nullptr) {
    options.state = session.state->real;
    session.ops = 1;  // what patches the fields
  }
  const bool first_part = session.ops != 0 && session.ops_per_submit == 1;
  Outcome outcome;
  outcome.unless(*of.running);
  outcome.unless(session.max_iterations == 1 || (iterates && session.max_iterations > 0));
  outcome.unless(!first_part || session.state->model.launches());
  if (call(session.name + " = begin(" + (session.state != nullptr ? "state, " : "") +
               std::to_string(session.max_iterations) + " iterations, ops_per_submit " +
               std::to_string(session.ops_per_submit) + ")",
           outcome, [&] {
             session.real.reset(session.recorded
                                    ? new GraphSession(executor.begin_recorded(options))
                                    : new GraphSession(executor.begin(options)));
           })) {
    sessions_.push_back(std::move(session));
    if (first_part) {
      hand_over(sessions_.back());
    }
  }
}

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
           Outcome().unless(session->usable()).unless(!known).unless(!short_of_one), [&] {
             tensor = session->real->input(name, {rows, kColumns}, value.numbers);
           })) {
    const std::size_t transient = session->body.add_transient();
    if (session->memory) {
      session->memory->resize(transient + 1);
      session->memory->back() = value;
    }
    session->body.inputs[name] = transient;
    session->body.input_values[name] = std::move(value);
    session->tensors.push_back(
        {std::move(tensor), {transient, nullptr, rows}, false, session->number});
  } else {
    failed(*session);
  }
}

RandomProgram::Transient RandomProgram::operand(Session& session, bool integers) {
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
  if (!own.empty() && (integers || chance(2))) {
    return *own[number(0, own.size() - 1)];
  }
  Held* held = pick(tensors_);
  if (integers || held == nullptr) {
    return {};
  }
  return {held->real, {0, held->buffer, held->buffer->rows()}, false, 0};
}

ParamModel RandomProgram::random_param(const Session& session, std::int32_t low,
                                       std::int32_t high) {
  ParamModel param;
  param.constant =
      low + static_cast<std::int32_t>(number(0, static_cast<std::uint64_t>(high - low)));
  if (chance(session.state != nullptr ? 2 : 50)) {
    constexpr StateWord kWords[] = {kRow, kPos, kLength};
    param.word = kWords[number(0, 2)];
  }
  return param;
}

Param<std::int32_t> RandomProgram::param(Session& session, const ParamModel& param) const {
  constexpr const char* kFields[] = {"row", "pos", "token", "done", "length"};
  return param.word ? Param<std::int32_t>(session.real->state(kFields[*param.word]))
                    : Param<std::int32_t>(param.constant);
}

void RandomProgram::op() {
  Session* session = pick_session();
  if (session == nullptr) {
    return;
  }
  OpModel op;
  op.kind = static_cast<OpKind>(number(0, 6));
  const Transient x = operand(*session, op.kind == OpKind::advance);
  const Transient y = operand(*session, false);
  op.x = x.operand;
  op.y = y.operand;
  if (op.kind == OpKind::set_rows) {
    op.param = random_param(*session, -2, 5);
    op.window = chance(4) ? static_cast<std::int32_t>(number(0, 5)) : 0;
    const bool same = x.operand.buffer
                          ? x.operand.buffer == y.operand.buffer
                          : !y.operand.buffer && x.operand.transient == y.operand.transient;
    if (same) {
      return;  // values must not share memory with the table
    }
  } else if (op.kind == OpKind::get_row) {
    op.param = random_param(*session, -1, 4);
  } else if (op.kind == OpKind::advance) {
    op.param.constant = static_cast<std::int32_t>(number(0, 2));
    if (session->state != nullptr && chance(3)) {
      op.param.word = kRow;
    }
    op.end_token = static_cast<std::int32_t>(number(0, 6)) - 1;
  }
  record(*session, op, x, y);
}

Tensor RandomProgram::call_op(Session& session, const OpModel& op, const Tensor& x,
                              const Tensor& y) const {
  GraphSession& s = *session.real;
  switch (op.kind) {
    case OpKind::add:
      return reprise::add(s, x, y);
    case OpKind::mul:
      return reprise::mul(s, x, y);
    case OpKind::copy:
      return reprise::copy(s, x);
    case OpKind::get_row:
      return reprise::get_rows(s, x, param(session, op.param));
    case OpKind::argmax:
      return reprise::argmax(s, x);
    case OpKind::set_rows:
      reprise::set_rows(s, x, y, {.position = param(session, op.param), .window = op.window});
      return {};
    case OpKind::advance:
      reprise::advance(s, x,
                       {.position = s.state("pos"),
                        .token = s.state("token"),
                        .done = s.state("done"),
                        .rows = param(session, op.param),
                        .end_token = op.end_token});
      return {};
  }
  return {};
}

void RandomProgram::record(Session& session, OpModel op, const Transient& x, const Transient& y) {
  const bool two = op.kind == OpKind::add || op.kind == OpKind::mul || op.kind == OpKind::set_rows;
  Outcome outcome;
  outcome.unless(session.usable());
  for (const Transient* t : {&x, &y}) {
    if (t == &y && !two) {
      break;
    }
    outcome.unless(static_cast<bool>(t->real));
    outcome.unless(t->session == 0 || t->session == session.number);
    outcome.unless(!t->operand.buffer || !t->operand.buffer->freed, ErrorCode::stale);
  }
  outcome.unless(session.state != nullptr || (!op.param.word && op.kind != OpKind::advance));
  if (op.kind == OpKind::add || op.kind == OpKind::mul) {
    outcome.unless(y.operand.rows > 0 &&
                   x.operand.rows % std::max<std::int64_t>(y.operand.rows, 1) == 0);
  } else if (op.kind == OpKind::advance) {
    outcome.unless(x.operand.rows == 1);
  } else if (op.kind == OpKind::set_rows) {
    outcome.unless(op.window == 0 || (op.window >= y.operand.rows && op.window <= x.operand.rows));
  }
  const bool part = outcome.ok() && session.ops_per_submit != 0 &&
                    (session.ops + 1) % session.ops_per_submit == 0;
  std::vector<BufferRef> buffers;
  for (const OperandModel* operand : {&op.x, &op.y}) {
    if (operand->buffer && (operand == &op.x || two)) {
      buffers.push_back(operand->buffer);
    }
  }
  if (part) {
    outcome.unless(session.memory || session.state == nullptr || session.state->model.launches());
    outcome.unless(!session.stale(false) &&
                       std::ranges::none_of(buffers, [](const auto& b) { return b->freed; }),
                   ErrorCode::stale);
  }
  Tensor result;
  if (!call(session.name + "." + name_of(op.kind) + "(" + text_of(op.x) +
                (two ? ", " + text_of(op.y) : "") + ", " + text_of(op.param) + ", window " +
                std::to_string(op.window) + ", end " + std::to_string(op.end_token) + ")",
            outcome, [&] { result = call_op(session, op, x.real, y.real); })) {
    failed(session);
    return;
  }
  if (result) {
    op.result = session.body.add_transient();
    const bool integers = op.kind == OpKind::argmax;
    const std::int64_t rows = op.kind == OpKind::get_row ? 1 : x.operand.rows;
    session.tensors.push_back({result, {op.result, nullptr, rows}, integers, session.number});
  }
  session.body.ops.push_back(op);
  session.body.buffers.insert(session.body.buffers.end(), buffers.begin(), buffers.end());
  ++session.ops;
  if (part) {
    hand_over(session);
  }
  if (!session.tensors.empty() && chance(10)) {  // its memory may be used again
    session.tensors.erase(session.tensors.begin() +
                          static_cast<std::ptrdiff_t>(number(0, session.tensors.size() - 1)));
  }
}

void RandomProgram::hand_over(Session& session) {
  if (!session.memory) {
    session.memory = session.body.begin();
    if (session.state != nullptr) {
      session.state->model.send();
      session.state->model.plan();
    }
  }
  for (; session.handed_over < session.body.ops.size(); ++session.handed_over) {
    const OpModel& op = session.body.ops[session.handed_over];
    session.memory->resize(std::max(session.memory->size(), op.result + 1));
    session.buffers_handed_over = session.body.buffers.size();
    session.body.run(op, *session.memory,
                     session.state == nullptr ? nullptr : &session.state->model);
  }
}

RandomProgram::RunRef RandomProgram::run_session(Session& session) {
  hand_over(session);
  auto run = std::make_shared<Run>();
  run->ran = 1;
  run->state = session.state;
  std::map<std::string, Value>& outputs = run->outputs.emplace_back();
  for (const auto& [name, operand] : session.body.outputs) {
    outputs[name] = session.body.read(operand, *session.memory);
  }
  if (session.state != nullptr) {
    run->last_words = session.state->model.words();
    run->submission = session.state->model.submitted();
  }
  run->words.push_back(run->last_words);
  return run;
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
  outcome.unless(session->usable()).unless(!known).unless(static_cast<bool>(tensor.real));
  outcome.unless(tensor.session == 0 || tensor.session == session->number);
  outcome.unless(!tensor.operand.buffer || !tensor.operand.buffer->freed, ErrorCode::stale);
  if (call(session->name + ".output(" + name + ", " + text_of(tensor.operand) + ")", outcome,
           [&] { session->real->output(name, tensor.real); })) {
    session->body.outputs[name] = tensor.operand;
    if (tensor.operand.buffer && session->recorded) {
      session->body.buffers.push_back(tensor.operand.buffer);
    }
  } else {
    failed(*session);
  }
}

void RandomProgram::finish() {
  Session* session = pick_session();
  if (session == nullptr) {
    return;
  }
  constexpr std::size_t kWrong[] = {0, 65};
  FinishOptions options;
  options.slots = chance(30) ? kWrong[number(0, 1)] : number(1, 3);
  options.run = !chance(4);
  constexpr ReuseRule kRules[] = {ReuseRule::step, ReuseRule::epoch};
  options.reuse = kRules[number(0, 1)];
  const bool runs = !session->recorded || options.run;
  Outcome outcome;
  outcome.unless(session->usable());
  outcome.unless(!session->recorded || (options.slots >= 1 && options.slots <= 64));
  outcome.unless(!session->stale(true), ErrorCode::stale);
  outcome.unless(!runs || session->state == nullptr || session->memory ||
                 session->state->model.launches());
  FinishResult result;
  if (!call(session->name + ".finish(slots " + std::to_string(options.slots) +
                (options.run ? "" : ", no run") + ")",
            outcome, [&] { result = session->real->finish(options); })) {
    failed(*session);
    return;
  }
  session->phase = Phase::finished;
  RunRef run;
  if (session->recorded) {
    Graph graph;
    graph.name = "graph" + std::to_string(session->number);
    graph.real = std::move(result.graph);
    graph.running = session->running;
    graph.body = session->body;
    graph.state = session->state;
    graph.max_iterations = session->max_iterations;
    graph.slots = options.slots;
    if (options.run) {
      graph.last = run = run_graph(graph, 1);
    }
    if (graphs_.size() < 4) {
      graphs_.push_back(std::move(graph));
    }
  } else {
    run = run_session(*session);
  }
  if (run != nullptr) {
    completed(*run);
  }
  const Run none;
  for (const auto& [name, operand] : session->body.outputs) {
    expect_output(run == nullptr ? none : *run, name, std::nullopt, "result.read(" + name + ")",
                  [&, &text = name] { return result.read<std::byte>(text); });
  }
}

void RandomProgram::submit() {
  Session* session = pick_session();
  if (session == nullptr || (session->recorded && !chance(8))) {
    return;
  }
  Outcome outcome;
  outcome.unless(session->usable()).unless(!session->recorded);
  outcome.unless(!session->stale(true), ErrorCode::stale);
  outcome.unless(session->recorded || session->memory || session->state == nullptr ||
                 session->state->model.launches());
  TicketOf ticket;
  if (call(session->name + ".submit()", outcome, [&] { ticket.real = session->real->submit(); })) {
    session->phase = Phase::finished;
    ticket.run = run_session(*session);
    ticket.name = "ticket" + std::to_string(++names_);
    tickets_.push_back(std::move(ticket));
  } else {
    failed(*session);
  }
}

void RandomProgram::failed(Session& session) { session.phase = Phase::invalidated; }

void RandomProgram::ask_session() {
  if (Session* session = pick(sessions_)) {
    SessionPhase phase{};
    call(session->name + ".status()", {}, [&] { phase = session->real->status().phase; });
    require(phase == static_cast<SessionPhase>(session->phase),
            "gave " + std::string(reprise::name_of(phase)));
  }
}

/// What was handed over runs all the same.
void RandomProgram::discard() {
  if (!sessions_.empty()) {
    const std::size_t at = number(0, sessions_.size() - 1);
    calls_.push_back(sessions_[at].name + " = {}");
    sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace reprise::testing
