// The tensors that stay between the rounds of sessions: weights, and what ops write.
#pragma once
#include "tests/crossed/common.h"

namespace reprise::crossed {

class SessionTensors {
 public:
  SessionTensors(const Program& program, const Device& device);
  const Surroundings& surroundings() const { return surroundings_; }

  /// Weights are written where they are; what is in flight has those of before.
  void set_weights(const Round& round);
  /// Written tensors go on in other memory; that of before may be freed. Returns from where to
  /// where.
  std::vector<std::pair<Tensor, Tensor>> move(bool free);
  /// Of direct runs beside executable graphs: another table for one round.
  void give_table(const Round& round);
  /// After that round: `keep` the given one, or take the usual one again.
  void end_given(bool keep);
  /// What ops wrote.
  void read(Outcome& outcome) const;

 private:
  const Program& program_;
  Device device_;
  Surroundings surroundings_;
  Tensor usual_table_;
  int weights_;
};

}  // namespace reprise::crossed
