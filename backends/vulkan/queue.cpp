#include "backends/vulkan/queue.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <typeinfo>

#include "backends/vulkan/encoding.h"
#include "reprise/core/error.h"

namespace reprise::vulkan {
namespace {

using Clock = std::chrono::steady_clock;

// How long one call into the driver may last: bounds how late a lost device is noticed.
constexpr std::chrono::milliseconds kPollStep{100};

const VulkanEncoding& own(const EncodingRef& encoding, const Device& device) {
  if (encoding == nullptr) {
    throw_invalid_argument("A submission contains no encoding (null).");
  }
  const Encoding& any = *encoding;
  if (typeid(any) != typeid(VulkanEncoding) ||
      &static_cast<const VulkanEncoding&>(any).device() != &device) {
    throw_invalid_argument("A submission contains an encoding of another device.");
  }
  return static_cast<const VulkanEncoding&>(any);
}

}  // namespace

Queue::Queue(std::shared_ptr<Device> device, VkQueue reads)
    : device_(std::move(device)), timeline_(device_) {
  if (reads != VK_NULL_HANDLE) {
    reads_ = std::make_unique<ReadQueue>(device_, reads);
  }
}

Queue::~Queue() {
  try {
    wait(submitted_);
    if (reads_ != nullptr) {
      reads_->wait();
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::timeout) {
      static_cast<void>(in_flight_.release());  // destroying what is in use is worse than a leak
      static_cast<void>(reads_.release());
      timeline_.leak();
    } else {
      static_cast<void>(vkDeviceWaitIdle(device_->get()));  // returns on lost devices too
    }
  }
}

void Queue::collect(std::span<const EncodingRef> encodings) {
  commands_.clear();
  for (const EncodingRef& encoding : encodings) {
    commands_.push_back({VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr,
                         own(encoding, *device_).commands(), 0});
  }
}

std::uint64_t Queue::submit(std::span<const EncodingRef> encodings) {
  release_freed();
  const std::lock_guard lock(mutex_);
  device_->require_ready();
  const std::uint64_t number = submitted_ + 1;
  collect(encodings);
  in_flight_->admit(encodings);
  VulkanHostSignal* after =
      encodings.empty() ? nullptr : static_cast<const VulkanEncoding&>(*encodings.front()).after();
  if (after != nullptr) {
    behind_host_.reserve(behind_host_.size() + 1);
  }
  for (const EncodingRef& encoding : encodings) {
    static_cast<const VulkanEncoding&>(*encoding).count_submission();
  }
  VkSemaphoreSubmitInfo signal{};
  signal.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  signal.semaphore = timeline_.get();
  signal.value = number;
  signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.commandBufferInfoCount = static_cast<std::uint32_t>(commands_.size());
  info.pCommandBufferInfos = commands_.data();
  info.signalSemaphoreInfoCount = 1;
  info.pSignalSemaphoreInfos = &signal;
  VkSemaphoreSubmitInfo wait = signal;
  if (after != nullptr) {
    wait.semaphore = after->get();
    wait.value = after->awaited + 1;
    info.waitSemaphoreInfoCount = 1;
    info.pWaitSemaphoreInfos = &wait;
  }
  timeline_.submit(info);
  in_flight_->add(number, encodings);
  if (after != nullptr) {
    behind_host_.push_back({number, after, ++after->awaited});
  }
  submitted_.store(number, std::memory_order_release);
  return number;
}

void Queue::publish(std::uint64_t completed) {
  std::uint64_t known = completed_.load(std::memory_order_relaxed);
  while (known < completed &&
         !completed_.compare_exchange_weak(known, completed, std::memory_order_release)) {
  }
}

bool Queue::retire_some(Lock& lock) {
  // They go without the mutex: owners of imported memory run code of the user then.
  std::array<EncodingRef, 8> retired;
  ReadQueue::Copy copied;
  std::shared_ptr<Buffer> freed;
  const std::uint64_t known = completed();
  std::erase_if(behind_host_, [&](const auto& b) { return b.submission <= known; });
  const bool more = in_flight_->take(known, retired) == retired.size();
  if (!more) {
    retired_.store(known, std::memory_order_relaxed);
    // A copy whose wait failed may still read what is freed.
    if (reads_ == nullptr || !reads_->pending(copied)) {
      freed = in_flight_->take_freed();
    }
  }
  lock.unlock();
  std::ranges::fill(retired, nullptr);
  if (freed != nullptr) {
    freed->release_memory();
  }
  return more || freed != nullptr;
}

void Queue::retire(Lock lock) {
  while (lock.owns_lock() && retire_some(lock)) {
    static_cast<void>(lock.try_lock());
  }
}

void Queue::retire_rest() {
  if (retired_.load(std::memory_order_relaxed) < completed()) {
    retire(Lock(mutex_, std::try_to_lock));
  }
}

void Queue::release_freed() {
  if (in_flight_->has_freed()) {
    retire(Lock(mutex_));
  }
}

void Queue::free(const std::shared_ptr<Buffer>& buffer) {
  Lock lock(mutex_);
  in_flight_->free(buffer);
  retire(std::move(lock));
}

void Queue::shutdown() {
  {
    const std::lock_guard lock(mutex_);  // whoever submits has done so, or will be refused
    device_->life()->shut_down();
  }
  wait(last_submission());
}

bool Queue::complete(std::uint64_t submission) {
  if (completed() < submission) {
    device_->require_alive();
    const std::uint64_t counter = timeline_.counter();
    if (counter < submission) {
      return false;
    }
    publish(counter);
  }
  retire_rest();
  return true;
}

bool Queue::copy_aside(const std::shared_ptr<const VulkanBuffer>& from, std::uint64_t offset,
                       const std::shared_ptr<const VulkanBuffer>& to, std::uint64_t bytes) {
  if (reads_ == nullptr) {
    return false;
  }
  while (true) {
    wait(last_use(*from, Access::write));
    ReadQueue::Copy ended;  // let go of without the mutex
    // Nobody submits meanwhile: what comes next may write what is read.
    Lock lock(mutex_);
    device_->require_ready();
    if (reads_->pending(ended)) {
      return false;
    }
    if (in_flight_->last_use(*from, Access::write) <= completed()) {
      reads_->copy({from, to}, offset, bytes, timeline_.get(), completed());
      retire(std::move(lock));  // complete() could not meanwhile
      return true;
    }
  }
}

std::uint64_t Queue::last_use(const Buffer& buffer, Access access) {
  const std::lock_guard lock(mutex_);
  return in_flight_->last_use(buffer, access);
}

void Queue::wait(std::uint64_t submission) {
  device_->require_alive();
  if (completed() >= submission) {
    retire_rest();
    return;
  }
  const Clock::duration hang = device_->hang_timeout();
  Clock::time_point progress = Clock::now();
  std::uint64_t last = 0;
  while (true) {
    device_->require_alive();
    const Clock::duration left = hang - (Clock::now() - progress);
    const auto step = std::clamp<Clock::duration>(left, Clock::duration::zero(), kPollStep);
    const bool reached = timeline_.wait(
        submission, static_cast<std::uint64_t>(
                        std::chrono::duration_cast<std::chrono::nanoseconds>(step).count()));
    const std::uint64_t counter = reached ? submission : timeline_.counter();
    if (counter >= submission) {
      publish(submission);
      retire(Lock(mutex_));
      return;
    }
    if (counter != last || waits_for_host(submission, counter)) {
      last = counter;
      progress = Clock::now();
    } else if (Clock::now() - progress >= hang) {
      throw_error(ErrorCode::timeout, "The wait for submission (", submission,
                  ") ends without progress for ", device_->hang_timeout().count(),
                  " ms; the device completed submission ", counter, ".");
    }
  }
}

bool Queue::waits_for_host(std::uint64_t submission, std::uint64_t completed) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(behind_host_, [&](const BehindHost& b) {
    return b.submission == completed + 1 && b.submission <= submission &&
           b.signal->raised() < b.value && !b.signal->broken();
  });
}

}  // namespace reprise::vulkan
