// What the ops of a session document: bodies of ops over rows of four numbers, run on the host.
#pragma once
#include <map>
#include <memory>

#include "tests/session/programs/state_model.h"

namespace reprise::testing {

inline constexpr std::int64_t kColumns = 4;

/// An f32 [rows, kColumns], or the i32 [rows] of an argmax.
struct Value {
  std::vector<float> numbers;
  std::vector<std::int32_t> integers;
  /// NaNs are equal.
  bool operator==(const Value& other) const;
};

/// Memory of a persistent tensor.
struct BufferModel {
  std::string name;
  std::vector<float> numbers;
  bool freed = false;
  std::int64_t rows() const { return static_cast<std::int64_t>(numbers.size()) / kColumns; }
};
using BufferRef = std::shared_ptr<BufferModel>;

/// A transient of the body, or a buffer.
struct OperandModel {
  std::size_t transient = 0;
  BufferRef buffer;
  std::int64_t rows = 0;
};

/// A constant, or a field of the state.
struct ParamModel {
  std::int32_t constant = 0;
  std::optional<StateWord> word;
  std::int32_t value(const StateModel* state) const {
    return word ? const_cast<StateModel*>(state)->words()[*word] : constant;
  }
};

enum class OpKind : std::uint8_t { add, mul, copy, get_row, set_rows, argmax, advance };

struct OpModel {
  OpKind kind = OpKind::add;
  OperandModel x, y;  // set_rows: table, values
  ParamModel param;   // get_row: id; set_rows: position; advance: rows
  std::int32_t window = 0, end_token = -1;
  std::size_t result = 0;  // a transient
};

/// Ops, inputs and outputs of a session, and the memory of its transients.
class BodyModel {
 public:
  std::vector<OpModel> ops;
  std::map<std::string, std::size_t> inputs;  // their transients
  std::map<std::string, Value> input_values;  // as the host set them last
  std::map<std::string, OperandModel> outputs;
  std::vector<BufferRef> buffers;  // all it was recorded with

  std::size_t add_transient() { return transients_++; }
  void add_input(const std::string& name, Value value);
  void add_op(const OpModel& op);
  void add_output(const std::string& name, const OperandModel& operand);
  /// A text per node of the graph that recording it makes. Two recordings have the same structure
  /// if their texts are equal: tensors have the numbers in which they were mentioned first, names
  /// and the memory behind persistent tensors do not matter.
  std::vector<std::string> structure(bool has_state, std::uint32_t max_iterations) const;
  bool stale() const {
    return std::ranges::any_of(buffers, [](const BufferRef& b) { return b->freed; });
  }
  /// The memory of one run: inputs as set.
  std::vector<Value> begin() const;
  void run(const OpModel& op, std::vector<Value>& memory, StateModel* state) const;
  Value read(const OperandModel& operand, const std::vector<Value>& memory) const;

 private:
  using Mention = std::pair<const BufferModel*, std::size_t>;
  static Mention mention_of(const OperandModel& operand);
  void mention(const OperandModel& operand) {
    mentions_.try_emplace(mention_of(operand), mentions_.size());
  }
  std::string text_of(const OperandModel& operand) const;

  std::size_t transients_ = 0;
  std::map<Mention, std::size_t> mentions_;
  std::vector<OperandModel> declared_;  // the outputs, in order
};

/// Whether `y` is an operand.
bool takes_two(OpKind kind);
bool has_result(OpKind kind);
bool same_memory(const OperandModel& a, const OperandModel& b);
/// Whether the op accepts operands of these shapes.
bool shapes_fit(const OpModel& op);

}  // namespace reprise::testing
