// Calls of a random program that go to the device: buffers and state.
#include <algorithm>

#include "tests/session/programs/random_program.h"

namespace reprise::testing {

void RandomProgram::new_buffer() {
  if (tensors_.size() >= 6) {
    return;
  }
  const auto rows = static_cast<std::int64_t>(number(1, 4));
  Held held;
  held.buffer = std::make_shared<BufferModel>(BufferModel{fresh("w"), random_rows(rows).numbers});
  call(held.buffer->name + " = device.from_host(" + std::to_string(rows) + " rows)", {}, [&] {
    held.real = device_.from_host({rows, kColumns}, held.buffer->numbers, held.buffer->name);
  });
  tensors_.push_back(std::move(held));
}

void RandomProgram::read_buffer() {
  if (Held* held = pick(tensors_)) {
    std::vector<std::byte> bytes;
    if (call("device.to_host(" + held->buffer->name + ")",
             Outcome().unless(!held->buffer->freed, ErrorCode::stale),
             [&] { bytes = device_.to_host(held->real); })) {
      require_value({held->buffer->numbers, {}}, bytes, held->buffer->name);
    }
  }
}

void RandomProgram::write_buffer() {
  Held* held = pick(tensors_);
  if (held == nullptr) {
    return;
  }
  BufferModel& buffer = *held->buffer;
  const Value row = random_rows(1);
  const std::uint64_t at =
      number(0, static_cast<std::uint64_t>(buffer.rows()) - (chance(8) ? 0 : 1));
  if (call("device.write(" + buffer.name + ", row " + std::to_string(at) + ")",
           Outcome()
               .unless(!buffer.freed, ErrorCode::stale)
               .unless(at < static_cast<std::uint64_t>(buffer.rows())),
           [&] {
             device_.write(TensorRef(held->real)->buffer, at * kColumns * sizeof(float),
                           std::as_bytes(std::span(row.numbers)));
           })) {
    std::ranges::copy(row.numbers,
                      buffer.numbers.begin() + static_cast<std::ptrdiff_t>(at) * kColumns);
  }
}

void RandomProgram::free_buffer() {
  if (chance(6)) {
    call("device.free(an empty tensor)", Outcome().unless(false), [&] { device_.free(Tensor()); });
  } else if (Held* held = pick(tensors_)) {
    call("device.free(" + held->buffer->name + ")", {}, [&] { device_.free(held->real); });
    held->buffer->freed = true;
  }
}

void RandomProgram::grow_buffer() {
  Held* held = pick(tensors_);
  if (held == nullptr) {
    return;
  }
  const BufferRef old = held->buffer;
  const auto rows = static_cast<std::int64_t>(number(1, 6));
  Tensor grown;
  if (call("device.grow(" + old->name + ", " + std::to_string(rows) + " rows)",
           Outcome().unless(!old->freed, ErrorCode::stale).unless(rows >= old->rows()),
           [&] {
             grown = device_.grow(held->real, {rows, kColumns});
           }) &&
      rows > old->rows()) {
    Held next{grown, std::make_shared<BufferModel>(*old)};
    next.buffer->numbers.resize(static_cast<std::size_t>(rows * kColumns));
    next.buffer->name += "'";
    old->freed = true;
    if (chance(2)) {
      *held = std::move(next);
    } else {
      tensors_.push_back(std::move(next));
    }
  }
}

void RandomProgram::drop_tensor() {
  if (!tensors_.empty()) {
    const std::size_t at = number(0, tensors_.size() - 1);
    calls_.push_back(tensors_[at].buffer->name + " = {}");
    tensors_.erase(tensors_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

void RandomProgram::set_state() {
  static const std::string kNames[] = {"row", "pos", "token", "done", "length", "nothing"};
  const StateRef state = states_[number(0, states_.size() - 1)];
  const std::string& name = kNames[chance(8) ? number(4, 5) : number(0, 3)];
  const auto value = name == "done" ? static_cast<std::int32_t>(chance(4))
                                    : static_cast<std::int32_t>(number(0, chance(6) ? 12 : 5));
  StateModel after = state->model;
  const bool allowed = after.set(name, value);
  if (call("state.set(" + name + ", " + std::to_string(value) + ")",
           Outcome().unless(
               allowed, name == "nothing" ? ErrorCode::unknown_name : ErrorCode::invalid_argument),
           [&] { state->real.set(name, value); })) {
    state->model = after;
  }
}

}  // namespace reprise::testing
