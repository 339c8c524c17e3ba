#include "tests/session/programs/pass.h"

#include <algorithm>

namespace reprise::testing::programs {
namespace {

Param<std::int32_t> param(GraphSession& session, const ParamModel& param) {
  return param.word ? Param<std::int32_t>(session.state(kFields[*param.word]))
                    : Param<std::int32_t>(param.constant);
}

}  // namespace

Tensor call_op(GraphSession& s, const OpModel& op, const Tensor& x, const Tensor& y) {
  switch (op.kind) {
    case OpKind::add:
      return reprise::add(s, x, y);
    case OpKind::mul:
      return reprise::mul(s, x, y);
    case OpKind::copy:
      return reprise::copy(s, x);
    case OpKind::get_row:
      return reprise::get_rows(s, x, param(s, op.param));
    case OpKind::argmax:
      return reprise::argmax(s, x);
    case OpKind::set_rows:
      reprise::set_rows(s, x, y, {.position = param(s, op.param), .window = op.window});
      return {};
    case OpKind::advance:
      reprise::advance(s, x,
                       {.position = s.state("pos"),
                        .token = s.state("token"),
                        .done = s.state("done"),
                        .rows = param(s, op.param),
                        .end_token = op.end_token});
      return {};
  }
  return {};
}

std::vector<NamedInput> GivenInputs::named() const {
  std::vector<NamedInput> inputs;
  for (const One& one : list) {
    if (one.integers.empty()) {
      inputs.emplace_back(one.name, std::span(one.numbers));
    } else {
      inputs.emplace_back(one.name, std::span(one.integers));
    }
  }
  return inputs;
}

std::vector<ErrorCode> GivenInputs::mistakes(const BodyModel& body) const {
  std::vector<ErrorCode> mistakes;
  const auto note = [&](bool wrong, ErrorCode code) {
    if (wrong) {
      mistakes.push_back(code);
    }
  };
  for (const One& one : list) {
    const auto known = body.input_values.find(one.name);
    note(known == body.input_values.end(), ErrorCode::unknown_name);
    note(!one.integers.empty(), ErrorCode::dtype_mismatch);
    note(known != body.input_values.end() && one.numbers.size() != known->second.numbers.size(),
         ErrorCode::size_mismatch);
    note(std::ranges::count(list, one.name, &One::name) > 1, ErrorCode::invalid_argument);
  }
  for (const auto& [name, value] : body.input_values) {
    note(std::ranges::count(list, name, &One::name) == 0, ErrorCode::missing_input);
  }
  return mistakes;
}

void GivenInputs::assign_to(BodyModel& body) const {
  for (const One& one : list) {
    body.input_values[one.name].numbers = one.numbers;
  }
}

std::string GivenInputs::text() const {
  std::string text;
  for (const One& one : list) {
    text += (text.empty() ? "" : ", ") + one.name + " " +
            std::to_string(std::max(one.numbers.size(), one.integers.size())) +
            (one.integers.empty() ? "" : " integers");
  }
  return "{" + text + "}";
}

BodyModel Pass::body() const {
  BodyModel body;
  for (const auto& [input, rows] : inputs) {
    body.add_input(input, {std::vector<float>(static_cast<std::size_t>(rows * kColumns)), {}});
  }
  for (const OpModel& op : ops) {
    if (has_result(op.kind)) {
      (void)body.add_transient();
    }
    body.add_op(op);
  }
  for (const auto& [output, operand] : outputs) {
    body.add_output(output, operand);
    if (operand.buffer) {
      body.buffers.push_back(operand.buffer);
    }
  }
  return body;
}

bool Pass::shapes_fit() const { return std::ranges::all_of(ops, testing::shapes_fit); }

std::vector<Tensor> Pass::play(GraphSession& session, const GivenInputs* values) const {
  std::vector<Tensor> transients;
  for (const auto& [input, rows] : inputs) {
    const Shape shape{rows, kColumns};
    if (values == nullptr) {
      transients.push_back(session.input(input, shape));
    } else {
      const auto one = std::ranges::find(values->list, input, &GivenInputs::One::name);
      transients.push_back(session.input(input, shape, one->numbers));
    }
  }
  const auto tensor_of = [&](const OperandModel& operand) {
    return operand.buffer ? tensors.at(operand.buffer.get()) : transients[operand.transient];
  };
  for (const OpModel& op : ops) {
    const Tensor result =
        call_op(session, op, tensor_of(op.x), takes_two(op.kind) ? tensor_of(op.y) : Tensor());
    if (has_result(op.kind)) {
      transients.push_back(result);
    }
  }
  for (const auto& [output, operand] : outputs) {
    session.output(output, tensor_of(operand));
  }
  return transients;
}

}  // namespace reprise::testing::programs
