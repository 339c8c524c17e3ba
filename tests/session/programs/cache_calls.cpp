// Calls of a random program that run passes through a GraphCache.
#include "tests/session/programs/random_program.h"

namespace reprise::testing {

void RandomProgram::new_cache() {
  if (caches_.size() >= 2) {
    return;
  }
  Executor& of = *pick(executors_);
  const std::size_t graphs = chance(20) ? 0 : number(1, 3);
  const bool too_small = chance(10);
  GraphCacheOptions options{.max_graphs = graphs, .finish = {.slots = number(1, 2)}};
  options.max_bytes = too_small ? 1 : options.max_bytes;
  const std::string name = fresh("cache");
  call(name + " = GraphCache(" + of.name + ", " + std::to_string(graphs) + " graphs" +
           (too_small ? ", 1 byte)" : ")"),
       Outcome().unless(graphs > 0), [&] {
         caches_.push_back({name, GraphCache(of.real, options), of.running,
                            KeyedModel(graphs, too_small), options.finish.slots});
       });
}

void RandomProgram::drop_cache() {
  if (!caches_.empty()) {
    const std::size_t at = number(0, caches_.size() - 1);
    calls_.push_back(caches_[at].name + " = {}");
    caches_.erase(caches_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

/// `refused`: the pass says itself that it is unsupported.
RandomProgram::KeyedPlan RandomProgram::plan_direct(const Cache& cache, const Pass& pass,
                                                    const GivenInputs& given,
                                                    std::uint32_t iterations, bool refused) {
  KeyedPlan plan{.how = RunOutcome::direct, .miss = MissReason::failed};
  Graph& graph = plan.unkept.emplace();
  graph.body = pass.body();
  graph.state = pass.state;
  plan.outcome.unless(iterations == 1)
      .unless(*cache.running, ErrorCode::shut_down)
      .unless(!refused, ErrorCode::unsupported)
      .refused(given.mistakes(graph.body))
      .unless(pass.shapes_fit())
      .unless(!graph.body.stale(), ErrorCode::stale)
      .unless(pass.state == nullptr || pass.state->model.launches());
  given.assign_to(graph.body);
  return plan;
}

RandomProgram::KeyedPlan RandomProgram::plan_recording(Cache& cache, KeyModel& entry,
                                                       const Pass& pass, const GivenInputs& given,
                                                       std::uint32_t iterations,
                                                       std::uint32_t refusals) {
  KeyedPlan plan{.how = RunOutcome::recorded, .miss = entry.miss};
  Graph graph;
  graph.running = cache.running;
  graph.body = pass.body();
  graph.state = pass.state;
  graph.max_iterations = pass.max_iterations;
  graph.slots = cache.slots;
  plan.outcome.unless(*cache.running, ErrorCode::shut_down)
      .unless(pass.iterates())
      .unless(!pass.iterates() || refusals == 0, ErrorCode::unsupported)
      .refused(given.mistakes(graph.body))
      .unless(pass.shapes_fit())
      .unless(!graph.body.stale(), ErrorCode::stale);
  if (!plan.outcome.ok()) {
    const bool refused = refusals > (pass.iterates() ? 1U : 0U);
    KeyedPlan direct = plan_direct(cache, pass, given, iterations, refused);
    if (direct.outcome.ok()) {
      entry.miss = MissReason::failed;
      ++cache.keyed.counters.failed;
      return direct;
    }
    plan.outcome.or_of(direct.outcome);
    return plan;
  }
  auto structure = graph.body.structure(pass.state != nullptr, pass.max_iterations);
  if (entry.structure && *entry.structure != structure) {
    count("run -> another structure");
    plan.outcome.unless(false);
    return plan;
  }
  bool keeps_last = true;
  plan.outcome = launch_outcome(graph, iterations, keeps_last);
  given.assign_to(graph.body);
  entry.structure = std::move(structure);
  if (!cache.keyed.keep(entry, graph)) {
    plan.unkept = std::move(graph);
  }
  return plan;
}

RandomProgram::KeyedPlan RandomProgram::plan_run(Cache& cache, std::size_t key, const Pass& pass,
                                                 const GivenInputs& given, std::uint32_t iterations,
                                                 std::uint32_t refusals) {
  KeyModel& entry = cache.keyed.use(key);
  if (!entry.graph && entry.miss != MissReason::failed) {
    return plan_recording(cache, entry, pass, given, iterations, refusals);
  }
  if (!entry.graph) {
    return plan_direct(cache, pass, given, iterations, refusals > 0);
  }
  KeyedPlan plan{.how = RunOutcome::replayed};
  Graph& graph = *entry.graph;
  if (graph.state != pass.state) {
    count("run -> another state block");
    plan.outcome.unless(false);
  } else if (graph.use->held == graph.slots) {
    plan = plan_direct(cache, pass, given, iterations, refusals > 0);
    plan.miss = MissReason::busy;
  } else {
    bool keeps_last = true;
    plan.outcome = launch_outcome(graph, iterations, keeps_last);
    plan.outcome.refused(given.mistakes(graph.body));
  }
  return plan;
}

void RandomProgram::run_cache() {
  Cache* cache = pick(caches_);
  if (cache == nullptr) {
    new_cache();
    return;
  }
  const std::size_t key = random_key();
  const Pass& pass = pass_for(key);
  const GivenInputs given = random_inputs(pass.body());
  const auto iterations =
      static_cast<std::uint32_t>(chance(20) ? number(0, 4) : number(1, pass.max_iterations));
  const auto refusals = static_cast<std::uint32_t>(chance(12) ? number(1, 2) : 0);
  settle(cache->keyed);
  KeyedPlan plan;
  plan.outcome.unless(key_of(key).owner.number() != 0);
  if (plan.outcome.ok()) {
    plan = plan_run(*cache, key, pass, given, iterations, refusals);
  }
  std::uint32_t calls = 0;
  const auto play = [&](GraphSession& session) {
    if (++calls <= refusals) {
      throw Error(ErrorCode::unsupported, "This pass refuses.");
    }
    (void)pass.play(session, nullptr);
  };
  const std::vector<NamedInput> inputs = given.named();
  SessionOptions options{.max_iterations = pass.max_iterations, .inputs = inputs};
  if (pass.state != nullptr) {
    options.state = pass.state->real;
  }
  KeyedRun run;
  if (call(cache->name + ".run(" + text_of_key(key) + ", " + pass.name + ", " + given.text() +
               ", " + std::to_string(iterations) + " iterations, " + std::to_string(refusals) +
               " refusals)",
           plan.outcome, [&] {
             run = cache->real.run(key_of(key), play, options, {.iterations = iterations});
           })) {
    const bool replayed = plan.how == RunOutcome::replayed;
    encode_again(plan.how, plan.miss);
    count("run -> " + std::string(reprise::name_of(plan.how)) + ", " +
          std::string(reprise::name_of(plan.miss)));
    require_how(run, plan.how, plan.miss);
    require(run.text.empty() == (plan.miss == MissReason::none),
            "gave the text (" + run.text + ")");
    cache->keyed.ran(plan.miss);
    if (replayed) {
      given.assign_to(cache->keyed.keys[key].graph->body);
    }
    Graph& ran = plan.unkept ? *plan.unkept : *cache->keyed.keys[key].graph;
    adopt(run, ran, iterations);
  }
  require_counters({cache->name, cache->keyed, nullptr, &cache->real});
}

}  // namespace reprise::testing
