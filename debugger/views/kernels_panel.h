// The kernels of a capture: how each was specialised and launched, its source and its SPIR-V beside
// each other.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/kernel_code.h"
#include "debugger/ui/table.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class KernelsPanel : public Panel {
 public:
  std::string_view id() const override { return "kernels"; }
  std::string_view title() const override { return "Kernels"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Actions actions(Workspace& workspace) override;

  std::vector<PanelTable> tables() override { return {{"table", &table_.arranged}}; }

 private:
  /// Shows a kernel and selects its nodes.
  void show(Workspace& workspace, std::size_t kernel);
  /// One column of code.
  struct Code {
    std::string title, problem;
    std::vector<std::string> lines;
    std::vector<std::size_t> matches;
    Colour title_colour = Colour::text;
    std::string outside = {};  // the name of a source that needs the user's consent
  };
  /// A match of the search, by column and line.
  struct Match {
    std::size_t code = 0, line = 0;
  };

  void refresh(Workspace& workspace);
  void show_code(Workspace& workspace, const KernelCode& code);
  void search();
  void jump(std::size_t match);
  void draw_list(Ui& ui, Workspace& workspace, const Box& box);
  void draw_facts(Ui& ui, const Box& box);
  void draw_search(Ui& ui, const Box& box);
  void draw_codes(Ui& ui, Workspace& workspace, const Box& box);
  TableCell cell(const Workspace& workspace, std::uint32_t kernel, std::size_t column) const;

  std::shared_ptr<const Capture> capture_;
  std::vector<std::vector<std::uint32_t>> nodes_;  // of every kernel, ascending
  std::vector<std::size_t> steps_;                 // of every kernel: how many
  Selection selection_;                            // that shown_ follows
  std::uint32_t shown_ = 0;                        // a kernel
  Read<KernelKey, KernelCode> read_{read_kernel_code};
  std::array<Code, 2> codes_;  // source, SPIR-V
  std::string facts_;          // of the code

  std::string wanted_;  // the search
  std::vector<Match> matches_;
  std::size_t match_ = 0;           // the one that was jumped to
  std::optional<Match> scroll_to_;  // consumed
  std::size_t sides_ = 0;           // both, source, SPIR-V
  TableState table_;
};

}  // namespace reprise::debugger
