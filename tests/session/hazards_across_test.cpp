// Memory that several sessions, graphs, executors and the host use while all of it is in flight.
// A device has one queue and every submission begins with a full barrier; the host waits or queues
// behind it.
#include <deque>

#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class HazardsAcross : public ::testing::TestWithParam<std::string> {
 protected:
  enum class By : std::uint8_t { direct, recorded };
  static constexpr By kWays[] = {By::direct, By::recorded};
  /// Large enough that work overlaps where nothing orders it.
  static constexpr std::int64_t kRows = 64, kColumns = 256;

  Tensor filled(float value, const char* name) {
    return device_.from_host({kRows, kColumns}, all(value), name);
  }
  static std::vector<float> all(float value) {
    return std::vector<float>(static_cast<std::size_t>(kRows * kColumns), value);
  }
  /// In flight when it returns: every row of `to` becomes from + from.
  Ticket write_double(GraphExecutor& executor, By by, const Tensor& from, const Tensor& to) {
    return run(executor, by, [&](GraphSession& s) {
      set_rows(s, to, add(s, from, from), SetRowsAttributes{.position = 0});
    });
  }
  /// In flight when it returns: the output "y" is from + from.
  Ticket read_double(GraphExecutor& executor, By by, const Tensor& from) {
    return run(executor, by, [&](GraphSession& s) { s.output("y", add(s, from, from)); });
  }
  template <class F>
  Ticket run(GraphExecutor& executor, By by, F&& record) {
    if (by == By::direct) {
      auto s = executor.begin();
      record(s);
      return s.submit();
    }
    auto s = executor.begin_recorded();
    record(s);
    return s.finish({.run = false}).graph.launch_async();
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor first_{device_}, second_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, HazardsAcross, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(HazardsAcross, ALaterReaderSeesTheWriter) {
  for (const By writer : kWays) {
    for (const By reader : kWays) {
      const Tensor source = filled(1, "source"), shared = filled(5, "shared");
      const Ticket written = write_double(first_, writer, source, shared);
      const Ticket read = read_double(second_, reader, shared);
      EXPECT_EQ(read.read("y"), all(4));
    }
  }
}

TEST_P(HazardsAcross, ALaterWriterDoesNotDisturbTheReader) {
  for (const By writer : kWays) {
    for (const By reader : kWays) {
      const Tensor source = filled(1, "source"), shared = filled(5, "shared");
      const Ticket read = read_double(first_, reader, shared);
      const Ticket written = write_double(second_, writer, source, shared);
      EXPECT_EQ(read.read("y"), all(10));
      EXPECT_EQ(device_.to_host<float>(shared), all(2));
    }
  }
}

TEST_P(HazardsAcross, OfTwoWritersTheLaterOneStays) {
  for (const By first : kWays) {
    for (const By second : kWays) {
      const Tensor one = filled(1, "one"), two = filled(2, "two"), shared = filled(5, "shared");
      write_double(first_, first, one, shared).release();
      write_double(second_, second, two, shared).release();
      EXPECT_EQ(device_.to_host<float>(shared), all(4));
    }
  }
}

TEST_P(HazardsAcross, TheHostTakesItsTurn) {
  for (const By by : kWays) {
    const Tensor source = filled(1, "source"), shared = filled(5, "shared");
    const auto host_write = [&](float value) {
      const auto values = all(value);
      device_.write(TensorRef(shared)->buffer, 0, std::as_bytes(std::span(values)));
    };
    const Ticket before = read_double(first_, by, shared);
    host_write(7);
    const Ticket after = read_double(second_, by, shared);
    write_double(first_, by, source, shared).release();
    EXPECT_EQ(device_.to_host<float>(shared), all(2));
    host_write(9);
    EXPECT_EQ(device_.to_host<float>(shared), all(9));
    EXPECT_EQ(before.read("y"), all(10));
    EXPECT_EQ(after.read("y"), all(14));
  }
}

TEST_P(HazardsAcross, FreeingAndGrowingLeaveWorkInFlightAlone) {
  for (const By by : kWays) {
    const Tensor source = filled(1, "source"), shared = filled(5, "shared");
    const Ticket before = read_double(first_, by, shared);
    write_double(second_, by, source, shared).release();
    const Ticket between = read_double(first_, by, shared);
    const Tensor grown = device_.grow(shared, {kRows + 1, kColumns});
    device_.free(source);
    const auto kept = device_.to_host<float>(grown);
    EXPECT_EQ(before.read("y"), all(10));
    EXPECT_EQ(between.read("y"), all(4));
    EXPECT_EQ(std::vector<float>(kept.begin(), kept.end() - kColumns), all(2));
  }
}

TEST_P(HazardsAcross, AnyOrderGivesWhatOneThingAfterAnotherGives) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
  constexpr std::size_t kBuffers = 5, kGraphs = 6, kActions = 200, kInFlight = 6;
  const auto random_values = [&] {
    std::vector<float> values(kColumns);
    std::ranges::generate(values, [&] { return static_cast<float>(rng() % 1000); });
    return values;
  };
  const auto tensor_of = [&](const std::vector<float>& values) {
    return device_.from_host({1, kColumns}, values, "b");
  };
  std::vector<std::vector<float>> model;
  std::vector<Tensor> buffers;
  for (std::size_t i = 0; i < kBuffers; ++i) {
    model.push_back(random_values());
    buffers.push_back(tensor_of(model.back()));
  }
  const Tensor half = tensor_of(std::vector<float>(kColumns, 0.5F));
  // to = (a + b) / 2, exact but for one rounding
  struct Job {
    std::size_t to, a, b;
    CapturedGraph graph{};
  };
  const auto record = [&](GraphSession& s, const Job& job) {
    const Tensor mean = mul(s, add(s, buffers[job.a], buffers[job.b]), half);
    set_rows(s, buffers[job.to], mean, SetRowsAttributes{.position = 0});
    s.output("y", mean);
  };
  const auto compute = [&](const Job& job) {
    std::vector<float> mean(kColumns);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] = (model[job.a][i] + model[job.b][i]) * 0.5F;
    }
    return model[job.to] = mean;
  };
  const auto random_job = [&] { return Job{below(kBuffers), below(kBuffers), below(kBuffers)}; };
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < kGraphs; ++i) {
    jobs.push_back(random_job());
    auto s = (i % 2 == 0 ? first_ : second_).begin_recorded();
    record(s, jobs.back());
    jobs.back().graph = s.finish({.slots = kInFlight + 1, .run = false}).graph;
  }
  std::deque<std::pair<Ticket, std::vector<float>>> in_flight;
  for (std::size_t i = 0; i < kActions; ++i) {
    SCOPED_TRACE(i);
    const std::size_t which = below(kBuffers);
    Tensor& buffer = buffers[which];
    switch (below(7)) {
      default: {
        Job& job = jobs[below(kGraphs)];
        in_flight.emplace_back(job.graph.launch_async(), compute(job));
        break;
      }
      case 1: {
        const Job job = random_job();
        auto s = second_.begin();
        record(s, job);
        in_flight.emplace_back(s.submit(), compute(job));
        break;
      }
      case 2:
        model[which] = random_values();
        device_.write(TensorRef(buffer)->buffer, 0, std::as_bytes(std::span(model[which])));
        break;
      case 3:
        EXPECT_EQ(device_.to_host<float>(buffer), model[which]);
        break;
      case 4: {
        const Tensor old = buffer;
        model[which] = random_values();
        buffer = tensor_of(model[which]);
        device_.free(old);
        for (Job& job : jobs) {
          if (job.to == which || job.a == which || job.b == which) {
            EXPECT_TRUE(job.graph.stale().has_value());
            job.graph.rebind(old, buffer);
          }
        }
        break;
      }
    }
    if (in_flight.size() > kInFlight) {
      EXPECT_EQ(in_flight.front().first.read("y"), in_flight.front().second);
      in_flight.pop_front();
    }
  }
  for (const auto& [ticket, expected] : in_flight) {
    EXPECT_EQ(ticket.read("y"), expected);
  }
  for (std::size_t i = 0; i < kBuffers; ++i) {
    EXPECT_EQ(device_.to_host<float>(buffers[i]), model[i]);
  }
}

TEST_P(HazardsAcross, BuffersOfAnotherDeviceAreRefused) {
  OpenOptions options;
  options.validation = GetParam() == "vulkan";
  const Device other = open_device(GetParam(), options);
  const Tensor foreign = other.zeros({4}, DType::f32, "foreign");
  const std::vector<std::string> parts{"'foreign'", "another device"};
  auto direct = first_.begin();
  expect_error(ErrorCode::invalid_argument, parts, [&] { (void)add(direct, foreign, foreign); });
  auto recorded = first_.begin_recorded();
  recorded.output("y", add(recorded, foreign, foreign));
  expect_error(ErrorCode::invalid_argument, parts, [&] { (void)recorded.finish(); });
  auto output = first_.begin();
  output.output("y", foreign);
  expect_error(ErrorCode::invalid_argument, parts, [&] { (void)output.finish(); });
  std::vector<std::byte> bytes(4);
  expect_error(ErrorCode::invalid_argument, parts, [&] { (void)device_.grow(foreign, {8}); });
  expect_error(ErrorCode::invalid_argument, parts, [&] { (void)device_.to_host(foreign); });
  expect_error(ErrorCode::invalid_argument, parts,
               [&] { device_.write(TensorRef(foreign)->buffer, 0, bytes); });
  EXPECT_FALSE(TensorRef(foreign)->buffer->freed());
  EXPECT_EQ(other.to_host(foreign), std::vector<std::byte>(16));
}

}  // namespace
}  // namespace reprise::testing
