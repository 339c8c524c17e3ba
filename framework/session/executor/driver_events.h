// DriverEvents: what the driver of a device says, as events of one executor's profiling database.
// A driver may say the same at every step of every launch: of each kind the first message is an
// event, the others are counted.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "framework/profile/profile_sink.h"
#include "framework/session/executor/driver_work.h"
#include "reprise/backend/driver_messages.h"

namespace reprise {

/// Thread-safe.
class DriverEvents final : public DriverListener {
 public:
  /// Messages of kinds beyond these are only counted.
  static constexpr std::size_t kMaxKinds = 256;

  DriverEvents(std::shared_ptr<DriverMessages> messages, std::shared_ptr<ProfileSink> sink);
  DriverEvents(const DriverEvents&) = delete;
  DriverEvents& operator=(const DriverEvents&) = delete;
  ~DriverEvents() override;

  void receive(const DriverMessage& message) noexcept override;
  /// An event for every kind that came again since this was last called.
  void report_repeats() noexcept;

 private:
  struct Kind {
    std::string code;  // the text of a message without one
    std::uint64_t recording = 0;
    std::string graph{};
    std::uint32_t node = kNoIndex;
    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison with 0
    auto operator<=>(const Kind&) const = default;
  };
  struct Repeats {
    EventRecord first;  // without its message
    std::uint64_t count = 0;
  };

  std::shared_ptr<DriverMessages> messages_;
  std::shared_ptr<ProfileSink> sink_;
  std::mutex mutex_;
  std::map<Kind, Repeats> kinds_;  // guarded by mutex_
  Repeats others_;                 // and this
};

}  // namespace reprise
