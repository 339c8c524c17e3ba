// Calls of a random program that capture and replay by key.
#include <algorithm>
#include <numeric>

#include "tests/session/programs/random_program.h"

namespace reprise::testing {
namespace {

constexpr std::size_t kKeys = 3;  // and one without an owner

}  // namespace

std::size_t RandomProgram::random_key() { return chance(30) ? kKeys : number(0, kKeys - 1); }

GraphKey RandomProgram::key_of(std::size_t key) const {
  GraphKey real{.tag = "pass", .bucket = {static_cast<std::int64_t>(key)}};
  if (key < kKeys) {
    real.owner = owners_[key / 2];
  }
  return real;
}

std::string RandomProgram::text_of_key(std::size_t key) {
  return key < kKeys ? "key" + std::to_string(key) : "no owner";
}

RandomProgram::Pass& RandomProgram::pass_for(std::size_t key) {
  return passes_[chance(6) ? number(0, kPasses - 1) : key % kPasses];
}

RandomProgram::Door RandomProgram::random_door() {
  if (!caches_.empty() && chance(2)) {
    Cache& cache = *pick(caches_);
    return {cache.name, cache.keyed, nullptr, &cache.real};
  }
  Executor& executor = *pick(executors_);
  return {executor.name, executor.keyed, &executor.real, nullptr};
}

/// Which graphs can go depends on what is in flight; afterwards nothing is.
void RandomProgram::settle(const KeyedModel& model) {
  for (const auto& [key, entry] : model.keys) {
    if (entry.graph && entry.graph->use->perhaps_busy > 0) {
      executors_.front().real.synchronize();
      entry.graph->use->perhaps_busy = 0;
    }
  }
}

void RandomProgram::require_how(const KeyedRun& real, RunOutcome how, MissReason miss) {
  require(real.how == how && real.miss == miss,
          "gave (" + std::string(reprise::name_of(real.how)) + ", " +
              std::string(reprise::name_of(real.miss)) + "), not (" +
              std::string(reprise::name_of(how)) + ", " + std::string(reprise::name_of(miss)) +
              "): " + real.text);
  require(static_cast<bool>(real) == (how != RunOutcome::none), "was wrong about having run");
  calls_.back() +=
      "   // " + std::string(reprise::name_of(how)) + ", " + std::string(reprise::name_of(miss));
}

/// On a device that does not replay, the plan of a graph is encoded for every run.
void RandomProgram::encode_again(RunOutcome& how, MissReason& miss) const {
  if (!replays_ && (how == RunOutcome::replayed || how == RunOutcome::recorded)) {
    how = RunOutcome::direct;
    miss = MissReason::unsupported;
  }
}

/// The run of a call that succeeded.
void RandomProgram::adopt(KeyedRun& real, Graph& graph, std::uint32_t iterations) {
  TicketOf ticket{fresh("ticket"), std::move(real.ticket), run_graph(graph, iterations), graph.use};
  calls_.back() += ", " + ticket.name;
  ++ticket.use->held;
  if (chance(3) && ticket.run->ran > 0 && !ticket.run->outputs[0].empty()) {
    const std::string name = ticket.run->outputs[0].begin()->first;
    expect_output(*ticket.run, name, std::nullopt, ticket.name + ".read(" + name + ")",
                  [&] { return ticket.real.read<std::byte>(name); });
    completed(*ticket.run);
  }
  if (chance(2)) {
    ticket.real.release();
    calls_.back() += ".release()";
    --ticket.use->held;
    ticket.use->perhaps_busy += ticket.run->known ? 0U : 1U;
    return;
  }
  tickets_.push_back(std::move(ticket));
}

void RandomProgram::begin_capture() {
  make_room_for_a_session();
  if (sessions_.size() >= 5) {
    return;
  }
  const Pass& pass = passes_[number(0, kPasses - 1)];
  Executor& of = *pick(executors_);
  Session session;
  session.number = ++names_;
  session.name = "capture" + std::to_string(session.number);
  session.recorded = true;
  session.state = pass.state;
  session.max_iterations = pass.max_iterations;
  session.ops_per_submit = 0;
  session.running = of.running;
  session.body = pass.body();
  GivenInputs values;
  for (auto& [name, value] : session.body.input_values) {
    value = random_rows(static_cast<std::int64_t>(value.numbers.size()) / kColumns);
    values.list.push_back({name, value.numbers, {}});
  }
  std::vector<Tensor> transients;
  Outcome outcome;
  outcome.unless(*of.running, ErrorCode::shut_down)
      .unless(pass.iterates())
      .unless(pass.shapes_fit());
  outcome.unless(!session.body.stale(), ErrorCode::stale);
  if (!call(session.name + " = " + of.name + ".begin_graph_capture(" + pass.name + ")", outcome,
            [&] {
              SessionOptions options{.name = session.name, .max_iterations = pass.max_iterations};
              if (pass.state != nullptr) {
                options.state = pass.state->real;
              }
              session.real.reset(new GraphSession(of.real.begin_graph_capture(options)));
              transients = pass.play(*session.real, &values);
            })) {
    return;
  }
  for (const auto& [name, transient] : session.body.inputs) {
    const auto rows =
        static_cast<std::int64_t>(session.body.input_values[name].numbers.size()) / kColumns;
    session.tensors.push_back(
        {transients[transient], {transient, nullptr, rows}, false, session.number});
  }
  for (const OpModel& op : pass.ops) {
    if (has_result(op.kind)) {
      const std::int64_t rows = op.kind == OpKind::get_row ? 1 : op.x.rows;
      session.tensors.push_back({transients[op.result],
                                 {op.result, nullptr, rows},
                                 op.kind == OpKind::argmax,
                                 session.number});
    }
  }
  session.key = pass.number;
  sessions_.push_back(std::move(session));
}

void RandomProgram::end_capture() {
  Session* session = pick_session();
  for (Session& other : sessions_) {  // mostly one that was begun for it
    session = other.key && other.usable() && !chance(3) ? &other : session;
  }
  if (session == nullptr) {
    return;
  }
  Executor* of = pick(executors_);
  for (Executor& executor : executors_) {
    of = executor.running == session->running && !chance(8) ? &executor : of;
  }
  const std::size_t key = !session->key || chance(6) ? random_key() : *session->key;
  constexpr std::size_t kWrong[] = {0, 65};
  FinishOptions options;
  options.slots = chance(30) ? kWrong[number(0, 1)] : number(1, 2);
  options.run = !chance(4);
  settle(of->keyed);

  const Outcome matches = Outcome()
                              .unless(key < kKeys)
                              .unless(of->running == session->running)
                              .unless(session->recorded);
  Outcome outcome = matches;
  outcome.unless(session->phase == Phase::recording)
      .unless(*session->running, ErrorCode::shut_down)
      .unless(options.slots >= 1 && options.slots <= 64);
  outcome.unless(!session->stale(true), ErrorCode::stale);
  const bool finishes = outcome.ok();
  Graph graph;
  KeyModel* entry = nullptr;
  MissReason miss = MissReason::none;
  bool kept = false;
  if (matches.ok()) {
    entry = &of->keyed.use(key);
    miss = entry->graph ? MissReason::none : entry->miss;
  }
  if (finishes) {
    graph.running = session->running;
    graph.body = session->body;
    graph.state = session->state;
    graph.max_iterations = session->max_iterations;
    graph.slots = options.slots;
    auto structure = session->body.structure(session->state != nullptr, session->max_iterations);
    const bool same = !entry->structure || *entry->structure == structure;
    outcome.unless(same);
    if (same) {
      entry->structure = std::move(structure);
      kept = of->keyed.keep(*entry, graph);
      outcome.unless(!options.run || session->state == nullptr || session->state->model.launches());
      count("end_graph_capture -> " + std::string(kept ? "kept" : "rejected"));
    } else {
      count("end_graph_capture -> another structure");
    }
  }
  KeyedRun run;
  const bool ok = call(
      of->name + ".end_graph_capture(" + text_of_key(key) + ", " + session->name + ", slots " +
          std::to_string(options.slots) + (options.run ? ")" : ", no run)"),
      outcome, [&] { run = of->real.end_graph_capture(key_of(key), *session->real, options); });
  if (finishes) {
    session->phase = Phase::finished;
  } else if (matches.ok()) {
    failed(*session);
  }
  if (ok) {
    const RunOutcome how = replays_ ? RunOutcome::recorded : RunOutcome::direct;
    require_how(run, options.run ? how : RunOutcome::none, miss);
    if (options.run) {
      adopt(run, kept ? *entry->graph : graph, 1);
    }
  }
  require_counters({of->name, of->keyed, &of->real, nullptr});
}

void RandomProgram::replay_by_key() {
  Executor* known = pick(executors_);
  for (Executor& executor : executors_) {  // mostly one that was told of keys
    known = executor.keyed.keys.empty() ? known : &executor;
  }
  Executor& of = *known;
  if (of.keyed.keys.empty() && !chance(8)) {
    return;
  }
  std::size_t key = random_key();
  for (const auto& [other, entry] : of.keyed.keys) {  // and of this one
    key = entry.miss == MissReason::absent || chance(3) ? key : other;
  }
  Outcome outcome = Outcome().unless(key < kKeys);
  GivenInputs given;
  std::uint32_t iterations = 1;
  MissReason miss = MissReason::none;
  KeyModel* entry = nullptr;
  if (outcome.ok()) {
    entry = &of.keyed.use(key);
    if (!entry->graph) {
      miss = entry->miss;
    } else {
      Graph& graph = *entry->graph;
      given = random_inputs(graph.body);
      iterations = random_iterations(graph);
      if (graph.use->held == graph.slots) {
        miss = MissReason::busy;
      } else {
        bool keeps_last = true;
        outcome = launch_outcome(graph, iterations, keeps_last);
        outcome.refused(given.mistakes(graph.body));
      }
    }
  }
  KeyedRun run;
  if (call(of.name + ".replay_graph(" + text_of_key(key) + ", " + given.text() + ", " +
               std::to_string(iterations) + ")",
           outcome, [&] {
             run = of.real.replay_graph(key_of(key), given.named(), {.iterations = iterations});
           })) {
    RunOutcome how = miss == MissReason::none ? RunOutcome::replayed : RunOutcome::none;
    encode_again(how, miss);
    count("replay_graph -> " + std::string(reprise::name_of(miss)));
    require_how(run, how, miss);
    of.keyed.ran(miss);
    if (how != RunOutcome::none) {
      given.assign_to(entry->graph->body);
      adopt(run, *entry->graph, iterations);
    }
  }
  require_counters({of.name, of.keyed, &of.real, nullptr});
}

void RandomProgram::find_by_key() {
  const Door door = random_door();
  const std::size_t key = random_key();
  const auto at = door.model.keys.find(key);
  GraphLookup found;
  call(door.name + (door.cache == nullptr ? ".find_graph(" : ".find(") + text_of_key(key) + ")", {},
       [&] {
         found = door.cache == nullptr ? door.executor->find_graph(key_of(key))
                                       : door.cache->find(key_of(key));
       });
  const MissReason miss = at == door.model.keys.end() ? MissReason::absent : at->second.found();
  count("find -> " + std::string(reprise::name_of(miss)));
  require(found.miss == miss, "gave (" + std::string(reprise::name_of(found.miss)) + "), not (" +
                                  std::string(reprise::name_of(miss)) + ")");
  const bool has = at != door.model.keys.end() && at->second.graph;
  require((found.bytes > 0) == has, "was wrong about its bytes");
  const std::uint64_t known = has ? at->second.graph->replays->known : 0;
  const std::uint64_t all = has ? at->second.graph->replays->all : 0;
  require(known <= found.replays && found.replays <= all,
          "gave " + std::to_string(found.replays) + " replays, not " + std::to_string(known) +
              " to " + std::to_string(all));
}

void RandomProgram::reset_key() {
  const Door door = random_door();
  const std::size_t key = random_key();
  std::size_t gone = 0;
  if (call(door.name + (door.cache == nullptr ? ".reset_graph(" : ".reset(") + text_of_key(key) +
               ")",
           Outcome().unless(key < kKeys), [&] {
             gone = door.cache == nullptr ? door.executor->reset_graph(key_of(key))
                                          : door.cache->reset(key_of(key));
           })) {
    const std::size_t had = door.model.reset(key);
    require(gone == had, "gave " + std::to_string(gone) + ", not " + std::to_string(had));
  }
  require_counters(door);
}

void RandomProgram::reset_keys() {
  const Door door = random_door();
  std::size_t gone = 0, had = 0;
  const std::size_t owner = number(0, 2);
  if (door.cache != nullptr && owner < 2) {
    call(door.name + ".reset_all(" + std::string(owners_[owner].name()) + ")", {},
         [&] { gone = door.cache->reset_all(owners_[owner]); });
  } else {
    call(door.name + (door.cache == nullptr ? ".reset_all_graphs()" : ".reset_all()"), {}, [&] {
      gone = door.cache == nullptr ? door.executor->reset_all_graphs() : door.cache->reset_all();
    });
  }
  for (std::size_t key = 0; key < kKeys; ++key) {
    if (door.cache == nullptr || owner == 2 || key / 2 == owner) {
      had += door.model.reset(key);
    }
  }
  require(gone == had, "gave " + std::to_string(gone) + ", not " + std::to_string(had));
  require_counters(door);
}

void RandomProgram::ask_counters() {
  const Door door = random_door();
  call(door.name + (door.cache == nullptr ? ".graph_counters()" : ".counters()"), {},
       [&] { require_counters(door); });
}

void RandomProgram::require_counters(const Door& door) {
  GraphCacheCounters real =
      door.cache == nullptr ? door.executor->graph_counters() : door.cache->counters();
  const GraphCacheCounters& model = door.model.counters;
  std::uint64_t bytes = 0;
  for (std::size_t key = 0; key < kKeys; ++key) {
    bytes += door.cache == nullptr ? door.executor->find_graph(key_of(key)).bytes
                                   : door.cache->find(key_of(key)).bytes;
  }
  const auto same = [&](const char* name, std::uint64_t is, std::uint64_t expected) {
    require(is == expected, "left the counter " + std::string(name) + " at " + std::to_string(is) +
                                ", not " + std::to_string(expected));
  };
  same("hits", real.hits, model.hits);
  for (std::size_t i = 0; i < kMissReasonCount; ++i) {
    same(("misses: " + std::string(reprise::name_of(static_cast<MissReason>(i)))).c_str(),
         real.misses[i], model.misses[i]);
  }
  same("recorded", real.recorded, model.recorded);
  same("evicted", real.evicted, model.evicted);
  same("reset", real.reset, model.reset);
  same("stale", real.stale, model.stale);
  same("rejected", real.rejected, model.rejected);
  same("failed", real.failed, model.failed);
  same("graphs", real.graphs, model.graphs);
  same("bytes", real.bytes, bytes);
}

}  // namespace reprise::testing
