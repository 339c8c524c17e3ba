// The last of what was asked for, read on a worker thread. One thread asks and takes over: the one
// that draws.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "debugger/model/background.h"
#include "reprise/sql_query.h"

namespace reprise::debugger {

/// What a workspace polls, whatever is read.
class WorkerJob {
 public:
  virtual ~WorkerJob() = default;
  WorkerJob(const WorkerJob&) = delete;
  WorkerJob& operator=(const WorkerJob&) = delete;

  virtual bool running() const = 0;
  /// Takes over what finished; true if something did.
  virtual bool poll() = 0;
  /// Until none runs.
  virtual void settle() = 0;

 protected:
  WorkerJob() = default;
};

template <class T>
class WorkerRead : public WorkerJob {
 public:
  /// Runs on the worker and touches nothing but its captures; may throw.
  using Read = std::function<T(const std::stop_token&)>;

  /// Cancels the one that runs.
  void ask(Read read) {
    if (background_.busy()) {
      background_.cancel();
      next_ = std::move(read);
    } else {
      start(std::move(read));
    }
  }
  /// What was asked for is given up; the result before stays.
  void cancel() {
    next_.reset();
    background_.cancel();
  }
  /// As if nothing had been asked for.
  void forget() {
    if (background_.busy()) {
      cancel();
    }
    result_.reset();
    error_.clear();
  }
  bool running() const override { return background_.busy(); }
  bool poll() override {
    const bool finished = background_.poll();
    if (finished && next_) {
      start(*std::exchange(next_, {}));
    }
    return finished;
  }
  void settle() override {
    while (running()) {
      background_.wait();
      poll();
    }
  }
  /// How many finished so far; result() and error() change with it and with forget() only.
  std::uint64_t finished() const { return finished_; }
  /// Of the last one that finished; null if it failed or there was none.
  const T* result() const { return result_ ? &*result_ : nullptr; }
  /// Why the last one failed; empty if it did not.
  const std::string& error() const { return error_; }

 private:
  void start(Read read) {
    background_.start([this, read = std::move(read)](const std::stop_token& stop) {
      // A TakeOver is copied; what it carries is not.
      const auto found = std::make_shared<std::optional<T>>();
      std::string why;
      try {
        *found = read(stop);
      } catch (const Cancelled&) {
        throw;
      } catch (const std::exception& e) {
        why = e.what();
      }
      return [this, found, why = std::move(why)] {
        result_ = std::move(*found);
        error_ = why;
        ++finished_;
      };
    });
  }

  std::optional<Read> next_;  // starts when the one that was cancelled has ended
  std::optional<T> result_;
  std::string error_;
  std::uint64_t finished_ = 0;
  Background background_;  // last: its thread ends before what it uses
};

}  // namespace reprise::debugger
