#include "reprise/session/ticket.h"

#include "framework/session/replay/slot.h"

namespace reprise {
void require_elements(std::string_view name, const TensorSpec& spec, DType dtype) {
  if (spec.dtype != dtype) {
    throw_error(ErrorCode::dtype_mismatch, "'", name, "' is ", to_string(spec),
                ", which has no elements of type (", name_of(dtype), ").");
  }
}

Ticket& Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    release();
    slot_ = std::move(other.slot_);
    backend_ = std::move(other.backend_);
    submission_ = other.submission_;
  }
  return *this;
}

Slot& Ticket::slot() const {
  if (backend_ != nullptr) {
    throw_invalid_argument(
        "The ticket is of a copy or a synchronisation, which has no outputs, state or times.");
  }
  if (slot_ == nullptr) {
    throw Error(
        ErrorCode::released,
        "The ticket is empty: it was never given a submission, was moved from, or is released.");
  }
  return *slot_;
}

bool Ticket::done() const {
  if (backend_ == nullptr) {
    return slot().done();
  }
  return backend_->complete(submission_);
}

void Ticket::wait() const {
  if (backend_ == nullptr) {
    slot().wait();
  } else {
    backend_->wait(submission_);
  }
}

const Slot& Ticket::completed() const {
  slot().wait();
  return *slot_;
}

OutputView Ticket::output(std::string_view name) const { return completed().output(name); }

OutputView Ticket::output(std::string_view name, std::uint32_t iteration) const {
  return completed().output(name, iteration);
}

std::vector<std::string> Ticket::output_names() const {
  std::vector<std::string> names;
  for (const Exchange& output : slot().exchange().outputs()) {
    names.push_back(output.name);
  }
  return names;
}

std::uint32_t Ticket::state_bits(std::string_view field, DType dtype,
                                 std::optional<std::uint32_t> iteration) const {
  return completed().state(field, dtype, iteration);
}

std::uint32_t Ticket::iterations() const { return completed().ran(); }

const SubmissionTimes& Ticket::times() const { return completed().times(); }

void Ticket::release() noexcept {
  if (slot_ != nullptr) {
    slot_->release();
    slot_.reset();
  }
  backend_.reset();
}

}  // namespace reprise
