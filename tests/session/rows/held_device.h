// Work that is in flight for as long as a test needs, on any device: what is submitted behind a
// host step that the device waits for.
#pragma once
#include <latch>
#include <thread>

#include "reprise/reprise.h"

namespace reprise::testing {

/// From construction to open() or destruction nothing submitted to the device runs. Whoever waits
/// for the device meanwhile waits for open(). open() returns when the host step is over: the
/// validation layer does not take a wait for a semaphore while another thread signals it.
class HeldDevice {
 public:
  explicit HeldDevice(const Device& device) : thread_([this, device] { hold(device); }) {
    reached_.wait();
  }
  HeldDevice(const HeldDevice&) = delete;
  HeldDevice& operator=(const HeldDevice&) = delete;
  ~HeldDevice() { open(); }
  void open() {
    if (thread_.joinable()) {
      opened_.count_down();
      thread_.join();
    }
  }

 private:
  void hold(const Device& device) {
    GraphExecutor executor(device);
    auto s = executor.begin_recorded({.name = "held"});
    host_step(s, "hold", {}, {}, [this](HostStepCall&) {
      reached_.count_down();
      opened_.wait();
    });
    (void)s.finish({.joined_host_steps = true});
  }

  std::latch reached_{1}, opened_{1};
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace reprise::testing
