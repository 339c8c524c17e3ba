#include <algorithm>

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
  if (executable_ != nullptr && executable_->prepared_ == number_ &&
      executable_->slot_ != nullptr) {
    std::exchange(executable_->slot_, nullptr)->give_back();
  }
}

Executable& PreparedRun::executable() const {
  if (executable_ == nullptr) {
    throw_invalid_argument("The prepared run is empty: it was moved from.");
  }
  if (executable_->prepared_ != number_ || executable_->slot_ == nullptr) {
    throw_invalid_argument("The prepared run is submitted already.");
  }
  return *executable_;
}

std::span<std::byte> PreparedRun::bytes(InputSlot input) {
  Executable& of = executable();
  const std::vector<Port>& inputs = of.plans().inputs();
  if (input.index >= inputs.size()) {
    throw_error(ErrorCode::unknown_name, "The executable has no input (", input.index, "); it has ",
                inputs.size(), ". input_slot() finds them by name.");
  }
  if (of.ports_[input.index] == kNoIndex) {
    throw_invalid_argument(
        "The input '", inputs[input.index].name,
        "' of a prepared run comes from its handle; give it a value with run().");
  }
  of.given_[input.index] = true;
  return of.input_bytes(input.index);
}

void PreparedRun::write(InputSlot input, std::span<const std::byte> values) {
  const std::span<std::byte> to = bytes(input);
  if (values.size() != to.size()) {
    executable_->given_[input.index] = false;
    const Port& port = executable_->plans().inputs()[input.index];
    throw_error(ErrorCode::size_mismatch, "The input '", port.name, "' ", to_string(port.spec),
                " takes ", to.size(), " bytes in this run, but got (", values.size(), ").");
  }
  std::ranges::copy(values, to.begin());
}

Executable& PreparedRun::written() const {
  Executable& of = executable();
  for (std::size_t i = 0; i < of.given_.size(); ++i) {
    if (!of.given_[i] && of.ports_[i] != kNoIndex) {
      throw_error(ErrorCode::missing_input, "The input '", of.plans().inputs()[i].name,
                  "' of the prepared run was not written.");
    }
  }
  return of;
}

Ticket PreparedRun::submit() { return written().submit(AfterSubmit::will_continue); }

Ticket PreparedRun::run() {
  Ticket ticket = written().submit(AfterSubmit::will_wait);
  ticket.wait();
  return ticket;
}

}  // namespace reprise
