#include "framework/session/keyed_graphs.h"

#include <algorithm>

#include "framework/session/direct_session.h"
#include "framework/session/host_clock.h"
#include "framework/session/recorded_session.h"
#include "framework/session/recording.h"

namespace reprise {
namespace {

void require_owner(const GraphKey& key) {
  if (key.owner.number() == 0) {
    throw_invalid_argument(
        "The key (" + key.tag +
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

KeyedGraphs::KeyedGraphs(std::shared_ptr<ExecutorCore> core, const GraphCacheOptions& options)
    : core_(std::move(core)), shelf_(options), counts_(core_, options) {}

KeyedGraphs::Locked::Locked(KeyEntry& entry) : entry_(entry) {
  if (entry.locked_by.load() == std::this_thread::get_id()) {
    throw_invalid_argument("The pass of the key " + entry.key.text() + " uses its own key.");
  }
  entry.mutex.lock();
  entry.locked_by = std::this_thread::get_id();
}

KeyedGraphs::Locked::~Locked() {
  entry_.locked_by = std::thread::id();
  entry_.mutex.unlock();
}

KeyedRun KeyedGraphs::run(const GraphKey& key, const RecordFunction& pass, SessionOptions session,
                          const LaunchOptions& options) {
  require_owner(key);
  session.name = session.name.empty() ? key.tag : session.name;
  const std::shared_ptr<KeyEntry> entry = shelf_.entry(key);
  std::string failure;
  {
    const Locked locked(*entry);
    drop_if_stale(*entry);
    if (!entry->graph && entry->miss != MissReason::failed) {
      return record(*entry, pass, session, options);
    }
    if (entry->graph && !(entry->state == session.state)) {
      throw_invalid_argument(
          sentence(key,
                   "was recorded with another state block. Use that one, reset the key, "
                   "or give every block a key of its own."));
    }
    if (entry->graph) {
      if (KeyedRun run = launch(*entry, session.inputs, options)) {
        return run;
      }
    }
    failure = entry->text;
  }
  KeyedRun run = run_directly(key, pass, session, options);
  const bool failed = !failure.empty();
  run.miss = failed ? MissReason::failed : MissReason::busy;
  run.text = sentence(key, failed ? "cannot be recorded: " + failure
                                  : "waits for no slot: tickets hold all of its graph.");
  counts_.miss(key, run.miss, false);
  return run;
}

KeyedRun KeyedGraphs::record(KeyEntry& entry, const RecordFunction& pass,
                             const SessionOptions& options, const LaunchOptions& launch) {
  SessionOptions recorded = options;
  recorded.ops_per_submit = 0;  // meant for a direct run
  KeyedRun run{.how = RunOutcome::recorded, .miss = entry.miss};
  run.text = sentence(entry.key, entry.text.empty() ? "is new." : "is recorded: " + entry.text);
  CapturedGraph graph;
  try {
    GraphSession session(
        std::make_unique<RecordedSession>(core_, std::move(recorded), kept_under(entry.key)));
    FinishOptions finish = shelf_.options().finish;
    finish.run = false;
    pass(session);
    FinishResult result = session.finish(finish);
    run.report = result.report;
    graph = std::move(result.graph);
  } catch (const Error& error) {
    if (!may_run_directly(error) || launch.iterations != 1) {
      throw;
    }
    run = run_directly(entry.key, pass, options, launch);
    entry.miss = run.miss = MissReason::failed;
    entry.text = error.what();
    run.text = sentence(entry.key, "cannot be recorded: " + entry.text);
    counts_.failed(entry.key);
    counts_.miss(entry.key, run.miss, false);
    return run;
  }
  const bool churned = put(entry, graph, options.state);
  CapturedGraph& kept = graph ? graph : entry.graph;
  if (!kept.replays()) {
    run.how = RunOutcome::direct;
    run.miss = MissReason::unsupported;
  }
  run.ticket = kept.launch_async(launch);
  counts_.miss(entry.key, run.miss, churned);
  return run;
}

KeyedRun KeyedGraphs::run_directly(const GraphKey& key, const RecordFunction& pass,
                                   SessionOptions options, const LaunchOptions& launch) {
  if (launch.iterations != 1) {
    throw_invalid_argument(
        sentence(key, "is run with (" + std::to_string(launch.iterations) +
                          ") iterations, but without its graph only 1 is possible."));
  }
  options.max_iterations = 1;
  GraphSession session(std::make_unique<DirectSession>(core_, options, kept_under(key)));
  pass(session);
  KeyedRun run{.how = RunOutcome::direct};
  run.ticket = session.submit();
  return run;
}

KeyedRun KeyedGraphs::keep(const GraphKey& key, GraphSession& session,
                           const FinishOptions& options) {
  require_owner(key);
  Session& inner = session.inner();
  if (&inner.core() != core_.get()) {
    throw_invalid_argument(
        sentence(key, "is of another executor than the session '" + inner.options().name + "'."));
  }
  if (dynamic_cast<RecordedSession*>(&inner) == nullptr) {
    throw_invalid_argument("The session '" + inner.options().name +
                           "' is direct and leaves no graph; begin it with begin_graph_capture().");
  }
  const std::shared_ptr<KeyEntry> entry = shelf_.entry(key);
  const Locked locked(*entry);
  drop_if_stale(*entry);
  inner.set_key(key.json());
  FinishOptions finish = options;
  finish.run = false;
  FinishResult result = session.finish(finish);
  KeyedRun run{.miss = entry->miss};
  run.report = result.report;
  put(*entry, result.graph, inner.options().state);
  CapturedGraph& kept = result.graph ? result.graph : entry->graph;
  if (options.run) {
    run.ticket = kept.launch_async();
    run.how = kept.replays() ? RunOutcome::recorded : RunOutcome::direct;
  }
  return run;
}

KeyedRun KeyedGraphs::replay(const GraphKey& key, std::span<const NamedInput> inputs,
                             const LaunchOptions& options) {
  require_owner(key);
  const std::shared_ptr<KeyEntry> entry = shelf_.entry(key);
  const Locked locked(*entry);
  drop_if_stale(*entry);
  KeyedRun run;
  run.miss = MissReason::busy;
  if (entry->graph) {
    run = launch(*entry, inputs, options);
  } else {
    run.miss = entry->miss;
  }
  if (!run) {
    run.text =
        sentence(key, entry->text.empty() ? "has no graph." : "has no graph: " + entry->text);
    if (entry->graph) {
      run.text = sentence(key, "waits for no slot: tickets hold all of its graph.");
    }
    counts_.miss(key, run.miss, false);
  }
  return run;
}

KeyedRun KeyedGraphs::launch(KeyEntry& entry, std::span<const NamedInput> inputs,
                             const LaunchOptions& options) {
  KeyedRun run{.miss = MissReason::busy};
  if (!entry.graph.wait_for_slot(options.slot_timeout)) {
    return run;
  }
  for (const Port& input : entry.graph.graph().inputs) {
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
    entry.graph.set_input(input.name, input.dtype, input.bytes);
  }
  run.ticket = entry.graph.launch_async(options);
  run.how = RunOutcome::replayed;
  run.miss = MissReason::none;
  if (entry.graph.replays()) {
    counts_.hit();
  } else {
    run.how = RunOutcome::direct;
    run.miss = MissReason::unsupported;
    run.text = sentence(entry.key, "is encoded again: the device does not replay.");
    counts_.miss(entry.key, run.miss, false);
  }
  return run;
}

bool KeyedGraphs::put(KeyEntry& entry, CapturedGraph& graph, const StateBlock& state) {
  GraphStructure structure = structure_of(graph.graph());
  require_same_structure(entry, graph, structure);
  bool churned = entry.miss != MissReason::absent;
  std::vector<GraphShelf::Evicted> evicted;
  if (entry.graph) {
    report_end(entry.graph, "replaced", "");
    evicted.push_back({entry.key, entry.take(MissReason::rejected, ""), ""});
  }
  const std::uint64_t bytes = graph.bytes();
  counts_.recorded(entry.key);
  entry.nodes = std::move(structure.nodes);
  entry.custom_ops = graph.graph().custom_ops;
  const std::size_t replaced = evicted.size();
  const bool kept = shelf_.make_room(entry, bytes, evicted);
  for (std::size_t i = replaced; i < evicted.size(); ++i) {
    counts_.evicted(evicted[i].key, evicted[i].reason);
    report_end(evicted[i].graph, evicted[i].reason, "");
    churned = true;
  }
  if (!kept) {
    entry.miss = MissReason::rejected;
    entry.text = "Its graph (" + std::to_string(bytes) +
                 " bytes) found no room beside those that are in use.";
    counts_.rejected(entry.key);
    report_end(graph, "rejected", "");
    return churned;
  }
  entry.state = state;
  entry.miss = MissReason::none;
  entry.text.clear();
  entry.graph = std::move(graph);
  return churned;
}

void KeyedGraphs::require_same_structure(const KeyEntry& entry, const CapturedGraph& graph,
                                         const GraphStructure& structure) const {
  if (!entry.nodes) {
    return;
  }
  const auto differs = first_difference(*entry.nodes, structure.nodes);
  if (!differs) {
    return;
  }
  std::string before = "no op " + std::to_string(*differs);
  if (*differs < entry.nodes->size()) {
    const NodeSignature& node = (*entry.nodes)[*differs];
    before =
        std::string(node.op->name) + ", " + node.where.file + ":" + std::to_string(node.where.line);
  }
  throw_invalid_argument(sentence(
      entry.key,
      "is recorded again with another structure: " + describe_node(graph.graph(), *differs) +
          " is the first node that differs; it was " + before +
          ". What changes the structure belongs into the key, or the key "
          "is reset before."));
}

void KeyedGraphs::drop_if_stale(KeyEntry& entry) {
  std::optional<std::string> why;
  if (entry.graph) {
    why = entry.graph.stale();
  }
  if (why) {
    report_end(entry.graph, "", *why);
    shelf_.drop(entry);
    entry.nodes.reset();  // other memory is another key, in effect
    entry.take(MissReason::stale, *why);
    counts_.stale(entry.key);
  }
}

void KeyedGraphs::report_end(const CapturedGraph& graph, std::string_view evicted,
                             std::string_view stale) const {
  const std::uint64_t id = graph.inner().reporter().id();
  if (id != 0) {
    core_->profile()->sink().recording_ended(
        {id, now_ns(), std::string(evicted), std::string(stale)});
  }
}

GraphLookup KeyedGraphs::find(const GraphKey& key) const {
  GraphLookup found;
  const std::shared_ptr<KeyEntry> entry = shelf_.find(key);
  if (entry == nullptr) {
    found.text = sentence(key, "is new.");
    return found;
  }
  const Locked locked(*entry);
  found.miss = entry->miss;
  found.text = entry->text;
  if (entry->graph) {
    found.bytes = entry->graph.bytes();
    found.replays = entry->graph.num_replays();
    if (const auto why = entry->graph.stale()) {
      found.miss = MissReason::stale;
      found.text = *why;
    }
  }
  return found;
}

std::size_t KeyedGraphs::reset(KeyEntry& entry) {
  const Locked locked(entry);
  entry.nodes.reset();
  const bool had = static_cast<bool>(entry.graph);
  if (had) {
    report_end(entry.graph, "reset", "");
    shelf_.drop(entry);
    counts_.reset(entry.key);
  }
  if (entry.miss != MissReason::absent) {
    entry.take(MissReason::reset, "It was reset.");
  }
  return had ? 1 : 0;
}

std::size_t KeyedGraphs::reset(const GraphKey& key) {
  require_owner(key);
  const std::shared_ptr<KeyEntry> entry = shelf_.find(key);
  return entry == nullptr ? 0 : reset(*entry);
}

std::size_t KeyedGraphs::reset_all(std::uint64_t owner) {
  std::size_t count = 0;
  for (const std::shared_ptr<KeyEntry>& entry : shelf_.all()) {
    if (owner == 0 || entry->key.owner.number() == owner) {
      count += reset(*entry);
    }
  }
  return count;
}

GraphCacheCounters KeyedGraphs::counters() const {
  GraphCacheCounters counters = counts_.get();
  const GraphShelf::Totals totals = shelf_.totals();
  counters.graphs = totals.graphs;
  counters.bytes = totals.bytes;
  return counters;
}

}  // namespace reprise
