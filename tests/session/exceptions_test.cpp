// Exceptions anywhere in a recording: nothing of it stays, on the device or in the database.
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/counted_backend.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr std::uint32_t kOps = 12;

class Exceptions : public ::testing::TestWithParam<std::string> {
 protected:
  /// Ops of several kinds, with transients, views, inputs, outputs, state and persistent tensors.
  /// `before(k)` is called before op k.
  template <class F>
  void record(GraphSession& s, F&& before) {
    const Tensor in = s.input("x", {4, 8}, values_);
    Tensor x = in;
    for (std::uint32_t k = 0; k < kOps; ++k) {
      const auto layer = s.scope("layer", static_cast<std::int32_t>(k));
      before(k);
      switch (k % 4) {
        case 0:
          x = add(s, x, weights_);
          break;
        case 1:
          x = mul(s, x, in);
          break;
        case 2:
          set_rows(s, table_, slice(s, x, 0, 1, 2), {.position = s.state("row")});
          s.output("y" + std::to_string(k), x);
          break;
        default:
          x = copy(s, permute(s, reshape(s, x, {8, 4}), {1, 0}));
      }
    }
  }
  GraphSession begin(GraphExecutor& executor, bool recorded) {
    SessionOptions options{.name = "unlucky", .state = state_};
    if (recorded) {
      options.max_iterations = 3;
      return executor.begin_recorded(options);
    }
    return executor.begin(options);
  }
  /// A mistake of the user that the recorder finds.
  static void record_mistake(GraphSession& s) {
    const Tensor odd = s.input("odd", {3, 5}, std::vector<float>(15));
    (void)add(s, odd, s.input("even", {2, 5}, std::vector<float>(10)));
  }

  const ExpectNoValidationMessages quiet_;
  std::shared_ptr<CountedBackend> backend_ =
      std::make_shared<CountedBackend>(test_device(GetParam()));
  Device device_{backend_};
  const std::vector<float> values_ = std::vector<float>(32, 1.5F);
  Tensor weights_ = device_.from_host({8}, std::vector<float>(8, 2), "weights");
  Tensor table_ = device_.zeros({6, 8}, DType::f32, "table");
  StateBlock state_{device_, StateLayout().host("row", 1).carried("pos", 0)};
};
INSTANTIATE_TEST_SUITE_P(On, Exceptions, ::testing::Values("cpu", "vulkan"), device_param_name);

struct UsersOwn {};

TEST_P(Exceptions, OfTheUserAtEveryOpLeaveResourcesAtBaseline) {
  GraphExecutor executor(device_);
  for (const bool recorded : {true, false}) {
    std::optional<CountedBackend::Live> baseline;
    for (std::uint32_t at = 0; at <= kOps; ++at) {  // the first one makes what the executor keeps
      SCOPED_TRACE("op " + std::to_string(at));
      try {
        GraphSession s = begin(executor, recorded);
        record(s, [&](std::uint32_t k) {
          if (k == (at + kOps - 1) % kOps) {
            throw UsersOwn();
          }
        });
        FAIL() << "nothing was thrown";
      } catch (const UsersOwn&) {
        baseline = baseline.value_or(backend_->live());
        EXPECT_EQ(backend_->live().buffers, baseline->buffers);
        EXPECT_EQ(backend_->live().bytes, baseline->bytes);
      }
    }
  }
  EXPECT_EQ(device_.to_host(table_), std::vector<std::byte>(192)) << "nothing ran";
}

TEST_P(Exceptions, OfTheRecorderAtEveryOpLeaveResourcesAtBaseline) {
  GraphExecutor executor(device_);
  for (const bool recorded : {true, false}) {
    std::optional<CountedBackend::Live> baseline;
    for (std::uint32_t at = 0; at <= kOps; ++at) {
      SCOPED_TRACE("op " + std::to_string(at));
      {
        GraphSession s = begin(executor, recorded);
        std::vector<Tensor> kept;
        EXPECT_THROW(record(s,
                            [&](std::uint32_t k) {
                              if (k == (at + kOps - 1) % kOps) {
                                record_mistake(s);
                              }
                            }),
                     Error);
        EXPECT_TRUE(s.invalidated());
        expect_error(ErrorCode::invalid_argument, {"invalidated", "[3, 5]", "[2, 5]"},
                     [&] { (void)s.finish(); });
      }
      baseline = baseline.value_or(backend_->live());
      EXPECT_EQ(backend_->live().buffers, baseline->buffers);
      EXPECT_EQ(backend_->live().bytes, baseline->bytes);
    }
  }
  EXPECT_EQ(device_.to_host(table_), std::vector<std::byte>(192)) << "nothing ran";
}

TEST_P(Exceptions, OfFinishLeaveResourcesAtBaseline) {
  GraphExecutor executor(device_);
  std::optional<CountedBackend::Live> baseline;
  for (int round = 0; round < 6; ++round) {  // the first two make what the executor keeps
    {
      GraphSession s = begin(executor, true);
      record(s, [](std::uint32_t) {});
      expect_error(ErrorCode::invalid_argument, {"(0)", "slots"},
                   [&] { (void)s.finish({.slots = 0}); });
    }
    {
      GraphSession s = begin(executor, round % 2 == 0);
      const Tensor lost = device_.zeros({8}, DType::f32, "lost");
      record(s, [](std::uint32_t) {});
      s.output("lost", add(s, lost, lost));
      device_.free(lost);
      expect_error(ErrorCode::stale, {"(lost)"}, [&] { (void)s.finish(); });
    }
    device_.synchronize();  // what is lost may still be copied there, through memory that stays
    device_.trim();
    if (round < 2) {
      baseline = backend_->live();
    }
    EXPECT_EQ(backend_->live().buffers, baseline->buffers);
    EXPECT_EQ(backend_->live().bytes, baseline->bytes);
  }
}

TEST_P(Exceptions, LeaveNoPartialGraphInTheDatabase) {
  const test::TempFolder folder;
  const auto path = folder / "profile.db";
  {
    GraphExecutor executor(device_, {.profile = path});
    for (std::uint32_t at = 0; at < kOps; ++at) {
      try {
        GraphSession s = begin(executor, at % 2 == 0);
        record(s, [&](std::uint32_t k) {
          if (k == at) {
            throw UsersOwn();
          }
        });
      } catch (const UsersOwn&) {
      }
      GraphSession s = begin(executor, at % 2 == 1);
      EXPECT_THROW(record(s,
                          [&](std::uint32_t k) {
                            if (k == at) {
                              record_mistake(s);
                            }
                          }),
                   Error);
    }
    {
      GraphSession s = begin(executor, true);
      record(s, [](std::uint32_t) {});
      EXPECT_THROW((void)s.finish({.slots = 0}), Error);
    }
  }
  const auto count = [&](const std::string& query) { return std::stoul(test::sql(path, query)); };
  for (const char* table : {"graphs", "nodes", "steps", "tensors", "node_tensors", "recordings",
                            "recording_pools", "replays"}) {
    EXPECT_EQ(count(std::string("SELECT count(*) FROM ") + table), 0U) << table;
  }
  EXPECT_EQ(count("SELECT count(*) FROM sessions"), 2 * kOps + 1);
  EXPECT_EQ(count("SELECT count(*) FROM sessions WHERE outcome='discarded'"), kOps);
  EXPECT_EQ(count("SELECT count(*) FROM sessions WHERE outcome LIKE '%[3, 5]%[2, 5]%'"), kOps)
      << "the reason";
  EXPECT_EQ(count("SELECT count(*) FROM sessions WHERE outcome LIKE '%slots%'"), 1U);
  EXPECT_EQ(count("SELECT count(*) FROM sessions WHERE graph_id IS NOT NULL"), 0U);
}

}  // namespace
}  // namespace reprise::testing
