// The CPU's queue: submissions run in order, on the thread that waits for them or on one of its own
// where nobody waits. Handing work to a thread costs more than a small graph takes, so a launch
// that is waited for at once never leaves the caller's thread.
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

#include "backends/cpu/cpu_encoder.h"
#include "reprise/backend/in_flight.h"

namespace reprise::cpu {

/// All members may be called concurrently.
class CpuQueue {
 public:
  /// `device`: CpuRuntime::serial.
  CpuQueue(std::uint64_t device, std::shared_ptr<DeviceLife> life)
      : device_(device), life_(std::move(life)) {}
  /// Runs what is left.
  ~CpuQueue();
  CpuQueue(const CpuQueue&) = delete;
  CpuQueue& operator=(const CpuQueue&) = delete;

  std::uint64_t submit(std::span<const EncodingRef> encodings, AfterSubmit then);
  bool complete(std::uint64_t submission);
  /// Throws device_lost if a host function threw before the submission was complete: nothing after
  /// it runs. Lasts as long as the work: the waiting thread may be the one that does it.
  void wait(std::uint64_t submission);
  std::uint64_t last_use(const Buffer& buffer, Access access);
  std::uint64_t last_submission();
  std::uint64_t completed();
  void shutdown();
  void free(const std::shared_ptr<Buffer>& buffer);
  void raise(CpuHostSignal& signal);
  std::uint64_t free_count() const { return in_flight_.free_count(); }
  void release_freed();

 private:
  using Lock = std::unique_lock<std::mutex>;
  void require_known(std::uint64_t submission) const;
  bool failed() const { return life_->state() == DeviceState::lost; }
  /// Runs the next submission with the mutex open; somebody else must not be running one.
  void run_next(Lock& lock);
  /// Lets go of what a submission used, with the mutex open meanwhile.
  void retire(Lock& lock, std::uint64_t submission);
  /// Gives freed memory back that nothing in flight uses, with the mutex open meanwhile.
  void release_freed(Lock& lock);
  /// The next submission waits for the host.
  bool behind_host() const;
  void start_worker();
  void sleep(Lock& lock);
  /// Runs the next submission, or sleeps while another thread runs one or the host has to go on.
  void advance(Lock& lock);
  void run_until_stopped();

  const std::uint64_t device_;
  const std::shared_ptr<DeviceLife> life_;
  std::mutex mutex_;
  std::condition_variable changed_;  // a submission arrived or completed
  InFlight in_flight_;
  std::vector<const CpuEncoding*> next_;  // of the submission that runs
  struct BehindHost {
    std::uint64_t submission;
    CpuHostSignal* signal;  // its encoding keeps it
    std::uint64_t value;
  };
  std::vector<BehindHost> behind_host_;  // in flight, in order
  std::uint64_t submitted_ = 0, completed_ = 0;
  bool running_ = false, stopping_ = false;
  int waiting_ = 0;
  std::thread worker_;  // started by the first submission nobody waits for
};

}  // namespace reprise::cpu
