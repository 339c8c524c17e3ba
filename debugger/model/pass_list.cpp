#include "debugger/model/pass_list.h"

#include <map>
#include <string_view>
#include <utility>

#include "debugger/model/format.h"

namespace reprise::debugger {

PassList make_pass_list(const Capture& capture) {
  using Name = std::pair<std::string_view, std::string_view>;
  std::map<Name, std::uint32_t> numbers;
  for (const Capture::PassDecision& decision : capture.pass_decisions) {
    numbers.try_emplace(Name(decision.pass, decision.kind), 0U);
  }
  PassList list;
  for (auto& [name, number] : numbers) {
    number = static_cast<std::uint32_t>(list.groups.size());
    list.groups.push_back({.pass = std::string(name.first), .kind = std::string(name.second)});
  }
  list.group_of.reserve(capture.pass_decisions.size());
  for (const Capture::PassDecision& decision : capture.pass_decisions) {
    const std::uint32_t group = numbers.at(Name(decision.pass, decision.kind));
    list.group_of.push_back(group);
    ++list.groups[group].decisions;
    list.groups[group].applied += decision.applied ? 1U : 0U;
  }
  return list;
}

const char* name_of(PassFilter filter) {
  static constexpr const char* kNames[] = {"all", "applied", "not applied"};
  return kNames[static_cast<std::size_t>(filter)];
}

bool shows(PassFilter filter, const Capture::PassDecision& decision) {
  return filter == PassFilter::all || decision.applied == (filter == PassFilter::applied);
}

std::vector<std::uint32_t> pass_rows(const Capture& capture, const PassList& list,
                                     PassFilter filter, std::optional<std::uint32_t> group) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t d = 0; d < capture.pass_decisions.size(); ++d) {
    if (shows(filter, capture.pass_decisions[d]) && (!group || list.group_of[d] == *group)) {
      rows.push_back(d);
    }
  }
  return rows;
}

std::string estimate_text(const Capture::PassDecision& decision) {
  if (!decision.estimate_ns) {
    return {};
  }
  const std::int64_t ns = *decision.estimate_ns;
  // The least of all numbers has no opposite; its distance from 0 has.
  const std::uint64_t size =
      ns < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return (ns < 0 ? "-" : "") + duration_text(size);
}

}  // namespace reprise::debugger
