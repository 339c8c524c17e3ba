// RepeatedCalls: a part of a pass that is computed again on another device: for experts that one
// device does not have.
#pragma once
#include <optional>
#include <vector>

#include "framework/core/op.h"
#include "reprise/core/recorder.h"

namespace reprise {

class RepeatedCalls {
 public:
  /// Adds a tensor that replay() is given in place of the pass's.
  void give(const TensorRef& tensor) { given_.push_back(number_of(tensor)); }
  /// Adds a call of the pass. What it reads and no call made is given too.
  /// Errors: unsupported for what no other device can do again: host steps, kernels of the
  /// caller's, attributes that live in the state, writes to what is given.
  void add(const OpCall& call, std::span<const Tensor> results);
  /// Returns what replay() is given, in order.
  std::vector<Tensor> given() const;
  /// Returns whether a call makes it.
  bool makes(const TensorRef& tensor) const;
  /// Names the result. No tensor of the pass is kept from now on.
  void end(const TensorRef& result);

  /// Records the calls and returns the result.
  Tensor replay(Recorder& recorder, const std::vector<Tensor>& given) const;

 private:
  using Number = std::size_t;  // of a tensor, in the order in which the pass came to them
  struct Call {
    const OpDef* op;
    std::vector<std::optional<Number>> inputs;  // empty: absent
    std::vector<std::byte> attributes;
    std::vector<Number> results;
  };
  std::optional<Number> find(const TensorRef& tensor) const;
  Number number_of(const TensorRef& tensor);

  std::vector<Tensor> tensors_;  // of the pass, by number
  std::vector<Number> given_;
  std::vector<Call> calls_;
  Number count_ = 0, result_ = 0;
};

}  // namespace reprise
