// What a random program holds: objects of the library, each beside its model.
#pragma once
#include "tests/session/programs/body_model.h"

namespace reprise::testing::programs {

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
  std::optional<std::size_t> key;  // under which it is to be kept
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

}  // namespace reprise::testing::programs
