// Calls of a random program that replay and read.
#include <algorithm>
#include <cstring>

#include "tests/session/programs/random_program.h"

namespace reprise::testing {

void RandomProgram::completed(Run& run) {
  if (!run.known) {
    run.known = true;
    if (run.state != nullptr) {
      run.state->model.completed(run.submission);
    }
    if (run.replays != nullptr) {
      run.replays->known += run.ran;
    }
  }
}

RandomProgram::RunRef RandomProgram::run_graph(Graph& graph, std::uint32_t iterations) {
  auto run = std::make_shared<Run>();
  run->iterations = iterations;
  run->state = graph.state;
  run->replays = graph.replays;
  StateModel* state = graph.state == nullptr ? nullptr : &graph.state->model;
  std::vector<Value> memory = graph.body.begin();
  if (state != nullptr) {
    state->send();
  }
  for (std::uint32_t i = 0; i < iterations; ++i) {
    const bool runs = state == nullptr || state->plan() || graph.max_iterations == 1;
    if (!runs) {
      continue;
    }
    for (const OpModel& op : graph.body.ops) {
      graph.body.run(op, memory, state);
    }
    ++run->ran;
    run->words.push_back(state == nullptr ? StateWords() : state->words());
    std::map<std::string, Value>& outputs = run->outputs.emplace_back();
    for (const auto& [name, operand] : graph.body.outputs) {
      outputs[name] = graph.body.read(operand, memory);
    }
  }
  if (state != nullptr) {
    run->last_words = state->words();
    run->submission = state->submitted();
  }
  graph.replays->all += run->ran;
  return run;
}

std::uint32_t RandomProgram::random_iterations(const Graph& graph) {
  return chance(12) ? static_cast<std::uint32_t>(number(0, 5))
                    : static_cast<std::uint32_t>(number(1, graph.max_iterations));
}

/// `keeps_last`: whether the outputs of the last launch() outlive it.
Outcome RandomProgram::launch_outcome(const Graph& graph, std::uint32_t iterations,
                                      bool& keeps_last) const {
  Outcome outcome;
  outcome.unless(!graph.empty);
  if (!graph.empty) {
    outcome.unless(iterations >= 1 && iterations <= graph.max_iterations);
    outcome.unless(!graph.body.stale(), ErrorCode::stale);
    outcome.unless(*graph.running, ErrorCode::shut_down);
    keeps_last = !outcome.ok();
    outcome.unless(graph.use->held < graph.slots, ErrorCode::busy);
    outcome.unless(graph.state == nullptr || graph.state->model.launches());
  }
  return outcome;
}

void RandomProgram::launch() {
  Graph* graph = pick(graphs_);
  if (graph == nullptr) {
    return;
  }
  const std::uint32_t iterations = random_iterations(*graph);
  bool keeps_last = true;
  const Outcome outcome = launch_outcome(*graph, iterations, keeps_last);
  const bool ok = call(graph->name + ".launch(" + std::to_string(iterations) + ")", outcome,
                       [&] { graph->real.launch({.iterations = iterations}); });
  if (!keeps_last) {
    graph->last = nullptr;
  }
  if (ok) {
    graph->last = run_graph(*graph, iterations);
    completed(*graph->last);
  }
}

void RandomProgram::launch_async(bool may_wait) {
  Graph* graph = pick(graphs_);
  if (graph == nullptr) {
    return;
  }
  const std::uint32_t iterations = random_iterations(*graph);
  bool keeps_last = true;
  const Outcome outcome = launch_outcome(*graph, iterations, keeps_last);
  TicketOf ticket;
  std::optional<Ticket> tried;
  const bool ok = call(graph->name + (may_wait ? ".launch_async(" : ".try_launch_async(") +
                           std::to_string(iterations) + ")",
                       outcome, [&] {
                         if (may_wait) {
                           ticket.real = graph->real.launch_async({.iterations = iterations});
                           return;
                         }
                         tried = graph->real.try_launch_async({.iterations = iterations});
                         // Empty where it would wait: then nothing of the state was looked at.
                         if (!tried && !outcome.ok()) {
                           throw_invalid_argument("it would wait");
                         }
                       });
  if (!keeps_last) {
    graph->last = nullptr;
  }
  if (ok && !may_wait && !tried) {
    require(graph->use->held + graph->use->perhaps_busy >= graph->slots,
            "gave no ticket, though a slot was idle");
  }
  if (!ok || (!may_wait && !tried)) {
    return;
  }
  if (tried) {
    ticket.real = std::move(*tried);
  }
  ticket.name = "ticket" + std::to_string(++names_);
  ticket.run = run_graph(*graph, iterations);
  ticket.use = graph->use;
  ++ticket.use->held;
  if (chance(6)) {
    ticket.real.release();
    --ticket.use->held;
    ++ticket.use->perhaps_busy;
    calls_.back() += ".release()";
    return;
  }
  tickets_.push_back(std::move(ticket));
}

void RandomProgram::set_input() {
  Graph* graph = pick(graphs_);
  if (graph == nullptr || graph->body.inputs.empty()) {
    return;
  }
  const bool unknown = chance(20);
  const std::string name =
      unknown ? "nothing"
              : std::next(graph->body.inputs.begin(),
                          static_cast<std::ptrdiff_t>(number(0, graph->body.inputs.size() - 1)))
                    ->first;
  const Value& old = unknown ? Value{} : graph->body.input_values[name];
  const auto rows = static_cast<std::int64_t>(old.numbers.size()) / kColumns + (chance(10) ? 1 : 0);
  const Value value = random_rows(rows);
  const bool as_integers = chance(20);
  const std::vector<std::int32_t> integers(value.numbers.size());
  if (call(graph->name + ".set_input(" + name + ", " + std::to_string(rows) +
               (as_integers ? " rows of integers)" : " rows)"),
           Outcome()
               .unless(!graph->empty)
               .unless(!unknown, ErrorCode::unknown_name)
               .unless(!as_integers, ErrorCode::dtype_mismatch)
               .unless(value.numbers.size() == old.numbers.size(), ErrorCode::size_mismatch),
           [&] {
             if (as_integers) {
               graph->real.set_input(name, integers);
             } else {
               graph->real.set_input(name, value.numbers);
             }
           })) {
    graph->body.input_values[name] = value;
  }
}

void RandomProgram::expect_output(const Run& run, const std::string& name,
                                  std::optional<std::uint32_t> iteration, const std::string& text,
                                  const std::function<std::vector<std::byte>()>& read) {
  const bool declared = run.ran == 0 || run.outputs.front().contains(name);
  std::vector<std::byte> bytes;
  if (call(text,
           Outcome()
               .unless(declared && name != "nothing", ErrorCode::unknown_name)
               .unless(iteration.value_or(0) < run.ran),
           [&] { bytes = read(); })) {
    require_value(run.outputs[iteration.value_or(run.ran - 1)].at(name), bytes, name);
  }
}

void RandomProgram::read_graph() {
  Graph* graph = pick(graphs_);
  if (graph == nullptr) {
    return;
  }
  std::string name = "nothing";
  if (!graph->body.outputs.empty() && !chance(15)) {
    name = std::next(graph->body.outputs.begin(),
                     static_cast<std::ptrdiff_t>(number(0, graph->body.outputs.size() - 1)))
               ->first;
  }
  const Run none;
  std::optional<std::uint32_t> iteration;
  if (chance(2)) {
    iteration = static_cast<std::uint32_t>(number(0, graph->max_iterations - 1));
  }
  expect_output(
      graph->last == nullptr ? none : *graph->last, name, iteration,
      graph->name + ".read(" + name + (iteration ? ", " + std::to_string(*iteration) : "") + ")",
      [&] {
        return iteration ? graph->real.read<std::byte>(name, *iteration)
                         : graph->real.read<std::byte>(name);
      });
}

void RandomProgram::ask_graph() {
  Graph* graph = pick(graphs_);
  if (graph == nullptr) {
    return;
  }
  const bool empty = graph->empty;
  const RunRef last = graph->last;
  switch (number(0, 5)) {
    case 0: {
      std::uint32_t ran = 0;
      if (call(graph->name + ".iterations()", Outcome().unless(last != nullptr),
               [&] { ran = graph->real.iterations(); })) {
        require(ran == last->ran,
                "gave " + std::to_string(ran) + ", not " + std::to_string(last->ran));
      }
      return;
    }
    case 1: {
      const std::size_t word = number(0, 5);
      std::int32_t value = 0;
      if (call(graph->name + ".state(" + kFields[word] + ")",
               Outcome().unless(!empty).unless(graph->state != nullptr && word < kStateWords,
                                               ErrorCode::unknown_name),
               [&] { value = graph->real.state(kFields[word]); })) {
        require(graph->state->model.may_return(static_cast<StateWord>(word), value),
                "gave " + std::to_string(value) + ", which no submission left");
      }
      return;
    }
    case 2: {
      const std::size_t word = number(0, 5);
      const auto iteration = static_cast<std::uint32_t>(number(0, 3));
      std::int32_t value = 0;
      if (call(graph->name + ".state(" + kFields[word] + ", " + std::to_string(iteration) + ")",
               Outcome()
                   .unless(last != nullptr && iteration < last->ran)
                   .unless(graph->state != nullptr && word < kStateWords, ErrorCode::unknown_name),
               [&] { value = graph->real.state(kFields[word], iteration); })) {
        require(value == last->words[iteration][word],
                "gave " + std::to_string(value) + ", not " +
                    std::to_string(last->words[iteration][word]));
      }
      return;
    }
    case 3: {
      std::uint64_t replays = 0;
      call(graph->name + ".num_replays()", {}, [&] { replays = graph->real.num_replays(); });
      const std::uint64_t low = empty ? 0 : graph->replays->known;
      const std::uint64_t high = empty ? 0 : graph->replays->all;
      require(low <= replays && replays <= high, "gave " + std::to_string(replays) + ", not " +
                                                     std::to_string(low) + " to " +
                                                     std::to_string(high));
      return;
    }
    case 4: {
      std::optional<std::string> stale;
      if (call(graph->name + ".stale()", Outcome().unless(!empty),
               [&] { stale = graph->real.stale(); })) {
        require(stale.has_value() == graph->body.stale(), "was wrong about it");
      }
      return;
    }
    default:
      if (!empty && !*graph->running) {
        return;
      }
      call(graph->name + ".upload()",
           Outcome().unless(!empty).unless(empty || !graph->body.stale(), ErrorCode::stale),
           [&] { (void)graph->real.upload(); });
  }
}

void RandomProgram::set_timing() {
  if (Graph* graph = pick(graphs_)) {
    const auto mode = static_cast<TimingMode>(number(0, 3));
    call(graph->name + ".set_timing(" + std::to_string(static_cast<int>(mode)) + ")",
         Outcome().unless(!graph->empty), [&] { graph->real.set_timing(mode); });
  }
}

void RandomProgram::rebind() {
  Graph* graph = pick(graphs_);
  Held* to = pick(tensors_);
  if (graph == nullptr || to == nullptr || graph->body.buffers.empty()) {
    return;
  }
  const auto has = [&](const Held& held) {
    return std::ranges::count(graph->body.buffers, held.buffer) != 0;
  };
  Held* from = pick(tensors_);
  for (Held& held : tensors_) {  // mostly one that it has
    from = has(held) && !chance(4) ? &held : from;
  }
  if (call(graph->name + ".rebind(" + from->buffer->name + ", " + to->buffer->name + ")",
           Outcome()
               .unless(!graph->empty && has(*from))
               .unless(from->buffer->rows() == to->buffer->rows())
               .unless(from->buffer == to->buffer || !has(*to))
               .unless(!to->buffer->freed, ErrorCode::stale),
           [&] { graph->real.rebind(from->real, to->real); })) {
    const BufferRef old = from->buffer;
    const auto replace = [&](BufferRef& buffer) { buffer = buffer == old ? to->buffer : buffer; };
    for (OpModel& op : graph->body.ops) {
      replace(op.x.buffer);
      replace(op.y.buffer);
    }
    for (auto& [name, output] : graph->body.outputs) {
      replace(output.buffer);
    }
    std::ranges::for_each(graph->body.buffers, replace);
  }
}

void RandomProgram::move_graph() {
  Graph* from = pick(graphs_);
  if (from == nullptr || from->empty || graphs_.size() >= 5) {
    return;
  }
  Graph to = std::move(*from);
  *from = Graph{};
  from->name = to.name;
  from->real = CapturedGraph();
  from->empty = true;
  to.name += "'";
  CapturedGraph moved = std::move(to.real);  // to.real is empty
  from->real = std::move(to.real);
  to.real = std::move(moved);
  calls_.push_back(to.name + " = std::move(" + from->name + ")");
  graphs_.push_back(std::move(to));
}

void RandomProgram::drop_graph() {
  if (!graphs_.empty()) {
    const std::size_t at = number(0, graphs_.size() - 1);
    calls_.push_back(graphs_[at].name + " = {}");
    graphs_.erase(graphs_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace reprise::testing
