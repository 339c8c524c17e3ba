// Sessions on several threads of one executor give the bits of one thread.
#include <thread>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Threads : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<float> run(GraphExecutor& executor, const Tensor& w, bool recorded, int salt) {
    auto s = recorded ? executor.begin_recorded() : executor.begin();
    const std::vector<float> values(16, static_cast<float>(salt));
    Tensor x = s.input("x", {1, 16}, values);
    for (int i = 0; i < 6; ++i) {
      x = add(s, rms_norm(s, matmul(s, x, w), {}), x);
    }
    s.output("y", x);
    FinishResult result = s.finish();
    if (recorded) {
      result.graph.launch();
      return result.graph.read("y");
    }
    return result.read("y");
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
};
INSTANTIATE_TEST_SUITE_P(On, Threads, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Threads, GiveTheBitsOfOneThread) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  GraphExecutor executor(device_);
  const Tensor w =
      device_.from_host({16, 16}, DType::f32, random_bytes(rng, DType::f32, 256, -1, 1), "w");
  constexpr int kThreads = 8;
  std::vector<std::vector<float>> alone, together(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    alone.push_back(run(executor, w, t % 2 == 0, t));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 4; ++repeat) {
        together[static_cast<std::size_t>(t)] = run(executor, w, t % 2 == 0, t);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(together, alone);
}

}  // namespace
}  // namespace reprise::testing
