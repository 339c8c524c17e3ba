#include "reprise/session/graph_cache.h"

#include <algorithm>

#include "framework/session/cache/cache_counts.h"
#include "framework/session/cache/graph_table.h"
#include "framework/session/record/direct_session.h"
#include "framework/session/record/recorded_session.h"
#include "reprise/session/graph_executor.h"

namespace reprise {
namespace {

void require_owner(const GraphKey& key) {
  if (key.owner.number() == 0) {
    throw_invalid_argument(
        "The key (", key.tag,
        ") has no owner: without one it could be the key of another model. Give the model a "
        "GraphOwner and set GraphKey::owner.");
  }
}

/// What a direct session may be able to do all the same.
bool may_run_directly(const Error& error) {
  return error.code() == ErrorCode::unsupported || error.code() == ErrorCode::invalid_argument;
}

Session::Purpose kept_under(const GraphKey& key) {
  return {Session::InputValues::with_call, key.json()};
}

std::string sentence(const GraphKey& key, std::string_view about) {
  return "The key " + key.text() + " " + std::string(about);
}

const GraphCacheOptions& checked(const GraphCacheOptions& options) {
  if (options.max_graphs == 0) {
    throw_invalid_argument("A graph cache has room for at least 1 graph, but max_graphs is (0).");
  }
  if (!options.finish.run) {
    throw_invalid_argument(
        "A graph cache runs its graphs by key, but finish.run of its options is (false).");
  }
  return options;
}

}  // namespace

std::string_view name_of(RunOutcome how) {
  constexpr std::array<std::string_view, 4> kNames{"none", "replayed", "recorded", "direct"};
  return kNames[static_cast<std::size_t>(how)];
}

std::string_view name_of(MissReason reason) {
  constexpr std::array<std::string_view, kMissReasonCount> kNames{
      "none", "absent", "evicted", "reset", "stale", "rejected", "failed", "busy", "unsupported"};
  return kNames[static_cast<std::size_t>(reason)];
}

/// What its entries' locks do not guard is thread-safe. Members that take an entry want it locked.
struct GraphCache::State {
  using Entry = GraphTable::Entry;
  State(std::shared_ptr<ExecutorCore> c, const GraphCacheOptions& options)
      : core(std::move(c)),
        finish(checked(options).finish),
        table({options.max_graphs, options.max_bytes}),
        counts(core, options) {
    finish.run = false;
  }

  /// Lets go of a recording whose memory was freed.
  void drop_if_stale(Entry& entry) {
    if (entry.recording == nullptr) {
      return;
    }
    if (const std::optional<std::string> why = entry.recording->stale()) {
      entry.recording->reporter().ended("", *why);
      table.drop(entry);
      entry.nodes.reset();  // other memory is another key, in effect
      entry.ending.push_back(entry.take(MissReason::stale, *why));
      counts.event(CacheEvent::stale, entry.key);
    }
  }

  /// Launches what it has. Misses if tickets hold all slots.
  KeyedRun launch(Entry& entry, std::span<const NamedInput> inputs, const LaunchOptions& options) {
    Recording& recording = *entry.recording;
    if (!recording.slots().wait(options.slot_timeout)) {
      return {.miss = MissReason::busy};
    }
    for (const Port& input : recording.graph().inputs) {
      const auto values = std::ranges::count(inputs, input.name, &NamedInput::name);
      if (values != 1) {
        throw Error(
            values == 0 ? ErrorCode::missing_input : ErrorCode::invalid_argument,
            sentence(entry.key, "has an input '" + input.name +
                                    "'; give it exactly one value for every run. A graph that is "
                                    "replayed has no values but those it is given."));
      }
    }
    for (const NamedInput& input : inputs) {
      recording.inputs().set(input.name, input.dtype, input.bytes);
    }
    KeyedRun run{.how = RunOutcome::replayed, .ticket = recording.launch(options)};
    if (recording.replays()) {
      counts.hit();
    } else {
      run.how = RunOutcome::direct;
      run.miss = MissReason::unsupported;
      run.text = sentence(entry.key, "is encoded again: the device does not replay.");
      counts.miss(entry.key, run.miss, false);
    }
    return run;
  }

  KeyedRun record(Entry& entry, const RecordFunction& pass, const SessionOptions& options,
                  const LaunchOptions& launch) {
    SessionOptions recorded = options;
    recorded.ops_per_submit = 0;  // meant for a direct run
    KeyedRun run{.how = RunOutcome::recorded, .miss = entry.miss};
    run.text = sentence(entry.key, entry.why.empty() ? "is new." : "is recorded: " + entry.why);
    std::shared_ptr<Recording> recording;
    std::optional<GraphSession> session;
    try {
      session.emplace(
          std::make_unique<RecordedSession>(core, std::move(recorded), kept_under(entry.key)));
      pass(*session);
      const FinishResult result = session->finish(finish);
      run.report = result.report;
      recording = result.graph.inner().shared_from_this();
    } catch (const Error& error) {
      // What fails once it is planned has other reasons than the pass.
      const bool planned = session && session->inner().is_planned();
      if (planned || !may_run_directly(error) || launch.iterations != 1) {
        throw;
      }
      session.reset();
      run = run_directly(entry.key, pass, options, launch);
      entry.miss = run.miss = MissReason::failed;
      entry.why = error.what();
      run.text = sentence(entry.key, "cannot be recorded: " + entry.why);
      counts.event(CacheEvent::failed, entry.key);
      counts.miss(entry.key, run.miss, false);
      return run;
    }
    const bool churned = put(entry, recording);
    if (!recording->replays()) {
      run.how = RunOutcome::direct;
      run.miss = MissReason::unsupported;
    }
    run.ticket = recording->launch(launch);
    counts.miss(entry.key, run.miss, churned);
    return run;
  }

  /// Without the entry.
  KeyedRun run_directly(const GraphKey& key, const RecordFunction& pass, SessionOptions options,
                        const LaunchOptions& launch) {
    if (launch.iterations != 1) {
      throw_invalid_argument(
          sentence(key, "is run with (" + std::to_string(launch.iterations) +
                            ") iterations, but without its graph only 1 is possible."));
    }
    options.max_iterations = 1;
    GraphSession session(
        std::make_unique<DirectSession>(core, std::move(options), kept_under(key)));
    pass(session);
    return {.how = RunOutcome::direct, .ticket = session.submit()};
  }

  /// Makes it the entry's, if there is room. Returns whether that churns.
  bool put(Entry& entry, const std::shared_ptr<Recording>& recording) {
    GraphStructure structure = structure_of(recording->graph());
    require_same_structure(entry, recording->graph(), structure);
    bool churned = entry.miss != MissReason::absent;
    counts.event(CacheEvent::recorded, entry.key);
    entry.nodes = std::move(structure.nodes);
    entry.custom_ops = recording->graph().custom_ops;
    std::vector<GraphTable::Gone> gone;
    const bool kept = table.keep(entry, recording, gone);
    for (GraphTable::Gone& old : gone) {
      old.recording->reporter().ended(old.reason, "");
      entry.ending.push_back(std::move(old.recording));
      if (!(old.key == entry.key)) {
        counts.event(CacheEvent::evicted, old.key, old.reason);
        churned = true;
      }
    }
    if (!kept) {
      counts.event(CacheEvent::rejected, entry.key);
      recording->reporter().ended("rejected", "");
    }
    return churned;
  }

  void require_same_structure(const Entry& entry, const ComputeGraph& graph,
                              const GraphStructure& structure) const {
    const auto differs =
        entry.nodes ? first_difference(*entry.nodes, structure.nodes) : std::nullopt;
    if (!differs) {
      return;
    }
    std::string before = "no op " + std::to_string(*differs);
    if (*differs < entry.nodes->size()) {
      const NodeSignature& node = (*entry.nodes)[*differs];
      before = std::string(node.op->name) + ", " + node.where.file + ":" +
               std::to_string(node.where.line);
    }
    throw_invalid_argument(sentence(
        entry.key, "is recorded again with another structure: " + describe_node(graph, *differs) +
                       " is the first node that differs; it was " + before +
                       ". What changes the structure belongs into the key, or the key "
                       "is reset before."));
  }

  /// Tells the database.
  std::size_t reset(Entry& entry) {
    const GraphTable::Lock lock(entry);
    entry.nodes.reset();
    const bool had = entry.recording != nullptr;
    if (had) {
      entry.recording->reporter().ended("reset", "");
      table.drop(entry);
      counts.event(CacheEvent::reset, entry.key);
    }
    if (entry.miss != MissReason::absent) {
      entry.ending.push_back(entry.take(MissReason::reset, "It was reset."));
    }
    return had ? 1 : 0;
  }

  /// `owner` 0: of every one.
  std::size_t reset_all(std::uint64_t owner) {
    std::size_t count = 0;
    for (const std::shared_ptr<Entry>& entry : table.all()) {
      if (owner == 0 || entry->key.owner.number() == owner) {
        count += reset(*entry);
      }
    }
    return count;
  }

  std::shared_ptr<ExecutorCore> core;
  FinishOptions finish;  // without a run
  GraphTable table;
  CacheCounts counts;
};

GraphCache::GraphCache(std::shared_ptr<ExecutorCore> core, const GraphCacheOptions& options)
    : state_(std::make_shared<State>(std::move(core), options)) {}

GraphCache::GraphCache(const GraphExecutor& executor, const GraphCacheOptions& options)
    : GraphCache(executor.core(), options) {}

KeyedRun GraphCache::run(const GraphKey& key, const RecordFunction& pass, SessionOptions session,
                         const LaunchOptions& launch) {
  require_owner(key);
  session.name = session.name.empty() ? key.tag : session.name;
  const std::shared_ptr<GraphTable::Entry> entry = state_->table.entry(key);
  std::string failure;
  {
    const GraphTable::Lock lock(*entry);
    state_->drop_if_stale(*entry);
    if (entry->recording == nullptr && entry->miss != MissReason::failed) {
      return state_->record(*entry, pass, session, launch);
    }
    if (entry->recording != nullptr) {
      if (!(entry->recording->state() == session.state)) {
        throw_invalid_argument(
            sentence(key,
                     "was recorded with another state block. Use that one, reset the key, "
                     "or give every block a key of its own."));
      }
      if (KeyedRun run = state_->launch(*entry, session.inputs, launch)) {
        return run;
      }
    }
    failure = entry->why;
  }
  KeyedRun run = state_->run_directly(key, pass, std::move(session), launch);
  const bool failed = !failure.empty();
  run.miss = failed ? MissReason::failed : MissReason::busy;
  run.text = sentence(key, failed ? "cannot be recorded: " + failure
                                  : "waits for no slot: tickets hold all of its graph.");
  state_->counts.miss(key, run.miss, false);
  return run;
}

KeyedRun GraphCache::keep(const GraphKey& key, GraphSession& session,
                          const FinishOptions& options) {
  require_owner(key);
  Session& inner = session.inner();
  if (&inner.core() != state_->core.get()) {
    throw_invalid_argument(
        sentence(key, "is of another executor than the session '" + inner.options().name + "'."));
  }
  if (dynamic_cast<RecordedSession*>(&inner) == nullptr) {
    throw_invalid_argument("The session '", inner.options().name,
                           "' is direct and leaves no graph; begin it with begin_graph_capture().");
  }
  const std::shared_ptr<GraphTable::Entry> entry = state_->table.entry(key);
  const GraphTable::Lock lock(*entry);
  state_->drop_if_stale(*entry);
  inner.set_key(key.json());
  FinishOptions finish = options;
  finish.run = false;
  const FinishResult result = session.finish(finish);
  KeyedRun run{.miss = entry->miss, .report = result.report};
  const std::shared_ptr<Recording> recording = result.graph.inner().shared_from_this();
  state_->put(*entry, recording);
  if (options.run) {
    run.ticket = recording->launch({});
    run.how = recording->replays() ? RunOutcome::recorded : RunOutcome::direct;
  }
  return run;
}

KeyedRun GraphCache::replay(const GraphKey& key, std::span<const NamedInput> inputs,
                            const LaunchOptions& launch) {
  require_owner(key);
  const std::shared_ptr<GraphTable::Entry> entry = state_->table.entry(key);
  const GraphTable::Lock lock(*entry);
  state_->drop_if_stale(*entry);
  KeyedRun run{.miss = entry->miss};
  if (entry->recording != nullptr) {
    run = state_->launch(*entry, inputs, launch);
  }
  if (!run) {
    run.text = sentence(key, run.miss == MissReason::busy
                                 ? "waits for no slot: tickets hold all of its graph."
                             : entry->why.empty() ? "has no graph."
                                                  : "has no graph: " + entry->why);
    state_->counts.miss(key, run.miss, false);
  }
  return run;
}

GraphLookup GraphCache::find(const GraphKey& key) const {
  const std::shared_ptr<GraphTable::Entry> entry = state_->table.find(key);
  if (entry == nullptr) {
    return {.text = sentence(key, "is new.")};
  }
  const GraphTable::Lock lock(*entry);
  GraphLookup found{.miss = entry->miss, .text = entry->why};
  if (entry->recording != nullptr) {
    found.bytes = entry->recording->bytes();
    found.replays = entry->recording->num_replays();
    if (const auto why = entry->recording->stale()) {
      found.miss = MissReason::stale;
      found.text = *why;
    }
  }
  return found;
}

std::size_t GraphCache::reset(const GraphKey& key) {
  require_owner(key);
  const std::shared_ptr<GraphTable::Entry> entry = state_->table.find(key);
  return entry == nullptr ? 0 : state_->reset(*entry);
}

std::size_t GraphCache::reset_all(const GraphOwner& owner) {
  return owner.number() == 0 ? 0 : state_->reset_all(owner.number());
}

std::size_t GraphCache::reset_all() { return state_->reset_all(0); }

GraphCacheCounters GraphCache::counters() const {
  GraphCacheCounters counters = state_->counts.get();
  const GraphTable::Totals totals = state_->table.totals();
  counters.graphs = totals.graphs;
  counters.bytes = totals.bytes;
  return counters;
}

}  // namespace reprise
