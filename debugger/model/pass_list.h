// What the passes did to a graph before it was planned, in groups of one pass and one kind each.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

struct PassGroup {
  std::string pass, kind;
  std::size_t decisions = 0, applied = 0;
  bool operator==(const PassGroup&) const = default;
};

struct PassList {
  std::vector<PassGroup> groups;        // by pass, then kind
  std::vector<std::uint32_t> group_of;  // one per decision
};
PassList make_pass_list(const Capture& capture);

enum class PassFilter : std::uint8_t { all, applied, refused };
const char* name_of(PassFilter filter);
bool shows(PassFilter filter, const Capture::PassDecision& decision);

/// Positions in the decisions, in their order; of one group, if one is given.
std::vector<std::uint32_t> pass_rows(const Capture& capture, const PassList& list,
                                     PassFilter filter, std::optional<std::uint32_t> group);

/// "-1.50 µs": what a decision was estimated to save, or to cost; empty if nobody said.
std::string estimate_text(const Capture::PassDecision& decision);

}  // namespace reprise::debugger
