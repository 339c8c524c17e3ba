// What the inspector shows of a node, of a scope and of a capture.
#pragma once
#include <cstdint>
#include <string>

#include "debugger/model/node_sums.h"
#include "debugger/model/workspace.h"
#include "debugger/ui/rows.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

/// Lists are cut here; what is left out is counted.
constexpr std::size_t kMaxInspected = 64;

void inspect_node(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t node);
/// An item of workspace.scopes, and the sums of its nodes.
void inspect_scope(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t item,
                   const NodeSums& sums);
/// Several nodes that no scope holds together, and their sums.
void inspect_nodes(Ui& ui, Workspace& workspace, Rows& rows, std::size_t count,
                   const NodeSums& sums);
/// The sums are those of all nodes.
void inspect_capture(Ui& ui, Workspace& workspace, Rows& rows, const NodeSums& sums);

/// The times of a node, as a histogram and numbers.
void inspect_times(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t node);
/// The lines around the call of a node.
void inspect_source(Ui& ui, Workspace& workspace, Rows& rows, const Capture::Node& node);
/// What it reads and writes.
void inspect_operands(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t node);

/// "#23 rope" in a row, which selects the node; its scope behind it if wanted; dim text on the
/// right.
void node_link(Ui& ui, Workspace& workspace, const Box& box, std::uint32_t node,
               std::string_view right = {}, bool scoped = false);

/// "and 12 more", if `count` is more than kMaxInspected.
void rest_line(Ui& ui, Rows& rows, std::size_t count);

}  // namespace reprise::debugger
