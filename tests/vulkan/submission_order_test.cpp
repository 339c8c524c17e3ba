// The numbers of two queues, against a list of all submissions.
#include "backends/vulkan/submission_order.h"

#include <algorithm>

#include "tests/testing.h"

namespace reprise::vulkan {
namespace {

/// What SubmissionOrder should say, looked up one by one.
class List {
 public:
  void add(QueueKind queue) { queues_.push_back(queue); }
  void complete(QueueKind queue, std::uint64_t through) {
    for (std::uint64_t n = 1; n <= through; ++n) {
      if (at(n) == queue && !is_complete(n)) {
        complete_.push_back(n);
      }
    }
  }
  std::uint64_t submitted() const { return queues_.size(); }
  QueueKind at(std::uint64_t n) const { return queues_[n - 1]; }
  bool is_complete(std::uint64_t n) const { return std::ranges::count(complete_, n) != 0; }
  std::uint64_t completed() const {
    std::uint64_t n = 0;
    while (n < submitted() && is_complete(n + 1)) {
      ++n;
    }
    return n;
  }
  std::uint64_t last(QueueKind queue, std::uint64_t n) const {
    n = std::min(n, submitted());
    while (n > completed() && at(n) != queue) {
      --n;
    }
    return n > completed() ? n : 0;
  }

 private:
  std::vector<QueueKind> queues_;
  std::vector<std::uint64_t> complete_;
};

constexpr QueueKind kQueues[] = {QueueKind::compute, QueueKind::transfer};

TEST(SubmissionOrder, KnowsWhatIsCompleteOfTwoQueuesInAnyOrder) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 rng(seed);
  SubmissionOrder order;
  List list;
  for (int step = 0; step < 600; ++step) {
    const QueueKind queue = kQueues[rng() % 2];
    if (rng() % 4 != 0) {
      order.reserve();
      order.add(queue);
      list.add(queue);
    } else {  // a counter between what it was and what was submitted, on this queue or not
      const std::uint64_t before = order.completed(queue);
      const std::uint64_t through =
          before + rng() % (std::max(order.submitted(queue), before) - before + 1);
      order.complete(queue, through);
      list.complete(queue, through);
    }
    ASSERT_EQ(order.submitted(), list.submitted());
    ASSERT_EQ(order.completed(), list.completed());
    const std::uint64_t asked = rng() % (list.submitted() + 3);
    for (const QueueKind of : kQueues) {
      ASSERT_EQ(order.last(of, asked), list.last(of, asked)) << asked;
    }
    const auto found = order.queue_of(asked);
    ASSERT_EQ(found.has_value(), asked > list.completed());
    if (found && asked <= list.submitted()) {
      ASSERT_EQ(*found, list.at(asked));
    }
  }
}

TEST(SubmissionOrder, OneThatWaitsHoldsUpTheNumberOfAll) {
  SubmissionOrder order;
  for (const QueueKind queue : {QueueKind::compute, QueueKind::transfer, QueueKind::transfer}) {
    order.reserve();
    order.add(queue);
  }
  order.complete(QueueKind::transfer, 3);
  EXPECT_EQ(order.completed(), 0U);
  EXPECT_FALSE(order.in_flight(QueueKind::transfer));
  EXPECT_EQ(order.last(QueueKind::compute, 3), 1U);
  order.complete(QueueKind::compute, 1);
  EXPECT_EQ(order.completed(), 3U);
}

}  // namespace
}  // namespace reprise::vulkan
