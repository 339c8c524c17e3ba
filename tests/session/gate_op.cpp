#include "tests/session/gate_op.h"

#include <condition_variable>
#include <cstring>
#include <mutex>

#include "framework/core/op.h"
#include "framework/core/record.h"
#include "reprise/backend/host_call.h"

namespace reprise::testing {
namespace {

struct NoAttributes {};

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = true;
  bool reached = false;
};

State& state() {
  static State the_one;
  return the_one;
}

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32})}};
constexpr Operand kResults[] = {{"y", Access::write}};

Outputs infer(const OpCall& call) { return call.inputs[0].spec(); }

Cost cost(const BoundCall& call) { return streaming_cost(call, 0); }

void reference(const HostCall& call) {
  std::unique_lock lock(state().mutex);
  state().reached = true;
  state().changed.notify_all();
  state().changed.wait(lock, [] { return state().open; });
  std::memcpy(call.tensors[1].data, call.tensors[0].data, call.tensors[0].spec->bytes());
}

const OpDef gate_def{.name = "gate",
                     .operands = kOperands,
                     .results = kResults,
                     .infer = infer,
                     .cost = cost,
                     .reference = reference};

}  // namespace

Gate::Gate() {
  const std::lock_guard lock(state().mutex);
  state().open = state().reached = false;
}

Gate::~Gate() { open(); }

void Gate::open() {
  const std::lock_guard lock(state().mutex);
  state().open = true;
  state().changed.notify_all();
}

void Gate::wait_until_reached() {
  std::unique_lock lock(state().mutex);
  state().changed.wait(lock, [] { return state().reached; });
}

Tensor pass_gate(Site site, TensorRef x) { return record(site, gate_def, {x}, NoAttributes{}); }

}  // namespace reprise::testing
