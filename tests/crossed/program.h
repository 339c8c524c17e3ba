// A random program as plain data: ops over values, and the rounds in which they run. Knows nothing
// of the library, so that what it means can be said without it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::crossed {

// A few sizes, so that programs share pipelines: columns, heads, elements of a head, rows of
// tables, tokens, experts and how many of them a row uses.
inline constexpr std::int64_t kColumns = 32, kHeads = 2, kHead = 16, kTable = 16, kTokens = 32,
                              kExperts = 4;
inline constexpr int kUsedExperts = 2;

/// What a program begins with. Names are those of inputs, tensors and arrays of the state.
enum class Leaf : std::uint8_t {
  x,               // input f32 [rows, columns]
  y,               // input f32 [rows, columns]
  ids,             // input i32 [rows]: different rows of a table
  mask,            // input f32 [rows, table]
  memory,          // f32 [1, columns]: what the round before left in Program::fed
  norm,            // weight f32 [columns], positive
  w,               // weight f32 [columns, columns]
  w_half,          // the same, f16
  w_blocks,        // the same, q8_0
  embedding,       // weight f32 [tokens, columns]
  embedding_half,  // the same, f16
  router,          // weight f32 [experts, columns]
  experts,         // weight f32 [experts, columns, columns]
  table,           // written f32 [table, columns]
  keys,            // written f32 [table, heads, head]
  values,          // written f32 [table, heads, head]
  halves,          // written f16 [table, heads, head]
  gains,           // host array of the state, f32 [columns]
  picks,           // host array of the state, i32 [4]: different rows of a table
  notes,           // carried array of the state, f32 [columns]
};
inline constexpr int kLeaves = 20;
inline constexpr std::array<const char*, kLeaves> kLeafNames{
    "x",      "y",        "ids",       "mask",           "memory", "norm",    "w",
    "w_half", "w_blocks", "embedding", "embedding_half", "router", "experts", "table",
    "keys",   "values",   "halves",    "gains",          "picks",  "notes"};
constexpr int id_of(Leaf leaf) { return static_cast<int>(leaf); }
inline std::string name_of(Leaf leaf) { return kLeafNames[static_cast<std::size_t>(leaf)]; }

enum class OpKind : std::uint8_t {
  binary,      // numbers[0]: add, sub, mul, div
  unary,       // numbers[0]: silu, gelu, gelu_quick, relu, sigmoid, tanh, neg, sin
  gated,       // numbers[0]: silu_mul, gelu_mul, sigmoid_mul; one operand or two
  scalar,      // numbers[0]: scale, clamp, softcap; numbers[1]: by the state's factor
  matmul,      // x, w, residual
  rms_norm,    // x, weight
  softmax,     // numbers[0]: scaled by the state's factor
  attention,   // q, k, v, mask; numbers[0]: KeyCount, numbers[1]: kCausal and others
  rope,        // x, ids; numbers[0]: Place, numbers[1]: pairing
  set_rows,    // table, values, ids; numbers[0]: Place
  get_rows,    // table, ids; numbers[0]: RowField
  copy,        // x
  cast,        // numbers[0]: Kind
  concat,      // a, b; numbers[0]: dimension
  repeat,      // numbers[0]: times along the last dimension
  pad,         // numbers[0]: before, numbers[1]: after the last dimension
  reduce,      // numbers[0]: sum_rows, mean, max, sum
  argmax,      // x
  cumsum,      // x
  experts,     // x, router, weights; numbers[0]: gate
  advance,     // next
  custom,      // x, w: a kernel of the caller's, x * w
  accumulate,  // x, total: a kernel of the caller's, total += x * factor in place
  host_step,   // x: 2 x + 1 on the host
  slice,       // numbers: dimension, start, length
  reshape,     // numbers[0]: Form
  permute,     // numbers[0]: which
};
inline constexpr int kOpKinds = 27;
inline constexpr std::array<const char*, kOpKinds> kOpNames{
    "binary",    "unary",      "gated",     "scalar",   "matmul",  "rms_norm", "softmax",
    "attention", "rope",       "set_rows",  "get_rows", "copy",    "cast",     "concat",
    "repeat",    "pad",        "reduce",    "argmax",   "cumsum",  "experts",  "advance",
    "custom",    "accumulate", "host_step", "slice",    "reshape", "permute"};

/// Where a row goes, or which position it has.
enum class Place : std::uint8_t { constant, position, ring, ids };
/// Which keys are in use.
enum class KeyCount : std::uint8_t { length, past, constant, all };
inline constexpr int kCausal = 1, kWindow = 2, kSoftcap = 4;
/// Which row is got: those of `ids`, or of a field.
enum class RowField : std::uint8_t { ids, number, token, last };
enum class Form : std::uint8_t { heads, columns, flat, row };
/// Of elements.
enum class Kind : std::uint8_t { f32, f16, q8_0, i32, none };

struct Op {
  OpKind kind = OpKind::copy;
  std::array<int, 4> operands{-1, -1, -1, -1};  // values; -1: none
  std::array<int, 3> numbers{};
  bool operator==(const Op&) const = default;
};

/// What runs a round.
enum class How : std::uint8_t {
  direct,     // a direct session
  parts,      // the same, handed over in parts
  submitted,  // the same, not waited for
  captured,   // the run inside finish()
  launched,   // launch()
  async,      // launch_async()
  prefix,     // run_prefix() of all nodes
  cached,     // GraphCache::run
  keyed,      // replay_graph, after end_graph_capture
  loaded,     // a graph that was saved and loaded
  rebound,    // launch() after its written tensors moved by rebind()
  pooled,     // launch() of a graph that shares its arena with another one
  run,        // the following: of an executable graph
  submit,
  prepared,
  pipelined,
};
inline constexpr int kHows = 16;
inline constexpr std::array<const char*, kHows> kHowNames{
    "direct", "parts",  "submitted", "captured", "launched", "async",  "prefix",   "cached",
    "keyed",  "loaded", "rebound",   "pooled",   "run",      "submit", "prepared", "pipelined"};

/// What happens before a round, and changes nothing.
enum class Between : std::uint8_t {
  nothing,
  prewarm,
  lint,
  verify,
  abandoned,  // sessions or a prepared run, begun and dropped
  trim,
  moved,    // written tensors go on in other memory, and that of before is freed
  reset,    // graphs under keys are let go
  fork,     // this and the following: of executable graphs
  compile,  // all recordings are made
};
inline constexpr int kBetweens = 10;
inline constexpr std::array<const char*, kBetweens> kBetweenNames{
    "nothing", "prewarm", "lint",  "verify", "abandoned",
    "trim",    "moved",   "reset", "fork",   "compile"};

/// What the host gives instead of what is there.
enum class Given : std::uint8_t { nothing, memory, table };

struct Round {
  How how = How::direct;
  Between before = Between::nothing;
  std::uint64_t seed = 1;  // of its inputs and arrays
  int rows = 1;
  int iterations = 1;
  int number = 0;     // host field n
  int factor = 4;     // host field factor, in eighths
  int position = -1;  // what the carried field pos is set to; -1: it is not
  int weights = 0;    // a version of them: where it changes, they are written anew
  Given given = Given::nothing;
};

enum class Where : std::uint8_t { cpu, portable, lanes, gpu };
enum class Passes : std::uint8_t { none, dead_nodes, reorder, in_place, fuse, exact };
enum class Timing : std::uint8_t { off, replay, node, node_serialised };
enum class Feed : std::uint8_t { copy, swap };
/// Whose memory handles of written tensors have.
enum class Handles : std::uint8_t { device, host, bound };

struct Setup {
  Where where = Where::cpu;
  bool mapped = true;
  bool replays = true;
  int threads = 1;
  bool fast = false;  // Precision::fast
  bool serialize = false;
  Passes passes = Passes::none;
  Timing timing = Timing::replay;
  bool profiled = false, watched = false;
  bool executable = false;
  bool extent = false;
  int bucket = 3;  // without an extent: rows of every round
  int in_flight = 1;
  Feed feed = Feed::copy;
  Handles handles = Handles::device;
  bool placed_experts = false;
  bool joined_host_steps = false;
  bool cpu_misses = false;  // placed experts: those without a cell are computed by the CPU
  bool stops = false;
  bool two_executors = false;
  bool other_threads = false;  // every round is run by a thread of its own
  bool tiny_arena = false;     // of direct sessions: it grows
  bool padded = false;         // inputs have more rows than the run
};

struct Program {
  std::uint64_t seed = 0;  // makes it, and its weights
  Setup setup;
  std::vector<Op> ops;
  std::vector<int> outputs;  // values
  int fed = -1;              // a value that the next round finds in `memory`
  std::vector<Round> rounds;

  int max_iterations() const {
    int max = 1;
    for (const Round& round : rounds) {
      max = round.iterations > max ? round.iterations : max;
    }
    return max;
  }
  /// Whether a run looks at the stop field: those that may run several times or not at all.
  bool looks_at_stop() const { return setup.stops && (max_iterations() > 1 || setup.extent); }
  bool has(OpKind kind) const {
    for (const Op& op : ops) {
      if (op.kind == kind) {
        return true;
      }
    }
    return false;
  }
  bool uses(Leaf leaf) const {
    for (const Op& op : ops) {
      for (const int operand : op.operands) {
        if (operand == id_of(leaf)) {
          return true;
        }
      }
    }
    for (const int output : outputs) {
      if (output == id_of(leaf)) {
        return true;
      }
    }
    return false;
  }
  bool uses_how(How how) const {
    for (const Round& round : rounds) {
      if (round.how == how) {
        return true;
      }
    }
    return false;
  }
};

/// "v21", or the name of a leaf.
std::string name_of_value(int value);
/// A line per op and round, for people.
std::string text_of(const Program& program);

}  // namespace reprise::crossed
