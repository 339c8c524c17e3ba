#include "tests/profile_faults/forward_pass.h"

#include <cstring>
#include <mutex>

#include <gtest/gtest.h>

#include "reprise/reprise.h"

namespace reprise::test {
namespace {

constexpr std::uint32_t kLaunches = 5;

using Floats = std::vector<float>;

/// y = x * w + table[row]
Tensor small_model(Recorder& s, const Tensor& x, const Tensor& w, const Tensor& table,
                   const StateField& row) {
  const auto scope = s.scope("layer");
  return add(s, matmul(s, x, w), get_rows(s, table, row));
}

Floats random_looking(std::size_t count) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i * 37 % 101) / 7.0F - 6.5F;
  }
  return values;
}

void append(Floats& to, const Floats& values) { to.insert(to.end(), values.begin(), values.end()); }

void run(GraphExecutor& executor, PassResult& result) {
  const Device& device = executor.device();
  const Tensor w = device.from_host({8, 8}, random_looking(64), "w");
  const Tensor table = device.from_host({4, 8}, random_looking(32), "table");
  const StateBlock state(device, StateLayout().host("row"));
  auto recorded = executor.begin_recorded({.name = "pass", .state = state});
  recorded.output("y", small_model(recorded, recorded.input("x", {1, 8}, random_looking(8)), w,
                                   table, recorded.state("row")));
  FinishResult finished = recorded.finish();
  append(result.values, finished.read("y"));
  for (std::uint32_t launch = 0; launch < kLaunches; ++launch) {
    finished.graph.set_state("row", static_cast<std::int32_t>(launch % 4));
    finished.graph.launch();
    append(result.values, finished.graph.read("y"));
    executor.count("launches", launch);
  }
  auto direct = executor.begin({.state = state});
  direct.output("y", small_model(direct, direct.input("x", {1, 8}, random_looking(8)), w, table,
                                 direct.state("row")));
  append(result.values, direct.finish().read("y"));
  result.replays = 1 + kLaunches + 1;
}

const Device& cpu() {
  static const Device device = open_device("cpu");
  return device;
}

}  // namespace

PassResult run_pass(const std::filesystem::path& profile, const std::function<void()>& between) {
  PassResult result;
  std::mutex mutex;  // the writer thread logs
  {
    GraphExecutor executor(cpu(), {.profile = profile,
                                   .log =
                                       [&](LogLevel, std::string_view text) {
                                         const std::lock_guard lock(mutex);
                                         result.told.emplace_back(text);
                                       },
                                   .timing = TimingMode::node});
    if (!profile.empty()) {
      executor.set_watches({{.every = 3, .contents = true}});
    }
    between();
    run(executor, result);
    executor.shutdown();
    result.health = executor.profile_health().value_or(ProfileHealth());
  }
  return result;
}

void expect_right(const PassResult& result) {
  static const Floats expected = run_pass({}).values;
  ASSERT_EQ(result.values.size(), expected.size());
  EXPECT_EQ(std::memcmp(result.values.data(), expected.data(), expected.size() * sizeof(float)), 0);
}

}  // namespace reprise::test
