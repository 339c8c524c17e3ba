// Reads of one database on worker threads, for views that draw without locks. A Read has the key
// that somebody looks at and its value: the value of one key is never shown as that of another.
// What nobody looks at any more is not read to its end.
//
// Threads: every function is for one thread, the one that draws. A read that runs has a thread of
// its own. That thread uses a copy of the key and the outcome of this run, nothing else. poll()
// takes the outcome over when the thread has set its flag. There are no locks. Values, problems
// and revisions change in poll(), show(), forget() and take() only.
// Lifetime: reads and scheduler may be destroyed in any order; either cancels what runs and waits.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

class ReadScheduler;

/// What a scheduler knows of a Read.
class ScheduledRead {
 public:
  virtual ~ScheduledRead() = default;
  ScheduledRead(const ScheduledRead&) = delete;
  ScheduledRead& operator=(const ScheduledRead&) = delete;

  /// From the request to the poll() that takes over or drops what was found.
  bool running() const { return thread_.joinable(); }
  /// Why the last read failed; empty if it did not.
  const std::string& problem() const { return problem_; }
  /// Changes whenever a read ends or is forgotten.
  std::uint64_t revision() const { return revision_; }
  /// Gives up what was asked for; the value before stays, also if it is of the key before.
  void cancel();
  /// Reads the last key again. Only after somebody asked for one.
  void again() { start(*scheduler_); }

 protected:
  explicit ScheduledRead(bool follows_file) : follows_file_(follows_file) {}
  /// Starts now, or when the run that this cancels has ended.
  void start(ReadScheduler& scheduler);
  /// Somebody looks at it in this frame. What nobody ever looked at, only asked for, stays wanted.
  void note_sight(const ReadScheduler& scheduler);
  void give_up();
  /// The destructor of Read calls it: the thread uses what is there.
  void detach();

 private:
  friend class ReadScheduler;
  virtual void prepare() = 0;
  virtual void run(const std::filesystem::path& path, const std::stop_token& stop) = 0;
  /// `wanted`: it was not cancelled.
  virtual void end(bool wanted) = 0;
  /// It runs out of sight.
  virtual void lose() = 0;
  bool in_sight() const;
  void launch();
  bool poll(bool eager);

  const bool follows_file_;
  bool asked_ = false, waiting_ = false;  // waiting: for the run before to end
  ReadScheduler* scheduler_ = nullptr;    // null before the first request
  std::uint64_t version_ = 0;             // of the file, when the last run started
  std::uint64_t seen_in_ = 0;             // the last frame in which somebody looked; 0: none
  std::chrono::steady_clock::time_point started_{};
  std::uint64_t revision_ = 0;
  std::string problem_;
  std::string failure_;  // the thread's until finished_
  std::atomic<bool> finished_ = false;
  std::jthread thread_;
};

class ReadScheduler {
 public:
  explicit ReadScheduler(std::filesystem::path path) : path_(std::move(path)), watch_(path_) {}
  ~ReadScheduler();
  ReadScheduler(const ReadScheduler&) = delete;
  ReadScheduler& operator=(const ReadScheduler&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Looks whether the file changed: version() counts how often it did.
  void look() { version_ += watch_.changed() ? 1U : 0U; }
  std::uint64_t version() const { return version_; }
  /// Views that draw from here on say what they look at, with show(). Cancels what runs and was not
  /// looked at in the frame before.
  void begin_frame();
  /// Takes over what finished and starts the reads that follow the file; true if any read ended.
  /// `eager`: without the pause between two readings of a file that changes all the time.
  bool poll(bool eager = false);
  bool busy() const;
  /// Blocks until poll() would find that a read ended; false if none runs.
  bool wait() const;
  /// Polls until all is read that was asked for, and what changed in the file by now.
  void settle();

 private:
  friend class ScheduledRead;
  const std::filesystem::path path_;
  ProfileWatch watch_;
  std::uint64_t version_ = 0, frame_ = 1;
  std::atomic<std::uint32_t> ended_ = 0;  // runs, counted by their threads
  std::vector<ScheduledRead*> reads_;
};

/// Whether a read is repeated when the file changed, with its value on the screen until then.
enum class Follow : bool { nothing, file };

/// `Key` is copied and compared; a key that is never shown, only asked for, needs no comparison.
template <class Key, class Value>
class Read final : public ScheduledRead {
 public:
  /// Runs on a thread of its own; may throw.
  using Function = Value (*)(const std::filesystem::path& path, const Key& key,
                             const std::stop_token& stop);
  explicit Read(Function read, Follow follow = Follow::nothing)
      : ScheduledRead(follow == Follow::file), read_(read) {}
  ~Read() override { detach(); }

  /// Views call it in every frame in which they need the value. A different key cancels the read
  /// of the one before and forgets its value. Returns whether it was a different one.
  bool show(ReadScheduler& scheduler, const Key& key) {
    note_sight(scheduler);
    if (key_ == key) {
      return false;
    }
    forget();
    ask(scheduler, key);
    return true;
  }
  /// Reads a key, also the same one again. Cancels what runs; the value before stays until then.
  void ask(ReadScheduler& scheduler, Key key) {
    key_ = std::move(key);
    start(scheduler);
  }
  /// As if nothing had been asked for.
  void forget() {
    if (key_) {
      key_.reset();
      value_.reset();
      give_up();
    }
  }
  /// What was asked for last.
  const std::optional<Key>& key() const { return key_; }
  /// Null before it is read, and if it cannot be.
  const Value* value() const { return value_ ? &*value_ : nullptr; }
  /// For who keeps it: a value is taken once.
  std::optional<Value> take() { return std::exchange(value_, {}); }

 private:
  void prepare() override { running_ = key_; }
  void run(const std::filesystem::path& path, const std::stop_token& stop) override {
    found_ = read_(path, *running_, stop);
  }
  void end(bool wanted) override {
    if (wanted) {
      value_ = std::move(found_);
    }
    found_.reset();
    running_.reset();
  }
  void lose() override { value_ ? cancel() : forget(); }

  const Function read_;
  std::optional<Key> key_, running_;  // running: the thread's until it finished, as found_
  std::optional<Value> value_, found_;
};

/// Makes a capture the key of functions that read something of it.
using CaptureKey = std::shared_ptr<const Capture>;
template <auto kRead>
auto of_capture(const std::filesystem::path& path, const CaptureKey& capture,
                const std::stop_token& stop) {
  return kRead(path, *capture, stop);
}

}  // namespace reprise::debugger
