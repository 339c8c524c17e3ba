// Paths: tensors/tensor and tensors/replay, which choose; tensors/all/valid;
// tensors/all/statistics/ <of, count, nan, infinite, zero, min, max, mean, rms>/<one, all>;
// tensors/all/histogram; values/map, values/numbers with lines as rows and columns by number,
// values/slice/<dimension>/<less, more, at> and values/columns/<less, more, at> below tensors/all,
// or tensors/contents where there is room.
#include "debugger/views/tensors_panel.h"

#include <cmath>

#include "reprise/sql_query.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/watched_database.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;

constexpr HeadlessOptions kNarrow{.width = 380, .height = 1100},
    kRoomy{.width = 1400, .height = 700};

std::vector<WatchedLaunch> launches() {
  std::vector<float> bad = ramp(192, -1, 0.01F);
  bad[1] = NAN;
  bad[2] = INFINITY;
  bad[3] = 1e-40F;
  return {{{{0, {2, 96}, ramp(192, 0, 1)}, {1, {3, 2, 32}, ramp(192, 5, 1)}}},
          {{{0, {2, 96}, bad}}},
          {{{0, {2, 96}, ramp(192, 0, 3)}}, false}};
}

class TensorsPanelTest : public ::testing::Test {
 protected:
  TensorsPanelTest() : database_(launches(), {}) {}
  void open(const HeadlessOptions& options = kNarrow) {
    window_.emplace(database_.path(), std::make_unique<TensorsPanel>(), options);
  }
  void run(const std::string& script) { window_->run(script); }
  std::string text(std::string_view path) { return window_->text(path); }

  const WatchedDatabase database_;
  std::optional<PanelWindow> window_;
};

TEST_F(TensorsPanelTest, ShowsTheLatestValuesOfTheFirstWatchedTensor) {
  open();
  EXPECT_EQ(text("tensors/tensor"), "#0 norm  layer.3/attn/norm");
  EXPECT_EQ(text("tensors/replay"), "replay 1, with values");
  EXPECT_EQ(text("tensors/all/statistics/of/all"), "3 replays");
  EXPECT_EQ(text("tensors/all/statistics/nan/one"), "1");
  EXPECT_EQ(text("tensors/all/statistics/infinite/all"), "1");
  EXPECT_EQ(text("tensors/all/statistics/count/all"), "576");
  EXPECT_EQ(text("tensors/all/statistics/max/one"), "0.91");
  EXPECT_EQ(text("tensors/all/statistics/max/all"), "573");
  EXPECT_EQ(text("tensors/all/values/slice/matrix"), "f32  2 x 96  [:, :]");
  EXPECT_EQ(text("tensors/all/values/map"), "2 x 96 cells");
  EXPECT_EQ(text("tensors/all/values/nan"), "1 NaN");
  EXPECT_EQ(text("tensors/all/values/denormal"), "1 denormal");
  EXPECT_EQ(text("tensors/all/values/numbers/row/0/0"), "-1");
  EXPECT_EQ(text("tensors/all/values/numbers/row/0/1"), "nan");
  run("fits");
}

TEST_F(TensorsPanelTest, LeadsToTheFirstElementThatIsNotFinite) {
  open();
  EXPECT_EQ(text("tensors/all/values/first_not_finite"), "first nan at [0, 1]");
  run("click tensors/tensor\nclick tensors/tensor/1\nabsent tensors/all/values/first_not_finite");
}

TEST_F(TensorsPanelTest, FollowsTheSelectedNode) {
  open();
  window_->workspace().select_node(1);
  run("wait\nexpect tensors/tensor layer.3/add\nexpect tensors/replay replay 0");
  EXPECT_EQ(text("tensors/all/statistics/min/one"), "5");
  window_->workspace().select_node(2);
  run("wait\nexpect tensors/tensor logits");
  EXPECT_THAT(text("tensors/all/unwatched"), HasSubstr("No statistics"));
  EXPECT_THAT(text("tensors/all/call"), HasSubstr("set_watches"));
  EXPECT_THAT(text("tensors/all/values/none"), HasSubstr(".contents = true"));
}

TEST_F(TensorsPanelTest, AChosenTensorSelectsItsNode) {
  open();
  run("click tensors/tensor\nclick tensors/tensor/1");
  EXPECT_EQ(window_->workspace().selection.current().node, 1U);
  EXPECT_EQ(text("tensors/tensor"), "#1 add  layer.3/add");
  EXPECT_EQ(text("tensors/all/values/numbers/row/0/0"), "5");
}

TEST_F(TensorsPanelTest, AChosenReplayShowsItsNumbers) {
  open();
  run("click tensors/replay\nclick tensors/replay/0\nexpect tensors/replay replay 0, with values");
  EXPECT_EQ(text("tensors/all/values/numbers/row/1/1"), "97");
  EXPECT_EQ(text("tensors/all/statistics/nan/one"), "0");
  run("click tensors/replay\nclick tensors/replay/2");
  EXPECT_EQ(text("tensors/all/statistics/max/one"), "573");
  EXPECT_THAT(text("tensors/all/values/none"), HasSubstr("no values of it in this replay"));
  run("click tensors/all/values/other\nexpect tensors/replay replay 1, with values");
}

TEST_F(TensorsPanelTest, HasAMenuOfItsNode) {
  open();
  for (const char* const place : {"values/map", "values/numbers/row/0", "statistics/nan/one"}) {
    window_->workspace().wanted_panel.clear();
    run(std::string("right tensors/all/") + place + "\nclick tensors/context/show_in_memory");
    EXPECT_EQ(window_->workspace().wanted_panel, "memory") << place;
  }
  EXPECT_EQ(window_->workspace().selection.current().node, 0U);
}

TEST_F(TensorsPanelTest, SaysThatNoElementIsFinite) {
  const WatchedDatabase all_nan({{{{0, {2, 96}, std::vector<float>(192, NAN)}}}}, {});
  const PanelWindow window(all_nan.path(), std::make_unique<TensorsPanel>(), kNarrow);
  EXPECT_EQ(window.text("tensors/all/statistics/min/one"), "none is finite");
}

TEST_F(TensorsPanelTest, SlicesAndColumnsAreChosen) {
  open();
  window_->workspace().select_node(1);
  run("wait\nexpect tensors/all/values/slice/0/at 0 of 3\n"
      "expect_state tensors/all/values/slice/0/less disabled\n"
      "click tensors/all/values/slice/0/more\nclick tensors/all/values/slice/0/more\n"
      "expect_state tensors/all/values/slice/0/more disabled\n"
      "expect tensors/all/values/slice/matrix [2, :, :]");
  EXPECT_EQ(text("tensors/all/values/numbers/row/0/0"), "133");
  window_->workspace().select_node(0);
  run("wait\nexpect tensors/all/values/columns/at columns 0 to 31 of 96\n"
      "click tensors/all/values/columns/more");
  EXPECT_EQ(text("tensors/all/values/numbers/row/0/32"), "-0.68");
  run("absent tensors/all/values/numbers/row/0/0");
}

TEST_F(TensorsPanelTest, AClickOnTheMapLeadsToTheValue) {
  open(kRoomy);
  run("drag tensors/contents/values/map 0.99 0.9 0.99 0.9");
  EXPECT_EQ(text("tensors/contents/values/columns/at"), "columns 64 to 95 of 96");
  run("hover tensors/contents/values/map\nexpect tooltip element");
}

TEST_F(TensorsPanelTest, HasValuesBesideTheFactsWhereThereIsRoom) {
  open(kRoomy);
  EXPECT_EQ(text("tensors/all/statistics/of/all"), "3 replays");
  EXPECT_EQ(text("tensors/contents/values/numbers/row/0/1"), "nan");
  run("absent tensors/all/values/numbers/row/0/1\nfits");
}

TEST_F(TensorsPanelTest, SaysHowLongTheMemoryIsTheTensors) {
  ASSERT_EQ(test::sql(database_.path(),
                      "UPDATE tensors SET offset_bytes = (SELECT offset_bytes FROM tensors WHERE "
                      "idx = 3) WHERE idx = 5; UPDATE tensors SET offset_bytes = 1000000 WHERE idx "
                      "IN (0, 4)"),
            "");
  open();
  EXPECT_THAT(text("tensors/all/valid"), HasSubstr("valid until #2 norm: then logits"));
  run("click tensors/all/valid");
  EXPECT_EQ(window_->workspace().selection.current().node, 2U);
  EXPECT_THAT(text("tensors/all/valid"), HasSubstr("to the end of the replay"));
}

TEST_F(TensorsPanelTest, CopiesAQueryOfTheReplaysOfTheTensor) {
  open();
  const SqlResult found = run_sql(database_.path(), window_->panel().sql(window_->workspace()));
  EXPECT_EQ(found.rows.size(), 3U);
  EXPECT_EQ(found.columns.back(), "snapshot");
}

TEST(TensorsPanel, SaysHowTensorsAreWatched) {
  const WatchedDatabase database;
  const PanelWindow window(database.path(), std::make_unique<TensorsPanel>(), kNarrow);
  EXPECT_THAT(window.text("tensors/empty/what"), HasSubstr("No launch was watched"));
  EXPECT_THAT(window.text("tensors/empty/call"), HasSubstr("executor.set_watches("));
}

struct Damage {
  const char* name;
  const char* sql;
  const char* message;  // in the panel, or nothing
};

class TensorsPanelOnDamage : public ::testing::TestWithParam<Damage> {};

TEST_P(TensorsPanelOnDamage, SaysWhatIsWrong) {
  const WatchedDatabase database(launches(), {});
  ASSERT_EQ(test::sql(database.path(), GetParam().sql), "");
  for (const HeadlessOptions& options : {kNarrow, kRoomy}) {
    PanelWindow window(database.path(), std::make_unique<TensorsPanel>(), options);
    std::string texts;
    for (const auto& [path, widget] : window.host().registry().widgets()) {
      texts += path + ": " + widget.text + "\n";
    }
    EXPECT_THAT(texts, HasSubstr(GetParam().message));
    window.workspace().select_node(1);
    window.run("wait");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, TensorsPanelOnDamage,
    ::testing::Values(
        Damage{"Contents", "UPDATE snapshots SET data = x'0102'", "is damaged"},
        Damage{"Place", "UPDATE snapshots SET data = NULL, external_path = '/etc/passwd'",
               "no place where a writer puts one"},
        Damage{"MissingFile",
               "UPDATE snapshots SET data = NULL, external_path = 'profile.db.tensors/' || "
               "content_hash || '.safetensors'",
               "cannot be read"},
        Damage{"Type", "UPDATE snapshots SET dtype = '%s##'", "is damaged"},
        Damage{"NumbersThatAreNone",
               "UPDATE tensor_stats SET min = 1e308, max = -1e308, mean = 9e999, rms = 'x', n = "
               "-5, nan_count = 9223372036854775807, hist = zeroblob(256)",
               "NaN"},
        Damage{"Histogram", "UPDATE tensor_stats SET hist = x'00', min = NULL",
               "statistics/min/one: \xE2\x80\x94"},
        Damage{"Names", "UPDATE tensors SET name = '##%s%n' || char(27)", "%n"},
        Damage{"Rows",
               "UPDATE tensor_stats SET tensor_idx = tensor_idx + 4000000000, node_idx = -3; "
               "UPDATE snapshots SET tensor_idx = -1",
               "No launch was watched"}),
    [](const auto& damage) { return std::string(damage.param.name); });

}  // namespace
}  // namespace reprise::debugger
