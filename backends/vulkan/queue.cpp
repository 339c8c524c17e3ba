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
    invalid("A submission contains no encoding (null).");
  }
  const Encoding& any = *encoding;
  if (typeid(any) != typeid(VulkanEncoding) ||
      &static_cast<const VulkanEncoding&>(any).device() != &device) {
    invalid("A submission contains an encoding of another device.");
  }
  return static_cast<const VulkanEncoding&>(any);
}

}  // namespace

Queue::Queue(std::shared_ptr<Device> device)
    : device_(std::move(device)),
      compute_(device_, QueueKind::compute),
      transfer_(device_->has_transfer_queue()
                    ? std::make_unique<Timeline>(device_, QueueKind::transfer)
                    : nullptr) {}

Queue::~Queue() {
  try {
    wait_through(submitted_);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::timeout) {
      static_cast<void>(in_flight_.release());  // destroying what is in use is worse than a leak
      compute_.leak();
      of(QueueKind::transfer).leak();
    } else {
      static_cast<void>(vkDeviceWaitIdle(device_->get()));  // returns on lost devices too
    }
  }
}

QueueKind Queue::collect(std::span<const EncodingRef> encodings) {
  QueueKind queue = QueueKind::compute;
  commands_.clear();
  for (const EncodingRef& encoding : encodings) {
    const VulkanEncoding& one = own(encoding, *device_);
    if (commands_.empty()) {
      queue = one.queue();
    } else if (one.queue() != queue) {
      invalid("A submission contains transfers and other encodings; it takes one kind of them.");
    }
    commands_.push_back({VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, one.commands(), 0});
  }
  return queue;
}

std::uint64_t Queue::needed_of_other(QueueKind queue,
                                     std::span<const EncodingRef> encodings) const {
  const QueueKind other = other_than(queue);
  const std::uint64_t after = after_[static_cast<std::size_t>(queue)];
  if (transfer_ == nullptr || order_.submitted(other) <= after) {
    return 0;
  }
  const std::uint64_t used = in_flight_->last(after, [&](const Encoding& theirs) {
    return static_cast<const VulkanEncoding&>(theirs).queue() == other &&
           std::ranges::any_of(encodings, [&](const EncodingRef& mine) {
             return theirs.uses().share(mine->uses());
           });
  });
  // What is complete may be in flight no more: that nothing holds it is no order on the device. To
  // wait for it costs nothing, and none of it is looked at again.
  const std::uint64_t needed = std::max(used, order_.completed(other));
  return needed > after ? needed : 0;
}

std::uint64_t Queue::submit(std::span<const EncodingRef> encodings) {
  release_freed();
  const std::lock_guard lock(mutex_);
  device_->require_ready();
  const QueueKind queue = collect(encodings);
  in_flight_->admit(encodings);
  VulkanHostSignal* after =
      encodings.empty() ? nullptr : static_cast<const VulkanEncoding&>(*encodings.front()).after();
  if (after != nullptr) {
    behind_host_.reserve(behind_host_.size() + 1);
  }
  if (transfer_ != nullptr) {
    order_.reserve();
  }
  for (const EncodingRef& encoding : encodings) {
    static_cast<const VulkanEncoding&>(*encoding).count_submission();
  }
  VkSemaphoreSubmitInfo signal{};
  signal.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  signal.semaphore = of(queue).get();
  signal.value = submitted_ + 1;
  signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  std::array<VkSemaphoreSubmitInfo, 2> waits{signal, signal};
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.commandBufferInfoCount = static_cast<std::uint32_t>(commands_.size());
  info.pCommandBufferInfos = commands_.data();
  info.signalSemaphoreInfoCount = 1;
  info.pSignalSemaphoreInfos = &signal;
  info.pWaitSemaphoreInfos = waits.data();
  const auto wait_for = [&](VkSemaphore semaphore, std::uint64_t value) {
    waits[info.waitSemaphoreInfoCount].semaphore = semaphore;
    waits[info.waitSemaphoreInfoCount++].value = value;
  };
  if (after != nullptr) {
    wait_for(after->get(), after->awaited + 1);
  }
  const std::uint64_t needed = needed_of_other(queue, encodings);
  if (needed != 0) {
    wait_for(of(other_than(queue)).get(), needed);
  }
  of(queue).submit(info, signal.value);
  std::uint64_t before = submitted_;
  in_flight_->add(++submitted_, encodings);
  if (transfer_ != nullptr) {
    before = order_.submitted(queue);
    order_.add(queue);
    after_[static_cast<std::size_t>(queue)] =
        std::max(after_[static_cast<std::size_t>(queue)], needed);
  }
  if (after != nullptr) {
    behind_host_.push_back({before, submitted_, after, ++after->awaited});
  }
  return submitted_;
}

std::uint64_t Queue::note(QueueKind queue, std::uint64_t through) {
  const QueueKind other = other_than(queue);
  {
    const std::lock_guard lock(mutex_);
    order_.complete(queue, through);
    if (!order_.in_flight(other)) {
      return order_.completed();
    }
  }
  const std::uint64_t counter = of(other).counter();
  const std::lock_guard lock(mutex_);
  order_.complete(other, counter);
  return order_.completed();
}

void Queue::retire(QueueKind queue, std::uint64_t through) {
  const std::uint64_t completed = transfer_ == nullptr ? through : note(queue, through);
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
  wait_through(last_submission());
}

std::optional<QueueKind> Queue::queue_of(std::uint64_t submission) {
  if (transfer_ == nullptr) {
    return QueueKind::compute;
  }
  const std::lock_guard lock(mutex_);
  return order_.queue_of(submission);
}

bool Queue::complete(std::uint64_t submission) {
  if (completed() >= submission) {
    return true;
  }
  device_->require_alive();
  const std::optional<QueueKind> queue = queue_of(submission);
  if (!queue) {
    return true;
  }
  const std::uint64_t counter = of(*queue).counter();
  if (counter < submission) {
    return false;
  }
  retire(*queue, counter);
  return true;
}

bool Queue::complete_through(std::uint64_t submission) {
  if (transfer_ == nullptr || completed() >= submission) {
    return complete(submission);
  }
  device_->require_alive();
  retire(QueueKind::compute, compute_.counter());  // looks at the other one too
  return completed() >= submission;
}

std::uint64_t Queue::last_use(const Buffer& buffer, Access access) {
  const std::lock_guard lock(mutex_);
  return in_flight_->last_use(buffer, access);
}

void Queue::wait_through(std::uint64_t submission) {
  if (transfer_ != nullptr) {
    for (const QueueKind queue : {QueueKind::compute, QueueKind::transfer}) {
      std::uint64_t last = 0;
      {
        const std::lock_guard lock(mutex_);
        last = order_.last(queue, submission);
      }
      wait(last);
    }
  }
  wait(submission);
}

void Queue::wait(std::uint64_t submission) {
  device_->require_alive();
  if (completed() >= submission) {
    return;
  }
  const std::optional<QueueKind> queue = queue_of(submission);
  if (!queue) {
    return;
  }
  const Clock::duration hang = device_->hang_timeout();
  Clock::time_point progress = Clock::now();
  std::uint64_t last = 0;
  while (true) {
    device_->require_alive();
    const Clock::duration left = hang - (Clock::now() - progress);
    const auto step = std::clamp<Clock::duration>(left, Clock::duration::zero(), kPollStep);
    const bool reached = of(*queue).wait(
        submission, static_cast<std::uint64_t>(
                        std::chrono::duration_cast<std::chrono::nanoseconds>(step).count()));
    const Counters now = reached ? Counters{} : counters();
    const std::uint64_t counter = now[static_cast<std::size_t>(*queue)];
    if (reached || counter >= submission) {
      retire(*queue, submission);
      return;
    }
    // What was submitted to the other queue later is nothing that this one waits for.
    const std::uint64_t passed =
        counter + std::min(now[static_cast<std::size_t>(other_than(*queue))], submission);
    if (passed != last || waits_for_host(submission, now[0])) {
      last = passed;
      progress = Clock::now();
    } else if (Clock::now() - progress >= hang) {
      throw Error(ErrorCode::timeout, "The wait for submission (" + std::to_string(submission) +
                                          ") ends without progress for " +
                                          std::to_string(device_->hang_timeout().count()) +
                                          " ms; the device completed submission " +
                                          std::to_string(counter) + ".");
    }
  }
}

bool Queue::waits_for_host(std::uint64_t submission, std::uint64_t completed) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(behind_host_, [&](const BehindHost& b) {
    return b.before <= completed && completed < b.submission && b.submission <= submission &&
           b.signal->raised() < b.value && !b.signal->broken();
  });
}

Queue::Counters Queue::counters() {
  return {compute_.counter(), transfer_ == nullptr ? 0 : transfer_->counter()};
}

}  // namespace reprise::vulkan
