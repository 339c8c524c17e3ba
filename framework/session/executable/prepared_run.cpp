#include "framework/session/executable/executable.h"

namespace reprise {

PreparedRun::PreparedRun(std::shared_ptr<Executable> executable, std::uint64_t number)
    : executable_(std::move(executable)), number_(number) {}

PreparedRun& PreparedRun::operator=(PreparedRun&& other) noexcept {
  PreparedRun taken(std::move(other));
  std::swap(executable_, taken.executable_);  // what was prepared before is given back with it
  std::swap(number_, taken.number_);
  return *this;
}

PreparedRun::~PreparedRun() {
  if (executable_ != nullptr) {
    executable_->give_back(number_);
  }
}

Executable& PreparedRun::executable() const {
  if (executable_ == nullptr) {
    throw_invalid_argument("The prepared run is empty: it was moved from.");
  }
  return *executable_;
}

std::span<std::byte> PreparedRun::bytes(InputSlot input) {
  return executable().bytes(number_, input.index);
}

void PreparedRun::write(InputSlot input, std::span<const std::byte> bytes) {
  executable().write(number_, input.index, bytes);
}

Ticket PreparedRun::submit() { return executable().submit(number_, AfterSubmit::will_continue); }

Ticket PreparedRun::run() {
  Ticket ticket = executable().submit(number_, AfterSubmit::will_wait);
  ticket.wait();
  return ticket;
}

}  // namespace reprise
