#include <deque>
#include <future>

#include "tests/crossed/common.h"
#include "tests/crossed/devices.h"
#include "tests/crossed/types.h"

namespace reprise::crossed {
namespace {

/// Rounds by one executable graph, which may give way to a fork of it.
class ExecutableWays {
 public:
  ExecutableWays(const Program& program, const Device& device, const std::string& folder)
      : program_(program),
        device_(device),
        executor_(device, executor_options(program, folder, slots())),
        weights_(program.rounds.front().weights) {
    surroundings_.by_name = true;
    compile_kernels(device, program, surroundings_);
    record_ = [this](GraphSession& session) { record(session, program_, surroundings_); };
    graph_.emplace(executor_, record_, options());
    for (const int id : leaves()) {
      const auto leaf = static_cast<Leaf>(id);
      if (is_weight(leaf)) {
        graph_->set_param(name_of(leaf), bytes_of(leaf, program, first()), dtype(leaf));
      } else if (is_handle(leaf)) {
        add_handle(leaf);
      }
    }
    add_feeds();
    set_notes(graph_->state(), program);
  }

  Outcome run() {
    for (const Round& round : program_.rounds) {
      round_ = &round;
      outcome_.rounds.emplace_back();
      between();
      set_weights();
      if (program_.setup.extent) {
        graph_->set_active_extent(round.rows);
      }
      graph_->set_iterations(static_cast<std::uint32_t>(round.iterations));
      set_state(graph_->state(), program_, round, !program_.setup.extent);
      if (program_.setup.other_threads) {
        std::async(std::launch::async, [&] { run_round(); }).get();
      } else {
        run_round();
      }
    }
    take_all();
    graph_->wait_all();
    outcome_.left = handles_of(*graph_);
    read_state(graph_->state(), program_, outcome_);
    expect_forked_ones_as_left();
    return outcome_;
  }

 private:
  struct Pending {
    std::size_t round;
    Ticket ticket;
  };
  struct Forked {
    ExecutableGraph graph;
    Outputs handles;
  };

  const Round& first() const { return program_.rounds.front(); }
  std::size_t slots() const { return static_cast<std::size_t>(program_.setup.in_flight) + 1; }
  DType dtype(Leaf leaf) const { return dtype_of(data_of(leaf, program_, first()).kind); }
  bool is_handle(Leaf leaf) const { return is_written(leaf) || leaf == Leaf::memory; }
  /// Those that the pass declares.
  std::vector<int> leaves() const {
    std::vector<int> used;
    for (int id = 0; id < kLeaves; ++id) {
      const bool placed = id == id_of(Leaf::experts) && program_.setup.placed_experts;
      if (program_.uses(static_cast<Leaf>(id)) && !placed) {
        used.push_back(id);
      }
    }
    return used;
  }

  ExecutableOptions options() const {
    ExecutableOptions options;
    options.name = "crossed";
    options.state = layout_of(program_.setup);
    if (program_.setup.extent) {
      options.extent = "rows";
      options.buckets = {2, program_.setup.bucket};
    }
    options.slots = slots();
    options.passes = pass_options(program_.setup);
    options.max_iterations = static_cast<std::uint32_t>(program_.max_iterations());
    if (program_.setup.placed_experts && program_.has(OpKind::experts)) {
      const ExpertStore store(kExperts);
      const std::vector<std::byte> bytes = bytes_of(Leaf::experts, program_, first());
      const auto layers = std::ranges::count(program_.ops, OpKind::experts, &Op::kind);
      for (std::ptrdiff_t i = 0; i < layers; ++i) {
        store.add("layer." + std::to_string(i), "up", shape_of(Leaf::experts, program_.setup),
                  DType::f32, bytes);
      }
      // Room for all, or for two or three of four.
      const std::uint64_t cells = program_.seed % 3 + 1;
      const std::uint64_t budget = cells == 1 ? 0
                                              : bytes.size() / static_cast<std::size_t>(kExperts) *
                                                    cells * static_cast<std::uint64_t>(layers);
      options.experts = {
          .store = store,
          .options = {.budget_bytes = budget,
                      .misses = program_.setup.cpu_misses ? ExpertMiss::cpu : ExpertMiss::upload,
                      .refresh_interval = 2}};
      if (program_.setup.where != Where::cpu) {
        options.experts.cpu = device_for({}, false);
      }
    }
    return options;
  }

  void add_handle(Leaf leaf) {
    const bool host = program_.setup.handles == Handles::host && is_written(leaf);
    graph_->create_handle({.name = name_of(leaf),
                           .shape = shape_of(leaf, program_.setup),
                           .dtype = dtype(leaf),
                           .residency = host ? HandleResidency::host : HandleResidency::device});
    const std::vector<std::byte> bytes = bytes_of(leaf, program_, first());
    if (program_.setup.handles == Handles::bound && is_written(leaf)) {
      graph_->bind(name_of(leaf), device_.from_host(shape_of(leaf, program_.setup), dtype(leaf),
                                                    bytes, name_of(leaf)));
    } else {
      graph_->bind(name_of(leaf), bytes, dtype(leaf));
    }
  }

  void add_feeds() {
    for (const int output : program_.outputs) {
      const auto leaf = static_cast<Leaf>(output);
      const bool written =
          std::ranges::any_of(program_.ops, [&](const Op& op) { return written_by(op) == output; });
      if (output < kLeaves && is_written(leaf) && written) {
        graph_->feed(name_of(leaf), name_of_value(output),
                     {.mode = FeedMode::in_place, .to_host = true});
      }
    }
    if (program_.fed >= 0) {
      const FeedMode mode = program_.setup.feed == Feed::swap ? FeedMode::swap : FeedMode::copy;
      graph_->feed("memory", name_of_value(program_.fed), {.mode = mode, .to_host = true});
    }
  }

  Outputs handles_of(const ExecutableGraph& graph) const {
    Outputs handles;
    for (const int id : leaves()) {
      const auto leaf = static_cast<Leaf>(id);
      if (is_handle(leaf)) {
        handles[name_of(leaf)] = numbers_of(dtype(leaf), graph.read_bytes(name_of(leaf)));
      }
    }
    return handles;
  }

  void between() {
    switch (round_->before) {
      case Between::fork:
        fork();
        break;
      case Between::compile:
        graph_->compile();
        break;
      case Between::abandoned: {
        if (program_.setup.extent) {
          graph_->set_active_extent(round_->rows);
        }
        PreparedRun run = graph_->prepare();
        for (const auto& [name, bytes] : values(false)) {
          if (!graph_->has_handle(name)) {
            run.write(graph_->input_slot(name), bytes);
          }
        }
        break;
      }
      case Between::trim:
        executor_.trim();
        break;
      default:
        break;
    }
  }

  /// What is in flight has those of before.
  void set_weights() {
    if (round_->weights == weights_) {
      return;
    }
    weights_ = round_->weights;
    for (const int id : leaves()) {
      const auto leaf = static_cast<Leaf>(id);
      if (is_weight(leaf)) {
        graph_->set_param(name_of(leaf), bytes_of(leaf, program_, *round_), dtype(leaf));
      }
    }
  }

  /// The fork goes on where the graph is; the graph has to stay as it is.
  void fork() {
    const Outputs handles = handles_of(*graph_);
    ExecutableGraph next = graph_->fork();
    // The state of a run is known once its ticket was asked.
    take_all();
    const StateBlock from = graph_->state(), to = next.state();
    to.set({{"pos", from.get("pos")}, {"token", from.get("token")}, {"done", from.get("done")}});
    if (outcome_.rounds.size() == 1) {
      set_notes(to, program_);  // what was set before any run is not read back
    } else {
      const std::vector<float> notes = from.values<float>("notes");
      to.set("notes", std::span<const float>(notes));
    }
    for (const auto& [name, numbers] : handles) {
      next.bind(name, numbers.bytes, dtype_of(numbers.kind));
    }
    forked_.push_back({std::move(*graph_), handles});
    graph_.emplace(std::move(next));
  }
  void expect_forked_ones_as_left() const {
    for (const Forked& forked : forked_) {
      for (const auto& [name, numbers] : handles_of(forked.graph)) {
        if (numbers.bytes != forked.handles.at(name).bytes) {
          throw std::runtime_error("a fork changed the handle " + name);
        }
      }
    }
  }

  /// Of inputs, by name. `padded`: as the program pads them.
  std::vector<std::pair<std::string, std::vector<std::byte>>> values(bool padded) const {
    const std::int64_t bucket = round_->rows <= 2 ? 2 : program_.setup.bucket;
    const std::int64_t max = padded ? bucket : round_->rows;
    std::vector<std::pair<std::string, std::vector<std::byte>>> values;
    for (const int id : leaves()) {
      const auto leaf = static_cast<Leaf>(id);
      if (is_input(leaf) && leaf != Leaf::memory) {
        values.emplace_back(name_of(leaf), padded_bytes_of(leaf, program_, *round_, max));
      }
      const bool given = (leaf == Leaf::memory && round_->given == Given::memory) ||
                         (leaf == Leaf::table && round_->given == Given::table);
      if (given) {
        values.emplace_back(name_of(leaf), given_bytes_of(leaf, program_, *round_));
      }
    }
    return values;
  }
  std::vector<NamedInput> inputs() const {
    std::vector<NamedInput> inputs;
    for (auto& [name, bytes] : values(true)) {
      inputs.emplace_back(name, name == "ids" ? DType::i32 : DType::f32,
                          std::vector<std::byte>(bytes));
    }
    return inputs;
  }

  void run_round() {
    switch (round_->how) {
      case How::run:
        take(graph_->run(inputs()));
        break;
      case How::submit:
        keep(graph_->submit(inputs()));
        break;
      case How::prepared: {
        PreparedRun run = graph_->prepare();
        for (const auto& [name, bytes] : values(false)) {
          run.write(graph_->input_slot(name), bytes);
        }
        take(run.run());
        break;
      }
      case How::pipelined: {
        const std::vector<std::vector<NamedInput>> runs{inputs()};
        graph_->run_pipelined(runs, [&](std::size_t, const Ticket& result) { take(result); });
        break;
      }
      default:
        throw std::logic_error("not of executable graphs");
    }
  }

  void take(const Ticket& result) { outcome_.rounds.back() = outcome_of(result, program_); }
  void keep(Ticket ticket) {
    pending_.push_back({outcome_.rounds.size() - 1, std::move(ticket)});
    while (pending_.size() >= slots()) {
      take_first();
    }
  }
  void take_all() {
    while (!pending_.empty()) {
      take_first();
    }
  }
  void take_first() {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    outcome_.rounds[pending.round] = outcome_of(pending.ticket, program_);
  }

  const Program& program_;
  Device device_;
  GraphExecutor executor_;
  Surroundings surroundings_;
  RecordFunction record_;
  std::optional<ExecutableGraph> graph_;
  std::vector<Forked> forked_;
  std::deque<Pending> pending_;
  const Round* round_ = nullptr;
  int weights_;
  Outcome outcome_;
};

}  // namespace

Outcome run_executable(const Program& program, const Device& device, const std::string& folder) {
  return ExecutableWays(program, device, folder).run();
}

}  // namespace reprise::crossed
