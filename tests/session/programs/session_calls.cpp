// Calls of a random program that begin, end and ask sessions.
#include <algorithm>

#include "tests/session/programs/random_program.h"

namespace reprise::testing {
bool programs::Session::stale(bool with_outputs) const {
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
  if (chance(12)) {
    return pick(sessions_);
  }
  return usable.empty() ? nullptr : usable[number(0, usable.size() - 1)];
}

void RandomProgram::make_room_for_a_session() {
  const auto over = std::ranges::find_if(sessions_, [](const Session& s) { return !s.usable(); });
  if (sessions_.size() >= 4 && over != sessions_.end()) {
    calls_.push_back(over->name + " = {}");
    sessions_.erase(over);
  }
}

void RandomProgram::begin() {
  make_room_for_a_session();
  if (sessions_.size() >= 5) {
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
  outcome.unless(*of.running, ErrorCode::shut_down);
  outcome.unless(session.max_iterations == 1 || (iterates && session.max_iterations > 0));
  outcome.unless(!first_part || session.state->model.launches());
  if (call(
          session.name + " = " + of.name + (session.recorded ? ".begin_recorded(" : ".begin(") +
              (session.state != nullptr ? "state, " : "") + std::to_string(session.max_iterations) +
              " iterations, ops_per_submit " + std::to_string(session.ops_per_submit) + ")",
          outcome, [&] {
            session.real.reset(session.recorded ? new GraphSession(executor.begin_recorded(options))
                                                : new GraphSession(executor.begin(options)));
          })) {
    sessions_.push_back(std::move(session));
    if (first_part) {
      hand_over(sessions_.back());
    }
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

void RandomProgram::finish() {
  Session* session = pick_session();
  if (session == nullptr) {
    return;
  }
  constexpr std::size_t kWrong[] = {0, 65};
  FinishOptions options;
  const bool refused = !session->recorded && chance(20);
  if (session->recorded || refused) {
    options.slots = refused || chance(30) ? kWrong[number(0, 1)] : number(1, 3);
    options.run = !chance(4);
    constexpr ReuseRule kRules[] = {ReuseRule::step, ReuseRule::epoch};
    options.reuse = kRules[number(0, 1)];
  }
  const bool runs = !session->recorded || options.run;
  Outcome outcome;
  outcome.unless(session->phase == Phase::recording);
  outcome.unless(*session->running, ErrorCode::shut_down);
  outcome.unless(!refused && options.slots >= 1 && options.slots <= 64);
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
  outcome.unless(session->phase == Phase::recording).unless(!session->recorded);
  outcome.unless(*session->running, ErrorCode::shut_down);
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
