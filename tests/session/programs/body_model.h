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
  bool stale() const {
    return std::ranges::any_of(buffers, [](const BufferRef& b) { return b->freed; });
  }
  /// The memory of one run: inputs as set.
  std::vector<Value> begin() const;
  void run(const OpModel& op, std::vector<Value>& memory, StateModel* state) const;
  Value read(const OperandModel& operand, const std::vector<Value>& memory) const;

 private:
  std::size_t transients_ = 0;
};

}  // namespace reprise::testing
