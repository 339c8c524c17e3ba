// The latest of what was asked for, read on a worker thread. What was found before stays until
// then. One thread, the one that draws.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "debugger/model/background.h"
#include "reprise/profile/cancelled.h"

namespace reprise::debugger {

template <class Found>
class LatestRead {
 public:
  /// Runs on the other thread and must not touch what the drawing thread uses.
  using Read = std::function<Found(const std::stop_token&)>;

  /// Cancels the one that runs.
  void start(Read read) {
    if (background_.busy()) {
      background_.cancel();
      next_ = std::move(read);
    } else {
      run(std::move(read));
    }
  }
  void cancel() {
    next_.reset();
    background_.cancel();
  }
  /// As if nothing had been asked for.
  void forget() {
    if (background_.busy()) {
      cancel();
    }
    found_.reset();
    error_.clear();
  }

  bool running() const { return background_.busy(); }
  /// Takes over what was read; true if there was something.
  bool poll() {
    const bool finished = background_.poll();
    if (finished && next_) {
      run(*std::exchange(next_, {}));
    }
    return finished;
  }
  /// Until nothing is read.
  void settle() {
    while (running()) {
      background_.wait();
      poll();
    }
  }

  /// How many readings finished; found() and error() change with it and with forget() only.
  std::uint64_t finished() const { return finished_; }
  /// By the last one that finished; null if it failed or there was none.
  const Found* found() const { return found_.get(); }
  /// Why the last one failed; empty if it did not.
  const std::string& error() const { return error_; }

 private:
  void run(Read read) {
    background_.start(
        [this, read = std::move(read)](const std::stop_token& stop) -> Background::TakeOver {
          // A TakeOver is copied; what it carries is not.
          std::shared_ptr<const Found> found;
          std::string why;
          try {
            found = std::make_shared<const Found>(read(stop));
          } catch (const Cancelled&) {
            throw;
          } catch (const std::exception& e) {
            why = e.what();
          }
          return [this, found = std::move(found), why = std::move(why)] {
            found_ = found;
            error_ = why;
            ++finished_;
          };
        });
  }

  std::optional<Read> next_;  // starts when the one that was cancelled has ended
  std::shared_ptr<const Found> found_;
  std::string error_;
  std::uint64_t finished_ = 0;
  Background background_;  // last: its thread ends before what it uses
};

}  // namespace reprise::debugger
