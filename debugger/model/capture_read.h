// Something that is read of the capture on the screen, and again when the file changed. One thread,
// the one that draws.
#pragma once
#include <chrono>
#include <filesystem>

#include "debugger/model/worker_read.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

template <class Found>
class CaptureRead : public WorkerJob {
 public:
  using Read = Found (*)(const std::filesystem::path&, const Capture&, const std::stop_token&);

  CaptureRead(std::filesystem::path path, Read read)
      : path_(std::move(path)), read_(read), watch_(path_) {}

  /// Panels call it in every frame in which they need it. True if it is another capture.
  bool show(const std::shared_ptr<const Capture>& capture) {
    if (capture == capture_) {
      return false;
    }
    capture_ = capture;
    found_.forget();
    if (capture_) {
      start();
    }
    return true;
  }
  const std::shared_ptr<const Capture>& capture() const { return capture_; }
  /// Null before it is read, and if it cannot be.
  const Found* found() const { return found_.result(); }
  const std::string& problem() const { return found_.error(); }
  /// Another number whenever what found() points to is another.
  std::uint64_t revision() const { return found_.finished(); }

  /// True if found() is another one.
  bool poll() override {
    const bool finished = found_.poll();
    look();
    if (stale_ && !found_.running() && Clock::now() - asked_ >= kReadEvery) {
      start();
    }
    return finished;
  }
  bool running() const override { return found_.running(); }
  void settle() override {
    look();
    if (stale_) {
      start();
    }
    found_.settle();
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// A file that is written all the time is read no more often.
  static constexpr std::chrono::milliseconds kReadEvery{500};

  void look() { stale_ = capture_ != nullptr && (watch_.changed() || stale_); }
  void start() {
    (void)watch_.changed();
    stale_ = false;
    asked_ = Clock::now();
    found_.ask([from = path_, of = capture_, read = read_](const std::stop_token& stop) {
      return read(from, *of, stop);
    });
  }

  const std::filesystem::path path_;
  const Read read_;
  ProfileWatch watch_;
  bool stale_ = false;  // the file changed since it was read
  Clock::time_point asked_{};
  std::shared_ptr<const Capture> capture_;
  WorkerRead<Found> found_;
};

}  // namespace reprise::debugger
