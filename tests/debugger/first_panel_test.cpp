// The panel of docs/first-panel.md, as it stands there.
#include <numeric>

#include "debugger/model/format.h"
#include "debugger/views/columns.h"
#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {

class PoolsPanel : public Panel {
 public:
  std::string_view id() const override { return "pools"; }
  std::string_view title() const override { return "Pools"; }
  void draw(Ui& ui, Workspace& workspace) override {
    capture_ = workspace.document.capture();
    bindings_.show(workspace.reads, capture_);
    rows_.resize(capture_->pools.size());
    std::iota(rows_.begin(), rows_.end(), 0U);
    const TableOrder largest_first{"size", true};
    table_.sort(*this, rows_, largest_first);
    table_.draw(ui, "table", *this, rows_, {.usual_order = largest_first});
  }
  std::string sql(const Workspace& /*workspace*/) const override {
    return "SELECT idx AS pool, kind, size_bytes FROM pools WHERE graph_id = " +
           std::to_string(capture_->summary.id.graph);
  }
  std::vector<PanelTable> tables() override { return {{"table", &table_.arranged}}; }

 private:
  static const std::vector<PanelColumn<PoolsPanel>>& columns() {
    using P = PoolsPanel;
    static const std::vector<PanelColumn<P>> kColumns = {
        {{"kind", "Kind", 110},
         [](const P& p, std::uint32_t pool) {
           return TableCell{.text = p.capture_->pools[pool].kind};
         }},
        {{"size", "Size", 90, Align::right, FontKind::mono},
         [](const P& p, std::uint32_t pool) {
           return number_cell(bytes_text(p.capture_->pools[pool].bytes));
         },
         sort_by<P>([](const P& p, std::uint32_t pool) { return p.capture_->pools[pool].bytes; })},
        {{"buffer", "Buffer"}, [](const P& p, std::uint32_t pool) {
           const Bindings* const found = p.bindings_.value();
           return dim_cell(found == nullptr ? "" : found->of_pool[pool].name);
         }}};
    return kColumns;
  }

  std::shared_ptr<const Capture> capture_;
  Read<CaptureKey, Bindings> bindings_{of_capture<read_bindings>, Follow::file};
  std::vector<std::uint32_t> rows_;  // pools
  ColumnTable<PoolsPanel> table_{columns()};
};

namespace {

using FirstPanelTest = PanelTest<PoolsPanel>;

TEST_F(FirstPanelTest, ShowsTheLargestPoolFirstAndSortsByClicks) {
  const auto& pools = window_.document().capture()->pools;
  ASSERT_GT(pools.size(), 1U);
  EXPECT_EQ(window_.count("pools/table/row/"), pools.size());
  run("expect_state pools/table/header/size descending\nclick pools/table/header/size");
  run("expect_state pools/table/header/size ascending\nfits");
}

TEST_F(FirstPanelTest, CopiesAQueryWithARowForEveryPool) {
  const std::string rows = test::sql(database_.path(), window_.panel().sql(window_.workspace()));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(rows, '\n')) + 1,
            window_.document().capture()->pools.size())
      << rows;
}

}  // namespace
}  // namespace reprise::debugger
