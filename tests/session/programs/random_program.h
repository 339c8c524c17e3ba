// A random program of API calls. Every call is predicted by the models beside it: its values, or
// the code of its error; docs/states.md is the same in words.
#pragma once
#include <functional>
#include <random>

#include "tests/session/programs/keyed_model.h"
#include "tests/session/programs/pass.h"

namespace reprise::testing {

/// What a call may throw. Where several rules forbid it, any of their codes will do.
class Outcome {
 public:
  Outcome& unless(bool allowed, ErrorCode code = ErrorCode::invalid_argument) {
    if (!allowed) {
      codes_.push_back(code);
    }
    return *this;
  }
  Outcome& refused(const std::vector<ErrorCode>& mistakes) {
    codes_.insert(codes_.end(), mistakes.begin(), mistakes.end());
    return *this;
  }
  /// Another rule may be looked at first.
  void or_of(const Outcome& other) {
    codes_.insert(codes_.end(), other.codes_.begin(), other.codes_.end());
  }
  bool ok() const { return codes_.empty(); }
  bool may_be(ErrorCode code) const { return std::ranges::count(codes_, code) != 0; }
  std::string text() const;

 private:
  std::vector<ErrorCode> codes_;
};

/// A call did something else than its prediction; what() tells the program.
class Surprise : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class RandomProgram {
 public:
  /// `replays`: whether the device does.
  RandomProgram(Device device, bool replays, std::uint64_t seed);
  /// Throws Surprise.
  void run(std::size_t calls);
  /// How many calls went which way, over all programs: "launch ok" -> 7.
  using Counts = std::map<std::string, std::uint64_t>;
  const Counts& counts() const { return counts_; }

 private:
  using State = programs::State;
  using StateRef = programs::StateRef;
  using Held = programs::Held;
  using Transient = programs::Transient;
  using Executor = programs::Executor;
  using Run = programs::Run;
  using RunRef = programs::RunRef;
  using Phase = programs::Phase;
  using Session = programs::Session;
  using Graph = programs::Graph;
  using TicketOf = programs::TicketOf;
  using KeyModel = programs::KeyModel;
  using KeyedModel = programs::KeyedModel;
  using Cache = programs::Cache;
  using Pass = programs::Pass;
  using GivenInputs = programs::GivenInputs;
  /// The graphs of an executor by key, or a cache.
  struct Door {
    std::string name;
    KeyedModel& model;
    GraphExecutor* executor;
    GraphCache* cache;  // null: the executor's
  };
  /// What a run by key is to do.
  struct KeyedPlan {
    Outcome outcome{};
    RunOutcome how = RunOutcome::none;
    MissReason miss = MissReason::none;
    std::optional<Graph> unkept{};  // what runs, if not the graph of the key
  };

  // One call each, or a few that belong together.
  void open_executor();
  void drop_executor();
  void end_executor();
  void begin();
  void input();
  void op();
  void output();
  void finish();
  void submit();
  void ask_session();
  void discard();
  void launch();
  void launch_async(bool may_wait);
  void set_input();
  void set_state();
  void read_graph();
  void ask_graph();
  void set_timing();
  void rebind();
  void move_graph();
  void drop_graph();
  void read_ticket();
  void ask_ticket();
  void release_ticket();
  void move_ticket();
  void begin_capture();
  void end_capture();
  void replay_by_key();
  void find_by_key();
  void reset_key();
  void reset_keys();
  void ask_counters();
  void new_cache();
  void drop_cache();
  void run_cache();
  void change_pass();
  void new_buffer();
  void read_buffer();
  void write_buffer();
  void free_buffer();
  void grow_buffer();
  void drop_tensor();

  // op_calls.cpp
  /// `one_row`: if there is one.
  Transient operand(Session& session, bool integers, bool one_row = false);
  void record(Session& session, OpModel op, const Transient& x, const Transient& y);
  ParamModel random_param(bool has_state, std::int32_t low, std::int32_t high);
  void random_attributes(OpModel& op, bool has_state);
  OpKind towards_advance(const Session& session, OpKind otherwise);
  // session_calls.cpp
  Session* pick_session();
  void make_room_for_a_session();
  void hand_over(Session& session);
  RunRef run_session(Session& session);
  /// What a call that failed does to a session.
  static void failed(Session& session);
  // keyed_calls.cpp
  std::size_t random_key();
  GraphKey key_of(std::size_t key) const;
  static std::string text_of_key(std::size_t key);
  Pass& pass_for(std::size_t key);
  Door random_door();
  void settle(const KeyedModel& model);
  void encode_again(RunOutcome& how, MissReason& miss) const;
  void adopt(KeyedRun& real, Graph& graph, std::uint32_t iterations);
  void require_how(const KeyedRun& real, RunOutcome how, MissReason miss);
  void require_counters(const Door& door);
  void count(const std::string& outcome) { ++counts_[outcome]; }
  // cache_calls.cpp
  KeyedPlan plan_run(Cache& cache, std::size_t key, const Pass& pass, const GivenInputs& given,
                     std::uint32_t iterations, std::uint32_t refusals);
  KeyedPlan plan_recording(Cache& cache, KeyModel& entry, const Pass& pass,
                           const GivenInputs& given, std::uint32_t iterations,
                           std::uint32_t refusals);
  KeyedPlan plan_direct(const Cache& cache, const Pass& pass, const GivenInputs& given,
                        std::uint32_t iterations, bool refused);
  // pass_calls.cpp
  static constexpr std::size_t kPasses = 3;
  Pass random_pass(std::size_t at);
  static std::string describe(const Pass& pass);
  OperandModel pass_operand(Pass& pass, bool integers);
  GivenInputs random_inputs(const BodyModel& body);
  // graph_calls.cpp
  RunRef run_graph(Graph& graph, std::uint32_t iterations);
  std::uint32_t random_iterations(const Graph& graph);
  Outcome launch_outcome(const Graph& graph, std::uint32_t iterations, bool& keeps_last) const;
  void completed(Run& run);
  void expect_output(const Run& run, const std::string& name,
                     std::optional<std::uint32_t> iteration, const std::string& call,
                     const std::function<std::vector<std::byte>()>& read);

  template <class T>
  T* pick(std::vector<T>& list) {
    return list.empty() ? nullptr : &list[number(0, list.size() - 1)];
  }
  std::uint64_t number(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(rng_);
  }
  bool chance(std::uint64_t of) { return number(1, of) == 1; }
  Value random_rows(std::int64_t rows);
  std::string fresh(const char* kind) { return kind + std::to_string(++names_); }

  /// Calls f; whether it succeeded, as predicted.
  bool call(const std::string& text, const Outcome& outcome, const std::function<void()>& f);
  void require(bool as_documented, const std::string& what);
  void require_value(const Value& expected, std::span<const std::byte> bytes,
                     const std::string& what);

  Device device_;
  bool replays_;
  GraphOwner owners_[2]{GraphOwner("a"), GraphOwner("b")};
  std::mt19937_64 rng_;
  std::vector<std::string> calls_;
  Counts counts_;
  std::uint64_t names_ = 0;
  std::vector<StateRef> states_;
  std::vector<Held> tensors_;
  std::vector<Executor> executors_;
  std::vector<Session> sessions_;
  std::vector<Graph> graphs_;
  std::vector<Pass> passes_;
  std::vector<Cache> caches_;
  std::vector<TicketOf> tickets_;
};

}  // namespace reprise::testing
