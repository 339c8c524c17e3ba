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

Queue::Queue(std::shared_ptr<Device> device) : device_(std::move(device)), timeline_(device_) {
  if (device_->read_queue() != VK_NULL_HANDLE) {
    reads_ = std::make_unique<ReadQueue>(device_, device_->read_queue());
  }
}

Queue::~Queue() {
  try {
    wait(submitted_);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::timeout) {
      static_cast<void>(in_flight_.release());  // destroying what is in use is worse than a leak
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
  signal.value = submitted_ + 1;
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
  in_flight_->add(++submitted_, encodings);
  if (after != nullptr) {
    behind_host_.push_back({submitted_, after, ++after->awaited});
  }
  return submitted_;
}

void Queue::retire(std::uint64_t completed) {
  std::uint64_t known = completed_.load(std::memory_order_relaxed);
  while (known < completed &&
         !completed_.compare_exchange_weak(known, completed, std::memory_order_release)) {
  }
  std::array<EncodingRef, 8> retired;
  for (std::size_t taken = retired.size(); taken == retired.size();) {
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(behind_host_, [&](const auto& b) { return b.submission <= completed; });
      taken = in_flight_->take(completed, retired);
    }
    std::ranges::fill(retired, nullptr);
  }
  release_freed();
}

void Queue::release_freed() {
  while (in_flight_->has_freed()) {
    std::shared_ptr<Buffer> buffer;
    {
      const std::lock_guard lock(mutex_);
      buffer = in_flight_->take_freed();
    }
    if (buffer == nullptr) {
      return;
    }
    buffer->release_memory();
  }
}

void Queue::free(const std::shared_ptr<Buffer>& buffer) {
  {
    const std::lock_guard lock(mutex_);
    in_flight_->free(buffer);
  }
  release_freed();
}

std::uint64_t Queue::last_submission() {
  const std::lock_guard lock(mutex_);
  return submitted_;
}

void Queue::shutdown() {
  {
    const std::lock_guard lock(mutex_);  // whoever submits has done so, or will be refused
    device_->life()->shut_down();
  }
  wait(last_submission());
}

bool Queue::complete(std::uint64_t submission) {
  if (completed() >= submission) {
    return true;
  }
  device_->require_alive();
  const std::uint64_t counter = timeline_.counter();
  if (counter < submission) {
    return false;
  }
  retire(counter);
  return true;
}

bool Queue::copy_aside(const VulkanBuffer& from, std::uint64_t offset, const VulkanBuffer& to,
                       std::uint64_t bytes) {
  if (reads_ == nullptr) {
    return false;
  }
  while (true) {
    wait(last_use(from, Access::write));
    // Nobody submits meanwhile: what comes next may write what is read.
    const std::lock_guard lock(mutex_);
    device_->require_ready();
    if (in_flight_->last_use(from, Access::write) <= completed()) {
      reads_->copy(from, offset, to, bytes, timeline_.get(), completed());
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
      retire(submission);
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
