// Random passes and the inputs they are given.
#include <algorithm>

#include "tests/session/programs/random_program.h"

namespace reprise::testing {

OperandModel RandomProgram::pass_operand(Pass& pass, bool integers) {
  std::vector<OperandModel> transients;
  std::size_t next = 0;
  for (const auto& [name, rows] : pass.inputs) {
    transients.push_back({next++, nullptr, rows});
  }
  if (integers) {
    transients.clear();
  }
  for (const OpModel& op : pass.ops) {
    if (has_result(op.kind)) {
      if ((op.kind == OpKind::argmax) == integers) {
        transients.push_back({op.result, nullptr, op.kind == OpKind::get_row ? 1 : op.x.rows});
      }
      ++next;
    }
  }
  if (!transients.empty() && (integers || chance(2))) {
    return transients[number(0, transients.size() - 1)];
  }
  std::vector<Held*> alive;
  for (Held& held : tensors_) {
    if (!held.buffer->freed) {
      alive.push_back(&held);
    }
  }
  if (integers || alive.empty()) {
    return {};
  }
  const Held& held = *alive[number(0, alive.size() - 1)];
  pass.tensors[held.buffer.get()] = held.real;
  return {0, held.buffer, held.buffer->rows()};
}

RandomProgram::Pass RandomProgram::random_pass(std::size_t at) {
  Pass pass;
  pass.number = at;
  pass.name = "pass" + std::to_string(at) + "v" + std::to_string(++names_);
  pass.state = chance(3) ? nullptr : states_[number(0, states_.size() - 1)];
  if (chance(pass.state != nullptr ? 3 : 20)) {
    pass.max_iterations = static_cast<std::uint32_t>(number(2, 3));
  }
  const std::uint64_t inputs = number(chance(4) ? 0 : 1, 2);
  for (std::uint64_t i = 0; i < inputs; ++i) {
    pass.inputs.emplace_back("in" + std::to_string(i), static_cast<std::int64_t>(number(1, 3)));
  }
  const std::uint64_t ops = number(chance(6) ? 0 : 1, 4);
  std::size_t transients = pass.inputs.size();
  for (std::uint64_t tries = 0; tries < 20 && pass.ops.size() < ops; ++tries) {
    OpModel op;
    op.kind = static_cast<OpKind>(number(0, 6));
    op.x = pass_operand(pass, op.kind == OpKind::advance);
    if (op.kind == OpKind::advance && op.x.rows == 0) {
      op.kind = OpKind::argmax;  // of what advances next
      op.x = pass_operand(pass, false);
    }
    op.y = pass_operand(pass, false);
    random_attributes(op, pass.state != nullptr);
    const bool possible = op.x.rows > 0 && op.y.rows > 0 && (shapes_fit(op) || chance(50)) &&
                          (op.kind != OpKind::set_rows || !same_memory(op.x, op.y)) &&
                          (pass.state != nullptr || (!op.param.word && op.kind != OpKind::advance));
    if (possible) {
      op.result = has_result(op.kind) ? transients++ : 0;
      pass.ops.push_back(op);
    }
  }
  for (std::uint64_t i = number(chance(10) ? 0 : 1, 2); i > 0; --i) {
    const OperandModel operand = pass_operand(pass, chance(4));
    if (operand.rows > 0) {
      pass.outputs.emplace_back("out" + std::to_string(i), operand);
    }
  }
  return pass;
}

std::string RandomProgram::describe(const Pass& pass) {
  std::string text;
  for (const std::string& node :
       pass.body().structure(pass.state != nullptr, pass.max_iterations)) {
    text += (text.empty() ? "" : "; ") + node;
  }
  return pass.name + " = {" + text + "}";
}

/// What users change between two recordings of a key: memory, a constant, or all of it.
void RandomProgram::change_pass() {
  const std::size_t at = number(0, passes_.size() - 1);
  Pass& pass = passes_[at];
  if (chance(3)) {
    pass = random_pass(at);
  } else if (chance(2) && !pass.ops.empty()) {
    ++pick(pass.ops)->param.constant;
  } else {
    const std::vector<BufferRef> buffers = pass.body().buffers;
    const Held* to = pick(tensors_);
    if (buffers.empty() || to == nullptr) {
      return;
    }
    const BufferRef& from = buffers[number(0, buffers.size() - 1)];
    for (const Held& held : tensors_) {  // mostly one of as many rows
      const bool fits = held.buffer->rows() == from->rows() && !held.buffer->freed;
      to = fits && held.buffer != from && !chance(8) ? &held : to;
    }
    Pass changed = pass;
    const auto replace = [&](OperandModel& operand) {
      if (operand.buffer == from) {
        operand = {0, to->buffer, to->buffer->rows()};
      }
    };
    for (OpModel& op : changed.ops) {
      replace(op.x);
      replace(op.y);
      if (op.kind == OpKind::set_rows && same_memory(op.x, op.y)) {
        return;
      }
    }
    for (auto& [name, operand] : changed.outputs) {
      replace(operand);
    }
    // Rows that results had before are of no use any more.
    if (to->buffer->rows() != from->rows()) {
      return;
    }
    changed.tensors[to->buffer.get()] = to->real;
    pass = std::move(changed);
    calls_.push_back(pass.name + " uses " + to->buffer->name + " for " + from->name);
    return;
  }
  pass.name = "pass" + std::to_string(at) + "v" + std::to_string(++names_);
  calls_.push_back(describe(pass));
}

RandomProgram::GivenInputs RandomProgram::random_inputs(const BodyModel& body) {
  GivenInputs given;
  for (const auto& [name, old] : body.input_values) {
    const auto rows = static_cast<std::int64_t>(old.numbers.size()) / kColumns;
    given.list.push_back({name, random_rows(rows).numbers, {}});
  }
  if (chance(8)) {
    GivenInputs::One* one = pick(given.list);
    const std::uint64_t mistake = one == nullptr ? 0 : number(0, 4);
    if (mistake == 0) {
      given.list.push_back({"nothing", random_rows(1).numbers, {}});
    } else if (mistake == 1) {
      one->numbers.pop_back();
    } else if (mistake == 2) {
      one->integers.resize(one->numbers.size());
    } else if (mistake == 3) {
      given.list.erase(given.list.begin() + (one - given.list.data()));
    } else {
      const GivenInputs::One twice = *one;
      given.list.push_back(twice);
    }
  }
  return given;
}

}  // namespace reprise::testing
