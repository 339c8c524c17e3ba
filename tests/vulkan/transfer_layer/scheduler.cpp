#include "tests/vulkan/transfer_layer/scheduler.h"

#include <algorithm>
#include <atomic>

namespace reprise::transfer_layer {
namespace {

// Whoever asks so often is waiting.
constexpr std::uint32_t kPatience = 64;

std::atomic<Late> late_queue{Late::transfers};
std::atomic<std::uint64_t> transfer_count{0};

bool is_late(Scheduler::Queue queue, Late late) {
  return late == (queue == Scheduler::transfer ? Late::transfers : Late::compute);
}

}  // namespace

void run_late(Late which) { late_queue = which; }
std::uint64_t transfers() { return transfer_count; }

VkResult Scheduler::submit(Queue queue, const VkSubmitInfo2& info) {
  const std::lock_guard lock(mutex_);
  transfer_count += queue == transfer ? 1U : 0U;
  held_[queue].push_back(
      {.waits = {info.pWaitSemaphoreInfos, info.pWaitSemaphoreInfos + info.waitSemaphoreInfoCount},
       .signals = {info.pSignalSemaphoreInfos,
                   info.pSignalSemaphoreInfos + info.signalSemaphoreInfoCount},
       .commands = {info.pCommandBufferInfos,
                    info.pCommandBufferInfos + info.commandBufferInfoCount}});
  return advance(late_queue);
}

VkResult Scheduler::want(VkSemaphore semaphore, std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  wanted_[semaphore] = std::max(wanted_[semaphore], value);
  return advance(late_queue);
}

VkResult Scheduler::ask(VkSemaphore semaphore) {
  const std::lock_guard lock(mutex_);
  return ++questions_[semaphore] < kPatience ? VK_SUCCESS : advance(Late::nothing);
}

VkResult Scheduler::go_on() {
  const std::lock_guard lock(mutex_);
  return advance(late_queue);
}

VkResult Scheduler::finish() {
  const std::lock_guard lock(mutex_);
  return advance(Late::nothing);
}

void Scheduler::forget(VkSemaphore semaphore) {
  const std::lock_guard lock(mutex_);
  started_.erase(semaphore);
  wanted_.erase(semaphore);
  questions_.erase(semaphore);
}

VkResult Scheduler::advance(Late late) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Queue queue : {compute, transfer}) {
      while (may_start(queue, late)) {
        const VkResult result = start(held_[queue].front());
        held_[queue].pop_front();
        if (result != VK_SUCCESS) {
          return result;
        }
        changed = true;
      }
    }
  }
  return VK_SUCCESS;
}

VkResult Scheduler::start(const Submission& submission) {
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.waitSemaphoreInfoCount = static_cast<std::uint32_t>(submission.waits.size());
  info.pWaitSemaphoreInfos = submission.waits.data();
  info.commandBufferInfoCount = static_cast<std::uint32_t>(submission.commands.size());
  info.pCommandBufferInfos = submission.commands.data();
  info.signalSemaphoreInfoCount = static_cast<std::uint32_t>(submission.signals.size());
  info.pSignalSemaphoreInfos = submission.signals.data();
  for (const VkSemaphoreSubmitInfo& signal : submission.signals) {
    started_[signal.semaphore] = std::max(started_[signal.semaphore], signal.value);
  }
  questions_.clear();
  return driver_.submit(driver_.queue, 1, &info, VK_NULL_HANDLE);
}

bool Scheduler::reached(VkSemaphore semaphore, std::uint64_t value) {
  const auto started = started_.find(semaphore);
  if (started != started_.end() && started->second >= value) {
    return true;
  }
  std::uint64_t counter = 0;
  return driver_.counter(driver_.device, semaphore, &counter) == VK_SUCCESS && counter >= value;
}

bool Scheduler::may_start(Queue queue, Late late) {
  if (held_[queue].empty()) {
    return false;
  }
  const bool ready = std::ranges::all_of(held_[queue].front().waits, [&](const auto& wait) {
    return reached(wait.semaphore, wait.value);
  });
  return ready && (!is_late(queue, late) || needed(queue));
}

bool Scheduler::needed(Queue queue) {
  for (const auto& [semaphore, value] : wanted_) {
    if (!reached(semaphore, value) && holds(queue, semaphore, value)) {
      return true;
    }
  }
  return std::ranges::any_of(held_[queue == compute ? transfer : compute], [&](const auto& other) {
    return std::ranges::any_of(other.waits, [&](const auto& wait) {
      return !reached(wait.semaphore, wait.value) && holds(queue, wait.semaphore, wait.value);
    });
  });
}

bool Scheduler::holds(Queue queue, VkSemaphore semaphore, std::uint64_t value) {
  return std::ranges::any_of(held_[queue], [&](const Submission& submission) {
    return std::ranges::any_of(submission.signals, [&](const auto& signal) {
      return signal.semaphore == semaphore && signal.value >= value;
    });
  });
}

}  // namespace reprise::transfer_layer
