// RunResult: what a run left. Its outputs lie in the memory of the run's slot, which stays as long
// as anything refers to it.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "reprise/session/ticket.h"

namespace reprise {

/// A cheap value; copies share the ticket, which is used by one thread at a time.
class RunResult {
 public:
  explicit RunResult(Ticket ticket) : ticket_(std::make_shared<Ticket>(std::move(ticket))) {}
  /// False for a run of no rows, or after the state said stop: there are no outputs then.
  bool ran() const { return ticket_->iterations() > 0; }
  /// Waits, and returns an output where it lies. An extent in its shape is the rows of the run.
  /// Errors: unknown_name, listing the outputs; invalid_argument if nothing ran.
  /// Lifetime: of the last copy of this result.
  OutputView output(std::string_view name) const { return ticket_->output(name); }
  /// Returns a copy of its elements. Errors: those of output(), dtype_mismatch.
  template <OutputElement T = float>
  std::vector<T> read(std::string_view name) const {
    return elements_of<T>(name, output(name));
  }
  const Ticket& ticket() const { return *ticket_; }

 private:
  std::shared_ptr<const Ticket> ticket_;
};

}  // namespace reprise
