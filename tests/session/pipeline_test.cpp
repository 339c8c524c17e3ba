// Many launches in flight, each with its own input: every one gives its own result.
#include <deque>
#include <mutex>
#include <semaphore>
#include <thread>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

struct Case {
  std::string device;
  std::size_t slots;
};

class Pipeline : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr std::size_t kElements = 96;
  static constexpr int kLaunches = 64;
  static constexpr int kRuns = 20;

  CapturedGraph capture() {
    const std::vector<float> zeros(kElements);
    auto s = executor_.begin_recorded({.name = "pipeline", .state = state_});
    const Tensor x = s.input("x", {kElements}, zeros);
    const Tensor next = s.input("next", {1}, std::vector<std::int32_t>{0});
    advance(s, next,
            {.position = s.state("pos"),
             .token = s.state("token"),
             .done = s.state("done"),
             .rows = s.state("rows"),
             .end_token = -1});
    s.output("y", mul(s, add(s, x, x), x));
    return s.finish({.slots = GetParam().slots}).graph;
  }
  void set_inputs(CapturedGraph& graph, int launch) {
    for (float& value : x_) {
      value = uniform_(random_);
    }
    graph.set_input("x", x_);
    graph.set_input("next", std::vector<std::int32_t>{launch});
    graph.set_state("rows", launch);
  }
  /// Results of launch number `launch` of this run; `pos` is where the sequence was before it.
  void check(const Ticket& ticket, int launch, std::int32_t& pos) {
    const std::vector<float> y = ticket.read("y");
    pos += launch;
    bool wrong = ticket.state("pos") != pos || ticket.state("token") != launch;
    for (std::size_t i = 0; i < kElements; ++i) {
      const float x = sent_.front()[i];
      wrong = wrong || y[i] != (x + x) * x;
    }
    sent_.pop_front();
    wrong_ += wrong ? 1 : 0;
  }

  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam().device);
  GraphExecutor executor_{device_};
  StateBlock state_{device_,
                    StateLayout().host("rows", 0).carried("pos").carried("token").carried("done")};
  const std::uint64_t seed_ = test_seed();
  std::mt19937_64 random_{seed_};
  std::uniform_real_distribution<float> uniform_{-2, 2};
  std::vector<float> x_ = std::vector<float>(kElements);
  std::deque<std::vector<float>> sent_;
  int wrong_ = 0;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const char* device : {"cpu", "vulkan"}) {
    for (const std::size_t slots :
         {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{8}, std::size_t{64}}) {
      list.push_back({device, slots});
    }
  }
  return list;
}
INSTANTIATE_TEST_SUITE_P(On, Pipeline, ::testing::ValuesIn(cases()), [](const auto& test) {
  return test.param.device + "_" + std::to_string(test.param.slots) + "_slots";
});

TEST_P(Pipeline, EveryLaunchReturnsTheResultsOfItsOwnInputs) {
  SCOPED_TRACE(seed_note(seed_));
  CapturedGraph graph = capture();
  std::int32_t pos = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::deque<Ticket> tickets;
    int first = 0;
    for (int launch = 0; launch < kLaunches; ++launch) {
      if (tickets.size() == graph.slots()) {
        check(tickets.front(), first++, pos);
        tickets.pop_front();
      }
      set_inputs(graph, launch);
      sent_.push_back(x_);
      tickets.push_back(graph.launch_async());
    }
    for (; !tickets.empty(); tickets.pop_front()) {
      check(tickets.front(), first++, pos);
    }
  }
  EXPECT_EQ(wrong_, 0) << "of " << kLaunches * kRuns;
  EXPECT_EQ(graph.num_replays(), 1U + kLaunches * kRuns);
}

TEST_P(Pipeline, AnotherThreadMayReadAndReleaseTheTickets) {
  SCOPED_TRACE(seed_note(seed_));
  CapturedGraph graph = capture();
  std::counting_semaphore<64> free_slots(static_cast<std::ptrdiff_t>(graph.slots()));
  std::counting_semaphore<kLaunches> launched(0);
  std::mutex mutex;
  std::deque<Ticket> tickets;
  std::deque<std::vector<float>> sent;
  std::thread reader([&] {
    std::int32_t pos = 0;
    for (int launch = 0; launch < kLaunches; ++launch) {
      launched.acquire();
      Ticket ticket;
      {
        const std::lock_guard lock(mutex);
        ticket = std::move(tickets.front());
        tickets.pop_front();
        sent_.push_back(std::move(sent.front()));
        sent.pop_front();
      }
      check(ticket, launch, pos);
      ticket.release();
      free_slots.release();
    }
  });
  for (int launch = 0; launch < kLaunches; ++launch) {
    free_slots.acquire();
    set_inputs(graph, launch);
    Ticket ticket = graph.launch_async();
    {
      const std::lock_guard lock(mutex);
      tickets.push_back(std::move(ticket));
      sent.push_back(x_);
    }
    launched.release();
  }
  reader.join();
  EXPECT_EQ(wrong_, 0) << "of " << kLaunches;
}

TEST_P(Pipeline, LaunchesNobodyReadsStillRunInOrder) {
  CapturedGraph graph = capture();
  for (int launch = 0; launch < kLaunches; ++launch) {
    set_inputs(graph, launch);
    graph.launch_async().release();
  }
  const Ticket last = graph.launch_async();
  EXPECT_EQ(last.state("pos"), kLaunches * (kLaunches - 1) / 2 + kLaunches - 1);
  EXPECT_EQ(last.state("token"), kLaunches - 1);
}

}  // namespace
}  // namespace reprise::testing
