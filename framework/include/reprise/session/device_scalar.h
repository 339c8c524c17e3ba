// DeviceScalar: a typed handle to one value that changes between launches.
#pragma once
#include "reprise/session/state_block.h"

namespace reprise {

/// One field of a state block. Launches in flight keep the value they were submitted with.
///   DeviceScalar<float> eps(device, "eps", 1e-5F);
///   auto s = executor.begin_recorded({.state = eps.state()});
///   rms_norm(s, x, weight, {.eps = eps.in(s)});
/// As cheap and as safe to share among threads as its block.
template <StateElement T>
class DeviceScalar {
 public:
  /// A field of a block that has others too. Errors: unknown_name, dtype_mismatch.
  DeviceScalar(StateBlock block, std::string_view field) : state_(std::move(block)), field_(field) {
    (void)state_.get<T>(field_);
  }
  /// The only field of a block of its own, owned by the host.
  DeviceScalar(const Device& device, std::string name, T initial = {})
      : state_(device, alone(name, initial)), field_(std::move(name)) {}

  /// See StateBlock.
  template <Number N>
  void set(N value) const {
    state_.set(field_, value);
  }
  T get() const { return state_.get<T>(field_); }
  const StateBlock& state() const { return state_; }

  /// As an attribute of an op. Throws invalid_argument if the session has another state block.
  StateField in(Recorder& session) const { return state_.field(session, field_); }

 private:
  static StateLayout alone(const std::string& name, T initial) {
    if constexpr (std::same_as<T, float>) {
      return StateLayout().host_f32(name, initial);
    } else {
      return StateLayout().host(name, initial);
    }
  }
  StateBlock state_;
  std::string field_;
};

}  // namespace reprise
