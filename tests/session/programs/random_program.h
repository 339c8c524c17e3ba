// A random program of API calls. Every call is predicted by the models beside it: its values, or
// the code of its error; docs/states.md is the same in words.
#pragma once
#include <functional>
#include <random>

#include "tests/session/programs/body_model.h"

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
  RandomProgram(Device device, std::uint64_t seed);
  /// Throws Surprise.
  void run(std::size_t calls);
  /// How many calls went which way, over all programs: "launch ok" -> 7.
  using Counts = std::map<std::string, std::uint64_t>;
  const Counts& counts() const { return counts_; }

 private:
  struct State {
    StateBlock real;
    StateModel model;
  };
  using StateRef = std::shared_ptr<State>;
  struct Held {
    Tensor real;  // empty: no tensor at all
    BufferRef buffer;
  };
  struct Transient {
    Tensor real;
    OperandModel operand;
    bool integers = false;
    std::uint64_t session = 0;
  };
  struct Executor {
    GraphExecutor real;
    std::shared_ptr<bool> running = std::make_shared<bool>(true);
  };
  /// Replays of a graph: those known to be complete, and all.
  struct Replays {
    std::uint64_t known = 0, all = 0;
  };
  /// Slots of a graph that tickets hold, and how many at most are released and still in flight.
  struct SlotUse {
    std::size_t held = 0, perhaps_busy = 0;
  };
  /// What one submission did.
  struct Run {
    std::uint32_t ran = 0, iterations = 1;
    std::vector<std::map<std::string, Value>> outputs;  // of every iteration that ran
    std::vector<StateWords> words;
    StateWords last_words{};
    StateRef state;
    std::size_t submission = 0;  // of the state
    std::shared_ptr<Replays> replays;
    bool known = false;  // that it is complete
  };
  using RunRef = std::shared_ptr<Run>;
  enum class Phase : std::uint8_t { recording, finished, invalidated };
  struct Session {
    std::uint64_t number;
    std::string name;
    std::unique_ptr<GraphSession> real;
    std::shared_ptr<const bool> running;  // its executor
    bool recorded;
    StateRef state;
    std::uint32_t max_iterations, ops_per_submit;
    Phase phase = Phase::recording;
    BodyModel body;
    std::vector<Transient> tensors;
    // Of a direct session that is handed over in parts:
    std::uint32_t ops = 0;                     // as the library counts them
    std::size_t handed_over = 0;               // ops of the body
    std::optional<std::vector<Value>> memory;  // from the first part on
    std::size_t buffers_handed_over = 0;       // of those of the body
    bool usable() const { return phase == Phase::recording && *running; }
    /// Whether ops that are still to be submitted use freed memory; with outputs: what finish()
    /// sees.
    bool stale(bool with_outputs) const;
  };
  struct Graph {
    std::string name;
    CapturedGraph real;
    std::shared_ptr<const bool> running;  // its executor
    BodyModel body;
    StateRef state;
    std::uint32_t max_iterations = 1;
    std::size_t slots = 1;
    std::shared_ptr<Replays> replays = std::make_shared<Replays>();
    std::shared_ptr<SlotUse> use = std::make_shared<SlotUse>();
    RunRef last;  // of launch()
    bool empty = false;
  };
  struct TicketOf {
    std::string name;
    Ticket real;
    RunRef run;                    // null: the ticket is empty
    std::shared_ptr<SlotUse> use;  // of its graph; null: of a session
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
  void new_buffer();
  void read_buffer();
  void write_buffer();
  void free_buffer();
  void grow_buffer();
  void drop_tensor();

  // session_calls.cpp
  Session* pick_session();
  Transient operand(Session& session, bool integers);
  void record(Session& session, OpModel op, const Transient& x, const Transient& y);
  Tensor call_op(Session& session, const OpModel& op, const Tensor& x, const Tensor& y) const;
  Param<std::int32_t> param(Session& session, const ParamModel& param) const;
  ParamModel random_param(const Session& session, std::int32_t low, std::int32_t high);
  void hand_over(Session& session);
  RunRef run_session(Session& session);
  /// What a call that failed does to a session.
  static void failed(Session& session);
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
  std::mt19937_64 rng_;
  std::vector<std::string> calls_;
  Counts counts_;
  std::uint64_t names_ = 0;
  std::vector<StateRef> states_;
  std::vector<Held> tensors_;
  std::vector<Executor> executors_;
  std::vector<Session> sessions_;
  std::vector<Graph> graphs_;
  std::vector<TicketOf> tickets_;
};

}  // namespace reprise::testing
