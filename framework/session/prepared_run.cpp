#include <algorithm>

#include "framework/session/executable_instance.h"

namespace reprise {

std::span<std::byte> PreparedRun::State::bytes(std::uint32_t input) {
  const std::vector<Port>& inputs = instance->program().inputs();
  if (input >= inputs.size()) {
    throw Error(ErrorCode::unknown_name, "The executable has no input (" + std::to_string(input) +
                                             "); it has " + std::to_string(inputs.size()) +
                                             ". input_slot() finds them by name.");
  }
  if (slot == nullptr) {
    throw_invalid_argument("The prepared run is submitted already.");
  }
  if ((*ports)[input] == kNoIndex) {
    throw_invalid_argument(
        "The input '" + inputs[input].name +
        "' of a prepared run comes from its handle; give it a value with run().");
  }
  if (!given.empty()) {
    given[input] = true;
  }
  return {slot->input_bytes(slot->inputs()[(*ports)[input]]), instance->bytes_of(input, rows)};
}

PreparedRun::PreparedRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedRun::PreparedRun(PreparedRun&&) noexcept = default;

PreparedRun& PreparedRun::operator=(PreparedRun&& other) noexcept {
  if (state_ != nullptr && this != &other) {
    state_->instance->give_back(*state_);
  }
  state_ = std::move(other.state_);
  return *this;
}

PreparedRun::~PreparedRun() {
  if (state_ != nullptr) {
    state_->instance->give_back(*state_);
  }
}

PreparedRun::State& PreparedRun::state() const {
  if (state_ == nullptr) {
    throw_invalid_argument("The prepared run is empty: it was moved from.");
  }
  return *state_;
}

std::span<std::byte> PreparedRun::bytes(InputSlot input) { return state().bytes(input.index); }

void PreparedRun::write(InputSlot input, std::span<const std::byte> bytes) {
  const std::span<std::byte> to = state().bytes(input.index);
  if (bytes.size() != to.size()) {
    state_->given[input.index] = false;
    const Port& port = state_->instance->program().inputs()[input.index];
    throw Error(ErrorCode::size_mismatch, "The input '" + port.name + "' " + to_string(port.spec) +
                                              " takes " + std::to_string(to.size()) +
                                              " bytes in this run, but got (" +
                                              std::to_string(bytes.size()) + ").");
  }
  std::ranges::copy(bytes, to.begin());
}

void PreparedRun::require_given() const {
  const State& run = state();
  if (run.slot == nullptr) {
    throw_invalid_argument("The prepared run is submitted already.");
  }
  for (std::size_t i = 0; i < run.given.size(); ++i) {
    if (!run.given[i] && (*run.ports)[i] != kNoIndex) {
      throw Error(ErrorCode::missing_input, "The input '" +
                                                run.instance->program().inputs()[i].name +
                                                "' of the prepared run was not written.");
    }
  }
}

Ticket PreparedRun::submit() {
  require_given();
  return state_->instance->submit(*state_, AfterSubmit::will_continue);
}

RunResult PreparedRun::run() {
  require_given();
  RunResult result(state_->instance->submit(*state_, AfterSubmit::will_wait));
  result.ticket().wait();
  return result;
}

}  // namespace reprise
