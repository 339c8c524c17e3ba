#include "debugger/model/read_scheduler.h"

#include <algorithm>

#include "reprise/sql_query.h"

namespace reprise::debugger {
namespace {

/// A file that is written all the time is read no more often.
constexpr std::chrono::milliseconds kFollowEvery{500};
/// No version of a file: what was read of it is out of date.
constexpr auto kNone = ~std::uint64_t{0};

}  // namespace

void ScheduledRead::start(ReadScheduler& scheduler) {
  if (scheduler_ == nullptr) {
    scheduler_ = &scheduler;
    scheduler.reads_.push_back(this);
  }
  asked_ = true;
  if (running()) {
    thread_.request_stop();
    waiting_ = true;
  } else {
    launch();
  }
}

void ScheduledRead::note_sight(const ReadScheduler& scheduler) { seen_in_ = scheduler.frame_; }

bool ScheduledRead::in_sight() const { return seen_in_ == 0 || seen_in_ + 1 >= scheduler_->frame_; }

void ScheduledRead::launch() {
  waiting_ = false;
  version_ = scheduler_->version();
  started_ = std::chrono::steady_clock::now();
  finished_ = false;
  prepare();
  thread_ = std::jthread([this](const std::stop_token& stop) {
    try {
      run(scheduler_->path(), stop);
    } catch (const Cancelled&) {
    } catch (const std::exception& e) {
      failure_ = e.what();
    }
    finished_ = true;
    ++scheduler_->ended_;
    scheduler_->ended_.notify_all();
  });
}

bool ScheduledRead::poll(bool eager) {
  const bool ended = running() && finished_;
  if (ended) {
    const bool wanted = !thread_.get_stop_token().stop_requested();
    thread_ = {};
    end(wanted);
    std::string failure = std::exchange(failure_, {});
    problem_ = wanted ? std::move(failure) : problem_;
    revision_ += wanted ? 1U : 0U;
  }
  const bool rested = eager || std::chrono::steady_clock::now() - started_ >= kFollowEvery;
  const bool stale =
      follows_file_ && asked_ && in_sight() && version_ != scheduler_->version() && rested;
  if (!running() && (waiting_ || stale)) {
    launch();
  }
  return ended;
}

void ScheduledRead::cancel() {
  waiting_ = false;
  thread_.request_stop();
}

void ScheduledRead::give_up() {
  cancel();
  asked_ = false;
  problem_.clear();
  ++revision_;
}

void ScheduledRead::detach() {
  if (scheduler_ != nullptr) {
    thread_ = {};
    std::erase(scheduler_->reads_, this);
    scheduler_ = nullptr;
  }
}

ReadScheduler::~ReadScheduler() {
  while (!reads_.empty()) {
    reads_.back()->detach();
  }
}

void ReadScheduler::begin_frame() {
  ++frame_;
  for (ScheduledRead* const read : reads_) {
    if (read->running() && !read->in_sight() && !read->thread_.get_stop_token().stop_requested()) {
      read->lose();
      read->version_ = kNone;
    }
  }
}

bool ReadScheduler::poll(bool eager) {
  bool ended = false;
  for (ScheduledRead* const read : reads_) {
    ended = read->poll(eager) || ended;
  }
  return ended;
}

bool ReadScheduler::busy() const { return std::ranges::any_of(reads_, &ScheduledRead::running); }

bool ReadScheduler::wait() const {
  while (true) {
    const std::uint32_t ended = ended_;
    if (std::ranges::any_of(reads_,
                            [](const auto* of) { return of->running() && of->finished_; })) {
      return true;
    }
    if (!busy()) {
      return false;
    }
    ended_.wait(ended);
  }
}

void ReadScheduler::settle() {
  look();
  do {
    poll(true);
  } while (wait());
}

}  // namespace reprise::debugger
