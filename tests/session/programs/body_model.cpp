#include "tests/session/programs/body_model.h"

#include <cmath>
#include <limits>

namespace reprise::testing {
namespace {

constexpr auto kCols = static_cast<std::size_t>(kColumns);

std::vector<float>& numbers_of(const OperandModel& operand, std::vector<Value>& memory) {
  return operand.buffer ? operand.buffer->numbers : memory[operand.transient].numbers;
}

template <class F>
std::vector<float> per_element(const std::vector<float>& x, const std::vector<float>& y, F&& f) {
  std::vector<float> z(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    z[i] = f(x[i], y[i % y.size()]);
  }
  return z;
}

std::vector<float> row_of(const std::vector<float>& table, std::int64_t id) {
  if (id < 0 || id >= static_cast<std::int64_t>(table.size()) / kColumns) {
    return std::vector<float>(kCols, std::numeric_limits<float>::quiet_NaN());
  }
  const auto begin = table.begin() + id * kColumns;
  return {begin, begin + kColumns};
}

void write_rows(std::vector<float>& table, const std::vector<float>& values, std::int64_t position,
                std::int64_t window) {
  const auto capacity = static_cast<std::int64_t>(table.size()) / kColumns;
  for (std::int64_t r = 0; r < static_cast<std::int64_t>(values.size()) / kColumns; ++r) {
    std::int64_t target = position + r;
    if (target >= 0 && window > 0) {
      target %= window;
    }
    if (target >= 0 && target < capacity) {
      std::copy_n(values.begin() + r * kColumns, kColumns, table.begin() + target * kColumns);
    }
  }
}

std::int32_t largest(std::span<const float> row) {
  std::size_t best = row.size();
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (!std::isnan(row[c]) && (best == row.size() || row[c] > row[best])) {
      best = c;
    }
  }
  return best == row.size() ? 0 : static_cast<std::int32_t>(best);
}

void advance_model(const OpModel& op, std::int32_t next, StateModel& state) {
  StateWords& words = state.words();
  words[kPos] += op.param.value(&state);
  words[kToken] = next;
  words[kDone] = next == op.end_token ? 1 : words[kDone];
}

}  // namespace

bool takes_two(OpKind kind) {
  return kind == OpKind::add || kind == OpKind::mul || kind == OpKind::set_rows;
}

bool has_result(OpKind kind) { return kind != OpKind::set_rows && kind != OpKind::advance; }

bool same_memory(const OperandModel& a, const OperandModel& b) {
  return a.buffer == b.buffer && (a.buffer || a.transient == b.transient);
}

bool shapes_fit(const OpModel& op) {
  switch (op.kind) {
    case OpKind::add:
    case OpKind::mul:
      return op.y.rows > 0 && op.x.rows % std::max<std::int64_t>(op.y.rows, 1) == 0;
    case OpKind::advance:
      return op.x.rows == 1;
    case OpKind::get_row:  // of known rows, those that are there
      return op.param.word || (op.param.constant >= 0 && op.param.constant < op.x.rows);
    case OpKind::set_rows: {
      const bool starts = op.param.word || op.param.constant >= 0;
      return starts && (op.window == 0 ? op.param.word || op.param.constant + op.y.rows <= op.x.rows
                                       : op.window >= op.y.rows && op.window <= op.x.rows);
    }
    default:
      return true;
  }
}

bool Value::operator==(const Value& other) const {
  return integers == other.integers &&
         std::ranges::equal(numbers, other.numbers, [](float a, float b) {
           return a == b || (std::isnan(a) && std::isnan(b));
         });
}

BodyModel::Mention BodyModel::mention_of(const OperandModel& operand) {
  return {operand.buffer.get(), operand.buffer ? 0 : operand.transient};
}

void BodyModel::add_input(const std::string& name, Value value) {
  inputs[name] = transients_;
  mention({transients_++, nullptr, 0});
  input_values[name] = std::move(value);
}

void BodyModel::add_op(const OpModel& op) {
  for (const OperandModel* operand : {&op.x, &op.y}) {
    if (operand == &op.x || takes_two(op.kind)) {
      mention(*operand);
      if (operand->buffer) {
        buffers.push_back(operand->buffer);
      }
    }
  }
  if (has_result(op.kind)) {
    mention({op.result, nullptr, 0});
  }
  ops.push_back(op);
}

void BodyModel::add_output(const std::string& name, const OperandModel& operand) {
  mention(operand);
  outputs[name] = operand;
  declared_.push_back(operand);
}

std::string BodyModel::text_of(const OperandModel& operand) const {
  const Mention mention = mention_of(operand);
  const bool output = std::ranges::any_of(
      declared_, [&](const OperandModel& o) { return mention_of(o) == mention; });
  const bool input = !operand.buffer && std::ranges::any_of(inputs, [&](const auto& named) {
    return named.second == operand.transient;
  });
  return " #" + std::to_string(mentions_.at(mention)) + "[" + std::to_string(operand.rows) + "]" +
         (operand.buffer ? " memory" : "") + (input ? " in" : "") + (output ? " out" : "");
}

std::vector<std::string> BodyModel::structure(bool has_state, std::uint32_t max_iterations) const {
  std::vector<std::string> nodes;
  if (has_state) {  // patches and derived fields
    nodes.emplace_back(max_iterations > 1 ? "plan of an iteration" : "plan");
  }
  for (const OpModel& op : ops) {
    std::string node = std::to_string(static_cast<int>(op.kind)) + text_of(op.x);
    if (takes_two(op.kind)) {
      node += text_of(op.y);
    }
    if (has_result(op.kind)) {
      node += text_of({op.result, nullptr, 0});
    }
    if (op.kind == OpKind::get_row || op.kind == OpKind::set_rows || op.kind == OpKind::advance) {
      node += op.param.word ? " of " + std::string(kFields[*op.param.word])
                            : " " + std::to_string(op.param.constant);
      node += " " + std::to_string(op.window) + " " + std::to_string(op.end_token);
    }
    nodes.push_back(std::move(node));
  }
  if (max_iterations > 1) {  // what keeps the outputs of every iteration
    std::string node =
        std::to_string(max_iterations) + " rows #" + std::to_string(mentions_.size());
    for (const OperandModel& operand : declared_) {
      node += text_of(operand);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<Value> BodyModel::begin() const {
  std::vector<Value> memory(transients_);
  for (const auto& [name, transient] : inputs) {
    memory[transient] = input_values.at(name);
  }
  return memory;
}

Value BodyModel::read(const OperandModel& operand, const std::vector<Value>& memory) const {
  return operand.buffer ? Value{operand.buffer->numbers, {}} : memory[operand.transient];
}

void BodyModel::run(const OpModel& op, std::vector<Value>& memory, StateModel* state) const {
  Value result;
  switch (op.kind) {
    case OpKind::add:
      result.numbers = per_element(numbers_of(op.x, memory), numbers_of(op.y, memory),
                                   [](float a, float b) { return a + b; });
      break;
    case OpKind::mul:
      result.numbers = per_element(numbers_of(op.x, memory), numbers_of(op.y, memory),
                                   [](float a, float b) { return a * b; });
      break;
    case OpKind::copy:
      result.numbers = numbers_of(op.x, memory);
      break;
    case OpKind::get_row:
      result.numbers = row_of(numbers_of(op.x, memory), op.param.value(state));
      break;
    case OpKind::argmax: {
      const std::span<const float> rows = numbers_of(op.x, memory);
      for (std::size_t at = 0; at < rows.size(); at += kCols) {
        result.integers.push_back(largest(rows.subspan(at, kCols)));
      }
      break;
    }
    case OpKind::set_rows:
      write_rows(numbers_of(op.x, memory), numbers_of(op.y, memory), op.param.value(state),
                 op.window);
      return;
    case OpKind::advance:
      advance_model(op, memory[op.x.transient].integers[0], *state);
      return;
  }
  memory[op.result] = std::move(result);
}

}  // namespace reprise::testing
