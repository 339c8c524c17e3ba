// Captures against the rows they are made of.
#include "framework/profile/capture_reader.h"

#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::GraphMaker;
using test::GraphOptions;
using test::nanosecond_device;
using test::run_info;
using test::send_recording;
using test::sql;
using test::TempFolder;
using test::TimedReplay;

std::string text_of(std::string text) { return text; }
std::string text_of(bool flag) { return flag ? "1" : "0"; }
template <std::integral T>
std::string text_of(T number) {
  return std::to_string(number);
}
template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "NULL";
}

/// As test::sql prints rows.
class Rows {
 public:
  template <class... Values>
  void add(const Values&... values) {
    std::string row;
    ((row += (row.empty() ? "" : "|") + text_of(values)), ...);
    text_ += (text_.empty() ? "" : "\n") + row;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string hex(const std::vector<std::uint32_t>& words) {
  std::string text;
  for (const std::uint32_t word : words) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      std::array<char, 3> digits{};
      std::snprintf(digits.data(), digits.size(), "%02X", word >> shift & 0xFFU);
      text += digits.data();
    }
  }
  return text;
}

class CaptureReader : public ::testing::Test {
 protected:
  GraphOptions random_options() {
    GraphOptions options;
    options.name = "graph " + std::to_string(random_() % 1000);
    options.scope = "block" + std::to_string(random_() % 10);
    options.columns = static_cast<std::int64_t>(1 + random_() % 300);
    options.scales = random_() % 20;
    return options;
  }
  const std::uint64_t seed_ = testing::test_seed();
  std::mt19937_64 random_{seed_};
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

TEST_F(CaptureReader, GraphIsTheOneInTheFile) {
  SCOPED_TRACE(testing::seed_note(seed_));
  {
    const auto sink = open_profile(path_, run_info("test", "label"));
    sink->device(nanosecond_device());
    send_recording(*sink, GraphMaker(random_options()).make());
    send_recording(*sink, GraphMaker(random_options()).make());
  }
  const Capture c = read_capture(path_, {1, 2});
  EXPECT_TRUE(c.problems.empty());
  EXPECT_EQ(std::to_string(c.arena_bytes) + "|" + std::to_string(c.unshared_bytes) + "|" +
                std::to_string(c.live_peak_bytes),
            sql(path_, "SELECT arena_bytes, naive_bytes, live_peak_bytes FROM graphs WHERE id=2"));

  Rows nodes;
  Rows operands;
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    const Capture::Node& node = c.nodes[n];
    nodes.add(n, node.op, node.label, node.scope, node.attributes_json, node.source_file,
              node.source_function, node.source_line, node.level, node.flops, node.read_bytes,
              node.write_bytes, node.steps.count);
    for (std::uint32_t o = 0; o < node.operands.count; ++o) {
      const Capture::Operand& operand = c.operands[node.operands.first + o];
      operands.add(n, operand.name, operand.tensor,
                   std::string(operand.reads ? "r" : "") + (operand.writes ? "w" : ""));
    }
  }
  EXPECT_EQ(nodes.text(),
            sql(path_,
                "SELECT idx, op, coalesce(label,''), scope, attributes_json, src_file, src_func, "
                "src_line, level, flops, read_bytes, write_bytes, (SELECT count(*) FROM steps s "
                "WHERE s.graph_id=2 AND s.node_idx=n.idx) FROM nodes n WHERE graph_id=2"));
  EXPECT_EQ(operands.text(),
            sql(path_,
                "SELECT node_idx, operand, tensor_idx, access FROM node_tensors WHERE graph_id=2"));

  Rows steps;
  for (const Capture::Step& step : c.steps) {
    steps.add(step.kind, step.node, c.kernels.at(step.kernel.value()).name, step.grid[0],
              step.grid[1], step.grid[2], hex(step.push));
  }
  EXPECT_EQ(steps.text(),
            sql(path_,
                "SELECT kind, node_idx, k.name, grid_x, grid_y, grid_z, hex(push) FROM steps s "
                "JOIN kernels k ON k.id=s.kernel_id WHERE graph_id=2 ORDER BY idx"));
  for (std::uint32_t n = 0; n < c.nodes.size(); ++n) {
    for (std::uint32_t s = 0; s < c.nodes[n].steps.count; ++s) {
      EXPECT_EQ(c.steps[c.step_order[c.nodes[n].steps.first + s]].node, n);
    }
  }

  Rows tensors;
  for (const Capture::Tensor& t : c.tensors) {
    tensors.add(t.name, t.dtype, t.shape_json, t.role, t.bytes, t.offset_bytes, t.pool,
                t.first_step, t.last_step, t.alias_of);
  }
  EXPECT_EQ(tensors.text(),
            sql(path_,
                "SELECT coalesce(name,''), dtype, shape_json, role, nbytes, "
                "coalesce(offset_bytes,0), pool_idx, first_use, last_use, alias_of FROM tensors "
                "WHERE graph_id=2"));
  Rows edges;
  for (const Capture::Edge& e : c.edges) {
    edges.add(e.src, e.dst, e.tensor, e.kind);
  }
  EXPECT_EQ(edges.text(), sql(path_,
                              "SELECT src, dst, tensor_idx, kind FROM edges WHERE graph_id=2 ORDER "
                              "BY dst, src, tensor_idx, kind"));
  Rows barriers;
  for (const Capture::Barrier& b : c.barriers) {
    barriers.add(b.before_step, b.required, b.emitted, b.cause_src, b.cause_dst, b.kind, b.reason,
                 b.pool, b.offset_bytes, b.size_bytes);
  }
  EXPECT_EQ(barriers.text(),
            sql(path_,
                "SELECT before_step, required, emitted, cause_src, cause_dst, kind, reason, "
                "pool_idx, offset_bytes, size_bytes FROM barriers WHERE graph_id=2"));
  Rows pools;
  for (const Capture::Pool& p : c.pools) {
    pools.add(p.kind, p.bytes);
  }
  EXPECT_EQ(pools.text(), sql(path_, "SELECT kind, size_bytes FROM pools WHERE graph_id=2"));
  Rows fields;
  for (const Capture::StateField& f : c.state_fields) {
    fields.add(f.name, f.type, f.count, f.offset_bytes, f.owner, f.expression);
  }
  EXPECT_EQ(fields.text(), sql(path_,
                               "SELECT name, type, count, offset_bytes, owner, "
                               "coalesce(expression,'') FROM state_fields WHERE graph_id=2"));
}

TEST_F(CaptureReader, PassDecisionsAreThoseInTheFile) {
  {
    const auto sink = open_profile(path_, run_info("test", "label"));
    sink->device(nanosecond_device());
    send_recording(*sink, GraphMaker({}).make());
  }
  EXPECT_TRUE(read_capture(path_, {1, 1}).pass_decisions.empty());
  ASSERT_EQ(sql(path_,
                "INSERT INTO pass_decisions VALUES(1,'reorder',0,'order',NULL,1,'by memory',2500),"
                "(1,'in_place',1,'shared',2,0,'add reads x later',-7),"
                "(1,'in_place',0,'shared',1,1,'x is not read again',NULL)"),
            "");
  const Capture c = read_capture(path_, {1, 1});
  EXPECT_TRUE(c.problems.empty());
  Rows decisions;
  for (const Capture::PassDecision& d : c.pass_decisions) {
    decisions.add(d.pass, d.kind, d.node, d.applied, d.reason, d.estimate_ns);
  }
  EXPECT_EQ(decisions.text(),
            "in_place|shared|1|1|x is not read again|NULL\n"
            "in_place|shared|2|0|add reads x later|-7\n"
            "reorder|order|NULL|1|by memory|2500");
}

TEST_F(CaptureReader, CapturesBeginWithTheLatestRun) {
  const auto write = [&](const std::string& label, std::initializer_list<const char*> names) {
    const auto sink = open_profile(path_, run_info("app", label));
    sink->device(nanosecond_device());
    sink->send(TimestampBiasRecord{17});
    for (const char* name : names) {
      GraphOptions options;
      options.name = name;
      const auto graph = GraphMaker(options).make();
      // Recorded twice: one capture.
      for (std::uint64_t r = 0; r < 2; ++r) {
        TimedReplay replay(send_recording(*sink, graph), r,
                           std::vector<std::uint64_t>(graph->steps.size(), 100));
        sink->replay(replay.record);
        replay.record.step_ticks = {};
        sink->replay(replay.record);
      }
    }
  };
  write("first", {"prefill", "decode"});
  write("second", {"decode"});
  write("without graphs", {});
  const std::vector<CaptureSummary> captures = read_captures(path_);
  ASSERT_EQ(captures.size(), 3U);
  EXPECT_EQ(captures[0].id, (CaptureId{2, 2}));
  EXPECT_EQ(captures[1].id, (CaptureId{1, 1}));
  EXPECT_EQ(captures[2].id, (CaptureId{1, 2}));
  EXPECT_EQ(captures[2].content_hash, captures[0].content_hash);
  EXPECT_NE(captures[2].run_uuid, captures[0].run_uuid);
  EXPECT_EQ(captures[1].name, "prefill");
  EXPECT_EQ(captures[1].app, "app");
  EXPECT_EQ(captures[1].label, "first");
  EXPECT_EQ(captures[1].device, "Test GPU");
  EXPECT_EQ(captures[1].exit_state, "done");
  EXPECT_EQ(captures[1].start_utc, sql(path_, "SELECT start_utc FROM runs WHERE id=1"));
  EXPECT_EQ(captures[1].nodes, 3U);
  EXPECT_EQ(captures[1].replays, 4U);
  EXPECT_EQ(captures[1].timed_replays, 2U);
  EXPECT_EQ(captures[1].timestamp_bias_ns, 17U);
  EXPECT_EQ(read_capture(path_, captures[1].id).summary, captures[1]);
  testing::expect_error(ErrorCode::invalid_argument, {"graph (1)", "run (2)"}, [&] {
    read_capture(path_, {2, 1});
  });
}

TEST_F(CaptureReader, ARunWithoutGraphsHasNoCaptures) {
  open_profile(path_, {});
  EXPECT_TRUE(read_captures(path_).empty());
}

TEST_F(CaptureReader, EveryReaderCanBeStopped) {
  {
    const auto sink = open_profile(path_, {});
    sink->device(nanosecond_device());
    GraphOptions options;
    options.scales = 2000;  // more than is read between two questions whether to stop
    send_recording(*sink, GraphMaker(options).make());
  }
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(read_capture(path_, {1, 1}, source.get_token()), Cancelled);
  EXPECT_NO_THROW(read_capture(path_, {1, 1}));
}

}  // namespace
}  // namespace reprise
