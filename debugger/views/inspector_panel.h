// All that is known about what is selected: a node, a scope, or else the capture.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "debugger/model/node_sums.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class InspectorPanel : public Panel {
 public:
  std::string_view id() const override { return "inspector"; }
  std::string_view title() const override { return "Inspector"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;

 private:
  /// Of what is selected.
  const NodeSums& sums(const Workspace& workspace);

  Selection shown_;  // scrolls back to the top when another one is drawn
  NodeSums sums_;
  std::uint64_t revision_ = 0;  // of the document, when sums_ were made; and of which nodes
  std::optional<Selection> summed_;
};

}  // namespace reprise::debugger
