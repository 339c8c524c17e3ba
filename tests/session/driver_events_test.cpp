// What a driver says, as events of profiling databases. The CPU is given a driver that says what a
// test wants; on Vulkan it is the validation layer, about barriers that are left out.
#include "framework/session/executor/driver_events.h"

#include <atomic>
#include <gmock/gmock.h>
#include <thread>

#include "reprise/session/partial_run.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/counted_backend.h"
#include "tests/session/forwarding_encoder.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using test::TempFolder;

constexpr DriverMessage kRefusal{LogLevel::error, "VUID-test", "It is not allowed."};
constexpr std::uint32_t kNorm = 1;  // a node of the pass

void expect_text(std::string_view part, const std::string& in) {
  EXPECT_NE(in.find(part), std::string::npos) << "'" << part << "' is not in: " << in;
}

/// Three nodes in a row, each of which reads what the one before wrote.
void record_pass(GraphSession& s) {
  const Tensor x = s.input("x", {2, 8}, std::vector<float>(16, 0.5F));
  const Tensor norm = rms_norm(s, add(s, x, x), {}, {.eps = 1e-5F});
  s.output("y", mul(s, norm, x));
}

/// A device whose driver speaks.
class SpeakingBackend final : public CountedBackend {
 public:
  using CountedBackend::CountedBackend;
  ~SpeakingBackend() override {
    if (says_at_its_end) {
      messages_->send(kRefusal);
    }
  }
  std::shared_ptr<DriverMessages> driver_messages() const override { return messages_; }
  std::unique_ptr<Encoder> encoder(const EncoderOptions& options) override {
    auto encoder = CountedBackend::encoder(options);
    return options.name == "pass" ? std::make_unique<SpeakingEncoder>(std::move(encoder), *this)
                                  : std::move(encoder);
  }
  std::uint64_t submit(std::span<const EncodingRef> encodings, AfterSubmit then) override {
    if (at_submit) {
      at_submit();
    }
    return CountedBackend::submit(encodings, then);
  }
  void say(const DriverMessage& message = kRefusal) { messages_->send(message); }

  std::function<void(std::uint32_t node)> at_step;
  std::function<void()> at_submit;
  bool says_at_its_end = false;

 private:
  class SpeakingEncoder final : public ForwardingEncoder {
   public:
    SpeakingEncoder(std::unique_ptr<Encoder> to, SpeakingBackend& backend)
        : ForwardingEncoder(std::move(to)), backend_(backend) {}
    void step(const StepList& steps, std::size_t index,
              std::span<const std::shared_ptr<Buffer>> pools) override {
      if (backend_.at_step) {
        backend_.at_step(steps[index].node);
      }
      ForwardingEncoder::step(steps, index, pools);
    }

   private:
    SpeakingBackend& backend_;
  };
  std::shared_ptr<DriverMessages> messages_ = std::make_shared<DriverMessages>();
};

class DriverEventsTest : public ::testing::Test {
 protected:
  GraphExecutor executor(std::string_view file = "driver.db") {
    return GraphExecutor(Device(backend_), {.profile = folder_ / file});
  }
  void speak_in_the_norm() {
    backend_->at_step = [this](std::uint32_t node) {
      if (node == kNorm) {
        backend_->say();
      }
    };
  }
  std::string query(const std::string& text, std::string_view file = "driver.db") const {
    return test::sql(folder_ / file, text);
  }
  /// What the driver said, with the graph and the node it is about.
  std::string events(const std::string& columns, std::string_view file = "driver.db") const {
    return query("SELECT " + columns +
                     " FROM events e LEFT JOIN graphs g ON g.id = e.graph_id LEFT JOIN nodes n ON "
                     "n.graph_id = e.graph_id AND n.idx = e.node_idx WHERE e.source = 'driver' "
                     "ORDER BY e.id",
                 file);
  }

  TempFolder folder_;
  std::shared_ptr<SpeakingBackend> backend_ = std::make_shared<SpeakingBackend>(test_device("cpu"));
};

TEST_F(DriverEventsTest, OfAnEncodedNodeHaveItsGraphAndIt) {
  speak_in_the_norm();
  executor().capture(record_pass, {.name = "pass"});
  EXPECT_EQ(events("e.severity, e.code, g.name, n.idx, n.op, e.replay_id"),
            "3|VUID-test|pass|1|rms_norm|NULL");
  expect_text("In op 1 rms_norm, ", events("e.message"));
  expect_text(" of the graph 'pass': It is not allowed.", events("e.message"));
}

TEST_F(DriverEventsTest, OfALaterEncodingHaveTheirGraphToo) {
  {
    GraphExecutor executor = this->executor();
    CapturedGraph graph = executor.capture(record_pass, {.name = "pass"}).graph;
    speak_in_the_norm();
    graph.run_node(kNorm);
  }
  EXPECT_EQ(events("g.name, n.op"), "pass|rms_norm");
}

TEST_F(DriverEventsTest, OfADirectSessionHaveItAndNameTheNode) {
  speak_in_the_norm();
  {
    GraphExecutor executor = this->executor();
    auto s = executor.begin({.name = "pass"});
    record_pass(s);
    s.finish();
  }
  EXPECT_EQ(events("(SELECT name || ' ' || mode FROM sessions WHERE id = e.session_id), g.name, "
                   "e.node_idx"),
            "pass direct|NULL|NULL");
  expect_text("In op 1 rms_norm", events("e.message"));
}

TEST_F(DriverEventsTest, OfASubmissionHaveTheGraphAlone) {
  {
    GraphExecutor executor = this->executor();
    CapturedGraph graph = executor.capture(record_pass, {.name = "pass"}).graph;
    backend_->at_submit = [this] { backend_->say(); };
    graph.launch();
    backend_->at_submit = {};
  }
  EXPECT_EQ(events("g.name, e.node_idx, e.message"),
            "pass|NULL|In the graph 'pass': It is not allowed.");
}

TEST_F(DriverEventsTest, OfARecordingThatFailsAreKept) {
  backend_->at_step = [this](std::uint32_t node) {
    if (node == kNorm) {
      backend_->say();
      throw Error(ErrorCode::unsupported, "The driver gives up.");
    }
  };
  expect_error(ErrorCode::unsupported, {"gives up"},
               [&] { executor().capture(record_pass, {.name = "pass"}); });
  EXPECT_EQ(events("e.code, g.name, e.node_idx"), "VUID-test|NULL|NULL");
  expect_text("In op 1 rms_norm", events("e.message"));
}

TEST_F(DriverEventsTest, AreOfTheExecutorThatEncodesAndOfNoGraphForOthers) {
  {
    GraphExecutor other = executor("other.db");
    speak_in_the_norm();
    executor().capture(record_pass, {.name = "pass"});
  }
  EXPECT_EQ(events("n.op, e.code"), "rms_norm|VUID-test");
  EXPECT_EQ(events("n.op, e.message", "other.db"), "NULL|It is not allowed.");
}

TEST_F(DriverEventsTest, OutsideOfSessionsHaveNoGraph) {
  {
    GraphExecutor executor = this->executor();
    backend_->say({LogLevel::warning, "", "It is slow."});
    backend_->say({LogLevel::warning, "", "It is large."});
  }
  EXPECT_EQ(events("e.severity, e.code, e.session_id, e.graph_id, e.message"),
            "2|NULL|NULL|NULL|It is slow.\n2|NULL|NULL|NULL|It is large.");
}

TEST_F(DriverEventsTest, ThatRepeatAreOneAndACount) {
  {
    GraphExecutor executor = this->executor();
    for (int i = 0; i < 100'000; ++i) {
      backend_->say();
    }
    executor.shutdown();
    EXPECT_EQ(events("e.message"),
              "It is not allowed.\n(99999) more messages of this code came from the same place.");
    backend_->say();
  }
  EXPECT_EQ(events("e.severity, e.code, e.message"),
            "3|VUID-test|It is not allowed.\n"
            "3|VUID-test|(99999) more messages of this code came from the same place.\n"
            "3|VUID-test|(1) more messages of this code came from the same place.");
}

TEST_F(DriverEventsTest, OfEveryLaunchThatEncodesAgainAreOneAndACount) {
  backend_ = std::make_shared<SpeakingBackend>(test_device_without_replay("cpu"));
  speak_in_the_norm();
  {
    GraphExecutor executor = this->executor();
    CapturedGraph graph = executor.capture(record_pass, {.name = "pass"}, {.run = false}).graph;
    for (int i = 0; i < 50; ++i) {
      graph.launch();
    }
  }
  EXPECT_EQ(events("n.op, substr(e.message, 1, 4)"), "rms_norm|In o\nrms_norm|(49)");
}

TEST_F(DriverEventsTest, OfTooManyKindsAreCounted) {
  constexpr std::size_t kLeftOut = 1000;
  {
    GraphExecutor executor = this->executor();
    for (std::size_t i = 0; i < DriverEvents::kMaxKinds + kLeftOut; ++i) {
      backend_->say({LogLevel::warning, std::to_string(i), "It is slow."});
    }
  }
  EXPECT_EQ(query("SELECT code, count(*), max(severity), max(message) FROM events GROUP BY code = "
                  "'messages_left_out' ORDER BY 2"),
            "messages_left_out|1|2|(1000) more messages are left out, as those before are of too "
            "many kinds; OpenOptions::log has all.\n0|256|2|It is slow.");
}

TEST_F(DriverEventsTest, OfManyThreadsAreAllCounted) {
  {
    GraphExecutor executor = this->executor();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          backend_->say();
        }
      });
    }
  }
  expect_text("(3999) more", events("e.message"));
}

TEST_F(DriverEventsTest, AreSafeWhileExecutorsComeAndGo) {
  std::atomic<bool> stop = false;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        while (!stop) {
          backend_->say();
        }
      });
    }
    for (int i = 0; i < 8; ++i) {
      GraphExecutor executor = this->executor();
      executor.capture(record_pass, {.name = "pass"});
      if (i % 2 == 0) {
        executor.shutdown();
      }
    }
    stop = true;
  }
  backend_->say();
  EXPECT_EQ(query("SELECT max(n) <= 3 FROM (SELECT count(*) AS n FROM events GROUP BY run_id)"),
            "1");
}

TEST_F(DriverEventsTest, OfADeviceThatClosesAreOfTheExecutorItEndsWith) {
  backend_->says_at_its_end = true;
  {
    GraphExecutor executor = this->executor();
    backend_.reset();
  }
  EXPECT_EQ(events("e.message"), "It is not allowed.");
}

/// A device whose encoder leaves one barrier of the pass out.
class WithoutBarrier final : public CountedBackend {
 public:
  WithoutBarrier(Device device, std::uint32_t left_out)
      : CountedBackend(std::move(device)), left_out_(left_out) {}
  std::unique_ptr<Encoder> encoder(const EncoderOptions& options) override {
    auto encoder = CountedBackend::encoder(options);
    return options.name == "pass" ? std::make_unique<Leaky>(std::move(encoder), left_out_)
                                  : std::move(encoder);
  }

 private:
  class Leaky final : public ForwardingEncoder {
   public:
    Leaky(std::unique_ptr<Encoder> to, std::uint32_t left_out)
        : ForwardingEncoder(std::move(to)), left_out_(left_out) {}
    void barrier() override {
      if (next_++ != left_out_) {
        ForwardingEncoder::barrier();
      }
    }

   private:
    std::uint32_t left_out_, next_ = 0;
  };
  std::uint32_t left_out_;
};

class ValidationEvents : public DriverEventsTest {
 protected:
  Device device_ = fresh_test_device("vulkan");
};

TEST_F(ValidationEvents, AMissingBarrierIsAnEventOfTheNodeThatNeedsIt) {
  constexpr std::uint32_t kBarriers = 2;
  for (std::uint32_t left_out = 0; left_out < kBarriers; ++left_out) {
    const std::string file = std::to_string(left_out) + ".db";
    {
      GraphExecutor executor(Device(std::make_shared<WithoutBarrier>(device_, left_out)),
                             {.profile = folder_ / file});
      EXPECT_EQ(executor.capture(record_pass, {.name = "pass"}).report.barriers, kBarriers);
    }
    EXPECT_EQ(events("DISTINCT e.severity, g.name, n.idx, n.op", file),
              query("SELECT 3, g.name, n.idx, n.op FROM barriers b JOIN graphs g ON g.id = "
                    "b.graph_id JOIN steps s ON s.graph_id = g.id AND s.idx = b.before_step JOIN "
                    "nodes n ON n.graph_id = g.id AND n.idx = s.node_idx WHERE b.ordinal = " +
                        std::to_string(left_out),
                    file));
    expect_text("SYNC-HAZARD-READ", events("e.code", file));
    expect_text("Hazard READ_AFTER_WRITE", events("e.message", file));
  }
}

TEST_F(ValidationEvents, AMissingBarrierOfADirectSessionNamesItsNode) {
  {
    GraphExecutor executor(Device(std::make_shared<WithoutBarrier>(device_, 0)),
                           {.profile = folder_ / "driver.db"});
    auto s = executor.begin({.name = "pass"});
    record_pass(s);
    s.finish();
  }
  expect_text("In op 1 rms_norm", events("e.code, e.message"));
}

TEST_F(ValidationEvents, ACleanPassHasNone) {
  {
    GraphExecutor executor(device_, {.profile = folder_ / "driver.db"});
    CapturedGraph graph = executor.capture(record_pass, {.name = "pass"}).graph;
    graph.launch();
    auto s = executor.begin({.name = "pass"});
    record_pass(s);
    s.finish();
  }
  EXPECT_EQ(query("SELECT * FROM events"), "");
  EXPECT_EQ(validation_message_count(device_), 0U);
}

TEST_F(ValidationEvents, WithoutValidationThereIsNothingToListenTo) {
  EXPECT_NE(device_.backend().driver_messages(), nullptr);
  EXPECT_EQ(open_device("vulkan").backend().driver_messages(), nullptr);
  EXPECT_EQ(open_device("cpu").backend().driver_messages(), nullptr);
}

}  // namespace
}  // namespace reprise::testing
