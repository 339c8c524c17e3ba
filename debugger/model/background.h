// One job at a time on a thread of its own. One thread, the one that draws.
#pragma once
#include <functional>
#include <memory>
#include <stop_token>

namespace reprise::debugger {

class Background {
 public:
  /// Takes over on the drawing thread what a job found out.
  using TakeOver = std::function<void()>;
  /// Runs on the other thread and must not touch what the drawing thread uses. May throw Cancelled;
  /// every other exception is the job's own business.
  using Job = std::function<TakeOver(const std::stop_token&)>;

  Background();
  /// Cancels, and waits for the job to notice.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Only while not busy().
  void start(Job job);
  /// From start() to the poll() that finds the job finished.
  bool busy() const;
  /// What a cancelled job found is dropped.
  void cancel();
  /// True if a job finished, after its TakeOver.
  bool poll();
  /// Blocks until poll() would find the job finished.
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::debugger
