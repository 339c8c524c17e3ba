// An op that copies its operand once a gate is open: work that is in flight for exactly as long as
// a test wants. CPU only.
#pragma once
#include "reprise/reprise.h"

namespace reprise::testing {

/// Closed when made, opened for good by open() or destruction. One at a time.
class Gate {
 public:
  Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate();
  void open();
  /// Returns once the op stands before the gate.
  void wait_until_reached();
};

Tensor pass_gate(Site site, TensorRef x);

}  // namespace reprise::testing
