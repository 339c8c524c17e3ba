#include <deque>
#include <future>

#include "reprise/graph/compute_graph.h"
#include "reprise/session/partial_run.h"
#include "reprise/session/saved_graphs.h"
#include "tests/crossed/session_tensors.h"
#include "tests/crossed/types.h"

namespace reprise::crossed {
namespace {

/// Every round is run by what it names; state, tensors and graphs go from round to round.
class SessionWays {
 public:
  SessionWays(const Program& program, const Device& device, const std::string& folder, bool plain)
      : program_(program),
        plain_(plain),
        device_(device),
        folder_(folder),
        executor_(device, executor_options(program, folder, slots())),
        second_(device, executor_options(program, "", slots())),
        state_(device, layout_of(program.setup)),
        tensors_(program, device),
        cache_(executor_, {.finish = finish_options(true)}),
        pool_(device) {
    set_notes(state_, program);
    memory_ = bytes_of(Leaf::memory, program, first());
    record_ = [this](GraphSession& session) { record(session, program_, tensors_.surroundings()); };
  }

  Outcome run() {
    for (const Round& round : program_.rounds) {
      round_ = &round;
      outcome_.rounds.emplace_back();
      tensors_.set_weights(round);
      set_state(state_, program_, round, true);
      if (program_.setup.other_threads && !plain_) {
        std::async(std::launch::async, [&] { do_round(); }).get();
      } else {
        do_round();
      }
    }
    take_all();
    executor_.synchronize();
    tensors_.read(outcome_);
    if (program_.uses(Leaf::memory)) {
      outcome_.left["memory"] = numbers_of(DType::f32, memory_);
    }
    read_state(state_, program_, outcome_);
    return outcome_;
  }

 private:
  struct Pending {
    std::size_t round;
    Ticket ticket;
  };

  /// Of the round.
  GraphExecutor& executor() {
    const bool second = program_.setup.two_executors && outcome_.rounds.size() % 2 == 0;
    return second ? second_ : executor_;
  }

  void do_round() {
    if (!plain_) {
      between();
    }
    tensors_.give_table(*round_);
    run_round();
    if (program_.fed >= 0) {
      take_all();
      keep_memory();
    }
    tensors_.end_given(ran() && keeps_given_table(program_));
  }
  bool ran() const { return outcome_.rounds.back().iterations > 0; }

  const Round& first() const { return program_.rounds.front(); }
  std::size_t slots() const { return static_cast<std::size_t>(program_.setup.in_flight) + 1; }
  FinishOptions finish_options(bool run = false) const {
    return {.passes = pass_options(program_.setup),
            .slots = slots(),
            .run = run,
            .joined_host_steps = program_.setup.joined_host_steps};
  }

  std::vector<std::byte> input(Leaf leaf) const {
    if (leaf == Leaf::memory) {
      return round_->given == Given::memory ? given_bytes_of(leaf, program_, *round_) : memory_;
    }
    return padded_bytes_of(leaf, program_, *round_, bucket());
  }
  std::vector<NamedInput> inputs() const {
    std::vector<NamedInput> inputs;
    for (const Leaf leaf : {Leaf::x, Leaf::y, Leaf::ids, Leaf::mask, Leaf::memory}) {
      if (program_.uses(leaf)) {
        inputs.emplace_back(name_of(leaf), leaf == Leaf::ids ? DType::i32 : DType::f32,
                            input(leaf));
      }
    }
    return inputs;
  }
  void set_inputs(CapturedGraph& graph) const {
    for (const NamedInput& input : inputs()) {
      graph.set_input(input.name, input.dtype, input.bytes);
    }
  }
  SessionOptions session_options() const {
    SessionOptions options{.name = "crossed", .state = state_};
    if (program_.setup.extent) {
      options.extents = {{"rows", bucket()}};
    }
    options.inputs = inputs();
    return options;
  }
  SessionOptions recorded_options() const {
    SessionOptions options = session_options();
    options.max_iterations = static_cast<std::uint32_t>(program_.max_iterations());
    return options;
  }
  /// Executable graphs choose the smallest bucket; their direct runs are of the same.
  std::int64_t bucket() const {
    const bool small = program_.setup.executable && round_->rows <= 2;
    return small ? 2 : program_.setup.bucket;
  }
  LaunchOptions launch_options() const {
    return {.iterations = static_cast<std::uint32_t>(round_->iterations)};
  }

  void between() {
    switch (round_->before) {
      case Between::prewarm:
        static_cast<void>(executor().prewarm(record_, recorded_options()));
        break;
      case Between::lint:
        static_cast<void>(lint(executor(), record_, {.session = recorded_options()}));
        break;
      case Between::verify: {
        const VerifyReport report =
            verify(executor(), record_, {.session = session_options(), .finish = finish_options()});
        if (!report.equal()) {
          throw std::runtime_error(report.text());
        }
        break;
      }
      case Between::abandoned: {
        if (!program_.has(OpKind::host_step)) {  // what is in front of one has run
          GraphSession direct = executor().begin(session_options());
          record_(direct);
        }
        GraphSession recorded = executor().begin_recorded(recorded_options());
        record_(recorded);
        break;
      }
      case Between::trim:
        executor().trim();
        break;
      case Between::moved:
        tensors_.move(true);
        break;
      case Between::reset:
        cache_.reset_all();
        executor_.reset_all_graphs();
        second_.reset_all_graphs();
        break;
      default:
        break;
    }
  }

  RoundOutcome& outcome() { return outcome_.rounds.back(); }

  void run_round() {
    switch (plain_ ? How::direct : round_->how) {
      case How::direct:
        run_direct(0);
        break;
      case How::parts:
        run_direct(2);
        break;
      case How::submitted: {
        GraphSession session = executor().begin(session_options());
        record_(session);
        keep(session.submit());
        break;
      }
      case How::captured: {
        FinishResult result = executor().capture(record_, recorded_options(), finish_options(true));
        graph_ = std::move(result.graph);
        take(result.outputs());
        break;
      }
      case How::launched:
        launch(graph());
        break;
      case How::async:
        graph();
        set_inputs(graph_);
        keep(graph_.launch_async(launch_options()));
        break;
      case How::prefix: {
        graph();
        set_inputs(graph_);
        const std::size_t nodes = graph_.graph().nodes.size();
        static_cast<void>(graph_.run_prefix(static_cast<std::uint32_t>(nodes - 1)));
        outcome().iterations = 1;
        outcome().outputs.resize(1);
        break;
      }
      case How::cached:
        keep(cache_
                 .run({.owner = owner_, .tag = "pass"}, record_, recorded_options(),
                      launch_options())
                 .ticket);
        break;
      case How::keyed:
        run_keyed();
        break;
      case How::loaded:
        load();
        break;
      case How::rebound:
        rebind();
        launch(graph_);
        break;
      case How::pooled:
        launch(pooled());
        break;
      default:
        throw std::logic_error("not of sessions");
    }
  }

  void run_direct(std::uint32_t ops_per_submit) {
    for (int i = 0; i < round_->iterations; ++i) {
      if ((program_.setup.extent && round_->rows == 0) || stopped(i)) {
        return;
      }
      SessionOptions options = session_options();
      options.ops_per_submit = ops_per_submit;
      GraphSession session = executor().begin(options);
      record_(session);
      take(session.finish().outputs());
      if (program_.fed >= 0) {
        keep_memory();
      }
    }
  }

  /// Direct sessions run in any case.
  bool stopped(int iteration) {
    const bool just_set = iteration == 0 && round_->position >= 0;
    if (!program_.looks_at_stop() || just_set) {
      return false;
    }
    take_all();  // the state of a run is known once its ticket was asked
    return state_.get("done") != 0;
  }

  CapturedGraph& graph() {
    if (!graph_ || graph_.stale()) {
      graph_ = executor().capture(record_, recorded_options(), finish_options()).graph;
    }
    return graph_;
  }

  void launch(CapturedGraph& graph) {
    set_inputs(graph);
    graph.launch(launch_options());
    outcome() = outcome_of(graph, program_);
  }

  void run_keyed() {
    const GraphKey key{.owner = owner_, .tag = "captured"};
    KeyedRun run = executor().replay_graph(key, inputs(), launch_options());
    if (!run) {
      GraphSession session = executor().begin_graph_capture(recorded_options());
      record_(session);
      static_cast<void>(executor().end_graph_capture(key, session, finish_options()));
      run = executor().replay_graph(key, inputs(), launch_options());
    }
    if (!run) {
      throw std::runtime_error(run.text);
    }
    keep(std::move(run.ticket));
  }

  void load() {
    const std::string path = folder_ + "/graph";
    graph();
    set_inputs(graph_);
    graph_.save(path);
    LoadOptions options{.state = state_};
    for (const auto& [leaf, tensor] : tensors_.surroundings().tensors) {
      options.tensors[name_of(leaf)] = tensor;
    }
    if (executor().device().info().backend == "cpu") {
      options.kernels = {tensors_.surroundings().product, tensors_.surroundings().accumulate};
    } else {
      options.trust_kernels = true;
    }
    LoadedGraph loaded = executor().load_graph(path, options);
    if (loaded.report.replanned) {
      throw std::runtime_error("planned again: " + loaded.report.reason);
    }
    launch(loaded.graph);
    graph_ = std::move(loaded.graph);
  }

  void rebind() {
    graph();
    for (const auto& [from, to] : tensors_.move(false)) {
      try {
        graph_.rebind(from, to);
      } catch (const Error& error) {
        // A pass may have left out what used it.
        if (error.code() != ErrorCode::invalid_argument) {
          throw;
        }
      }
    }
    cache_.reset_all();
    executor_.reset_all_graphs();
    second_.reset_all_graphs();
    pooled_ = {};
  }

  /// One of two graphs whose arenas lie over each other, in turn.
  CapturedGraph& pooled() {
    FinishOptions options = finish_options();
    options.pool = pool_;
    for (CapturedGraph& graph : pooled_) {
      if (!graph || graph.stale()) {
        graph = executor().capture(record_, recorded_options(), options).graph;
      }
    }
    std::swap(pooled_[0], pooled_[1]);
    return pooled_[0];
  }

  void take(const OutputSet& set) {
    if (set.all().empty()) {
      return;  // the state said stop
    }
    Outputs outputs;
    for (const int id : program_.outputs) {
      const std::string name = name_of_value(id);
      const OutputSet::Output& output = set.find(name);
      outputs[name] = numbers_of(output.spec.dtype, output.bytes);
    }
    ++outcome().iterations;
    outcome().outputs.push_back(std::move(outputs));
  }

  void keep(Ticket ticket) {
    pending_.push_back({outcome_.rounds.size() - 1, std::move(ticket)});
    while (pending_.size() >= slots()) {
      take_first();
    }
  }
  void take_first() {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    outcome_.rounds[pending.round] = outcome_of(pending.ticket, program_);
  }
  void take_all() {
    while (!pending_.empty()) {
      take_first();
    }
  }
  void keep_memory() {
    if (!outcome().outputs.empty()) {
      memory_ = outcome().outputs.back().at(name_of_value(program_.fed)).bytes;
    }
  }

  const Program& program_;
  bool plain_;
  Device device_;
  std::string folder_;
  GraphExecutor executor_, second_;
  StateBlock state_;
  SessionTensors tensors_;
  GraphOwner owner_{"crossed"};
  GraphCache cache_;
  CapturePool pool_;
  RecordFunction record_;
  CapturedGraph graph_;
  std::array<CapturedGraph, 2> pooled_;
  std::deque<Pending> pending_;
  std::vector<std::byte> memory_;
  const Round* round_ = nullptr;
  Outcome outcome_;
};

}  // namespace

Outcome run_sessions(const Program& program, const Device& device, const std::string& folder) {
  return SessionWays(program, device, folder, false).run();
}

Outcome run_directly(const Program& program, const Device& device, const std::string& folder) {
  Program plain = program;
  plain.setup.profiled = plain.setup.watched = false;
  plain.setup.placed_experts = plain.setup.two_executors = false;
  return SessionWays(plain, device, folder, true).run();
}

}  // namespace reprise::crossed
