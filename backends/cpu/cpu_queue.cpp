#include "backends/cpu/cpu_queue.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <system_error>

namespace reprise::cpu {

CpuQueue::~CpuQueue() {
  {
    Lock lock(mutex_);
    while (running_ || (completed_ < submitted_ && !failed())) {
      advance(lock);
    }
    stopping_ = true;
  }
  changed_.notify_all();
  if (worker_.joinable()) {
    worker_.join();
  }
}

void CpuQueue::require_known(std::uint64_t submission) const {
  if (submission > submitted_) {
    throw_invalid_argument("Submission (", submission, ") does not exist; the last one is ",
                           submitted_, ".");
  }
}

std::uint64_t CpuQueue::submit(std::span<const EncodingRef> encodings, AfterSubmit then) {
  release_freed();
  const Lock lock(mutex_);
  life_->require_ready();
  for (const EncodingRef& encoding : encodings) {
    const auto* own = dynamic_cast<const CpuEncoding*>(encoding.get());
    if (own == nullptr || own->device() != device_) {
      throw_invalid_argument("A submission contains an encoding of another device.");
    }
  }
  if (then == AfterSubmit::will_continue && !worker_.joinable()) {
    start_worker();
  }
  in_flight_.admit(encodings);
  CpuHostSignal* after =
      encodings.empty() ? nullptr : static_cast<const CpuEncoding&>(*encodings.front()).after();
  if (after != nullptr) {
    behind_host_.push_back({submitted_ + 1, after, after->awaited + 1});
    ++after->awaited;
  }
  in_flight_.add(++submitted_, encodings);
  if (then == AfterSubmit::will_continue) {
    changed_.notify_all();
  }
  return submitted_;
}

void CpuQueue::start_worker() {
  try {
    worker_ = std::thread([this] { run_until_stopped(); });
  } catch (const std::system_error& error) {
    throw_error(ErrorCode::out_of_memory, "The CPU backend cannot start its thread: ", error.what(),
                ".");
  }
}

void CpuQueue::run_next(Lock& lock) {
  running_ = true;
  const std::uint64_t submission = completed_ + 1;
  next_.clear();
  in_flight_.visit(submission, [&](const Encoding& encoding) {
    next_.push_back(static_cast<const CpuEncoding*>(&encoding));
  });
  lock.unlock();
  std::optional<std::string> failure;
  try {
    for (const CpuEncoding* encoding : next_) {
      encoding->run();
    }
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "an exception of an unknown type";
  }
  lock.lock();
  if (failure) {
    life_->lose(*failure);
  } else {
    if (!behind_host_.empty() && behind_host_.front().submission == submission) {
      behind_host_.erase(behind_host_.begin());
    }
    retire(lock, submission);
    completed_ = submission;
  }
  running_ = false;
  if (waiting_ > 0) {
    changed_.notify_all();
  }
}

void CpuQueue::retire(Lock& lock, std::uint64_t submission) {
  std::array<EncodingRef, 8> retired;
  while (in_flight_.take(submission, retired) > 0) {
    lock.unlock();
    std::ranges::fill(retired, nullptr);
    lock.lock();
  }
  release_freed(lock);
}

void CpuQueue::release_freed(Lock& lock) {
  while (const std::shared_ptr<Buffer> buffer = in_flight_.take_freed()) {
    lock.unlock();
    buffer->release_memory();
    lock.lock();
  }
}

void CpuQueue::free(const std::shared_ptr<Buffer>& buffer) {
  Lock lock(mutex_);
  in_flight_.free(buffer);
  release_freed(lock);
}

void CpuQueue::release_freed() {
  if (in_flight_.has_freed()) {
    Lock lock(mutex_);
    release_freed(lock);
  }
}

std::uint64_t CpuQueue::last_submission() {
  const Lock lock(mutex_);
  return submitted_;
}

std::uint64_t CpuQueue::completed() {
  const Lock lock(mutex_);
  return completed_;
}

void CpuQueue::shutdown() {
  {
    const Lock lock(mutex_);  // whoever submits has done so, or will be refused
    life_->shut_down();
  }
  wait(last_submission());
}

void CpuQueue::sleep(Lock& lock) {
  ++waiting_;
  changed_.wait(lock);
  --waiting_;
}

void CpuQueue::raise(CpuHostSignal& signal) {
  const Lock lock(mutex_);
  ++signal.raised;
  changed_.notify_all();
}

bool CpuQueue::behind_host() const {
  return !behind_host_.empty() && behind_host_.front().submission == completed_ + 1 &&
         behind_host_.front().signal->raised < behind_host_.front().value;
}

void CpuQueue::advance(Lock& lock) {
  if (running_ || behind_host()) {
    sleep(lock);
  } else {
    run_next(lock);
  }
}

void CpuQueue::run_until_stopped() {
  Lock lock(mutex_);
  while (!stopping_) {
    if (!running_ && completed_ < submitted_ && !behind_host() && !failed()) {
      run_next(lock);
    } else {
      sleep(lock);
    }
  }
}

bool CpuQueue::complete(std::uint64_t submission) {
  const Lock lock(mutex_);
  require_known(submission);
  if (completed_ < submission) {
    life_->require_alive();
  }
  return completed_ >= submission;
}

void CpuQueue::wait(std::uint64_t submission) {
  Lock lock(mutex_);
  require_known(submission);
  while (completed_ < submission) {
    life_->require_alive();
    advance(lock);
  }
}

std::uint64_t CpuQueue::last_use(const Buffer& buffer, Access access) {
  const Lock lock(mutex_);
  return in_flight_.last_use(buffer, access);
}

}  // namespace reprise::cpu
