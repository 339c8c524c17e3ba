// RunResult: what a run left. Its outputs lie in the memory of the run's slot, which stays as long
// as anything refers to it.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "reprise/session/ticket.h"

namespace reprise {

/// An output where it lies; nothing is copied. Keeps the slot of its run alive.
struct RunOutput {
  std::span<const std::byte> bytes;
  DType dtype = DType::f32;
  Shape shape;  // of an output with an extent: the rows of the run
  std::shared_ptr<const Ticket> ticket;
};

/// A cheap value; copies share the ticket, which is used by one thread at a time.
class RunResult {
 public:
  explicit RunResult(Ticket ticket) : ticket_(std::make_shared<Ticket>(std::move(ticket))) {}
  /// False for a run of no rows, or after the state said stop: there are no outputs then.
  bool ran() const { return ticket_->iterations() > 0; }
  /// Waits first. Throws unknown_name, listing the outputs; invalid_argument if nothing ran.
  RunOutput output(std::string_view name) const;
  /// A copy of its elements. Throws as output(), and invalid_argument for another T than its dtype.
  template <OutputElement T = float>
  std::vector<T> read(std::string_view name) const {
    return elements_of<T>(name, view(name));
  }
  const Ticket& ticket() const { return *ticket_; }

 private:
  OutputView view(std::string_view name) const;
  std::shared_ptr<const Ticket> ticket_;
};

}  // namespace reprise
