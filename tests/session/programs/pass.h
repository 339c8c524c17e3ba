// A pass of a random program: a body that is recorded again and again, under keys.
#pragma once
#include "tests/session/programs/objects.h"

namespace reprise::testing::programs {

/// The inputs that a call is given. May have mistakes.
struct GivenInputs {
  struct One {
    std::string name;
    std::vector<float> numbers;
    std::vector<std::int32_t> integers;  // if it is given these instead
  };
  std::vector<One> list;
  std::vector<NamedInput> named() const;
  /// What is wrong with them; nothing if they are one value for each input of a body.
  std::vector<ErrorCode> mistakes(const BodyModel& body) const;
  void assign_to(BodyModel& body) const;
  std::string text() const;
};

struct Pass {
  std::size_t number = 0;  // the key it is mostly recorded under
  std::string name;
  StateRef state;
  std::uint32_t max_iterations = 1;
  std::vector<std::pair<std::string, std::int64_t>> inputs;  // their rows; the first transients
  std::vector<OpModel> ops;
  std::vector<std::pair<std::string, OperandModel>> outputs;
  std::map<const BufferModel*, Tensor> tensors;

  BodyModel body() const;
  bool shapes_fit() const;
  /// Whether a recorded session can have so many iterations.
  bool iterates() const { return max_iterations == 1 || state != nullptr; }
  /// Declares inputs, with values or by name alone, calls the ops and declares outputs. Returns the
  /// transients.
  std::vector<Tensor> play(GraphSession& session, const GivenInputs* values) const;
};

/// Calls one op.
Tensor call_op(GraphSession& session, const OpModel& op, const Tensor& x, const Tensor& y);

}  // namespace reprise::testing::programs
