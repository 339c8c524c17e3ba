#include "debugger/model/scope_tree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace reprise::debugger {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Every number replaced by '*': "layer.12" is "layer.*".
std::string without_numbers(std::string_view name) {
  std::string pattern;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) {
      pattern += name[i];
    } else if (i == 0 || !is_digit(name[i - 1])) {
      pattern += '*';
    }
  }
  return pattern;
}

struct NameParts {
  std::string_view before, number, after;
};

/// Two names around the only number in which they differ; nothing if they differ in more, or not.
std::optional<NameParts> split_at_difference(std::string_view a, std::string_view b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t front = 0;
  while (front < shorter && a[front] == b[front]) {
    ++front;
  }
  while (front > 0 && is_digit(a[front - 1])) {
    --front;
  }
  const auto number_end = [&](std::string_view name) {
    std::size_t end = front;
    while (end < name.size() && is_digit(name[end])) {
      ++end;
    }
    return end;
  };
  const std::size_t end_a = number_end(a), end_b = number_end(b);
  if (a == b || end_a == front || end_b == front || a.substr(end_a) != b.substr(end_b)) {
    return std::nullopt;
  }
  return NameParts{a.substr(0, front), a.substr(front, end_a - front), a.substr(end_a)};
}

/// A run of nodes in one scope, before groups are found; children are scopes and nodes in order.
struct Scope {
  struct Child {
    bool is_node = false;
    std::uint32_t index = 0;  // of a node of the capture, or of a scope
  };
  std::string name, path;
  std::uint32_t first = 0, count = 0;
  std::vector<Child> children;
  std::uint32_t structure = 0;  // equal for scopes that hold the same
};

std::vector<std::string_view> parts_of(std::string_view scope) {
  std::vector<std::string_view> parts;
  while (!scope.empty()) {
    const std::size_t end =
        parts.size() + 1 < ScopeTree::kDeepest ? scope.find('/') : std::string_view::npos;
    if (end != 0) {
      parts.push_back(scope.substr(0, end));
    }
    scope = end == std::string_view::npos ? std::string_view() : scope.substr(end + 1);
  }
  return parts;
}

/// Scope 0 is the root; parents come before their children.
std::vector<Scope> scopes_of(const Capture& capture) {
  std::vector<Scope> scopes(1);
  std::vector<std::uint32_t> open{0};
  for (std::uint32_t node = 0; node < capture.nodes.size(); ++node) {
    const std::vector<std::string_view> parts = parts_of(capture.nodes[node].scope);
    std::size_t same = 0;
    while (same < parts.size() && same + 1 < open.size() &&
           scopes[open[same + 1]].name == parts[same]) {
      ++same;
    }
    open.resize(same + 1);
    for (std::size_t i = same; i < parts.size(); ++i) {
      const auto scope = static_cast<std::uint32_t>(scopes.size());
      const std::string& outer = scopes[open.back()].path;
      std::string path =
          outer.empty() ? std::string(parts[i]) : outer + "/" + std::string(parts[i]);
      scopes.push_back({std::string(parts[i]), std::move(path), node, 0, {}, 0});
      scopes[open.back()].children.push_back({false, scope});
      open.push_back(scope);
    }
    for (const std::uint32_t scope : open) {
      ++scopes[scope].count;
    }
    scopes[open.back()].children.push_back({true, node});
  }
  return scopes;
}

/// Numbers scopes so that those with the same ops and sub-scopes share a number.
void compare_structures(const Capture& capture, std::vector<Scope>& scopes) {
  std::unordered_map<std::string, std::uint32_t> names;
  std::map<std::vector<std::uint32_t>, std::uint32_t> structures;
  const auto number = [&](std::string name) {
    return names.try_emplace(std::move(name), static_cast<std::uint32_t>(names.size()))
        .first->second;
  };
  for (std::size_t i = scopes.size(); i-- > 0;) {
    std::vector<std::uint32_t> structure;
    for (const Scope::Child& child : scopes[i].children) {
      if (child.is_node) {
        structure.insert(structure.end(), {0, number(capture.nodes[child.index].op)});
      } else {
        const Scope& scope = scopes[child.index];
        structure.insert(structure.end(),
                         {1, number(without_numbers(scope.name)), scope.structure});
      }
    }
    scopes[i].structure =
        structures.try_emplace(std::move(structure), static_cast<std::uint32_t>(structures.size()))
            .first->second;
  }
}

class Builder {
 public:
  Builder(const Capture& capture, const std::vector<Scope>& scopes,
          std::vector<ScopeTree::Item>& items, std::vector<std::uint32_t>& node_items)
      : capture_(capture), scopes_(scopes), items_(items), node_items_(node_items) {}

  void add_root() {
    items_.push_back({ScopeTree::Kind::root, {}, {}, 0, 0, scopes_[0].count, {}, 0});
    add_children(0, scopes_[0]);
  }

 private:
  std::uint32_t add(ScopeTree::Kind kind, std::uint32_t parent, std::string name, std::string path,
                    std::uint32_t first, std::uint32_t count) {
    const auto item = static_cast<std::uint32_t>(items_.size());
    items_.push_back({kind,
                      std::move(name),
                      std::move(path),
                      parent,
                      first,
                      count,
                      {},
                      items_[parent].depth + 1});
    items_[parent].children.push_back(item);
    return item;
  }

  void add_scope(std::uint32_t parent, const Scope& scope) {
    add_children(
        add(ScopeTree::Kind::scope, parent, scope.name, scope.path, scope.first, scope.count),
        scope);
  }

  void add_children(std::uint32_t parent, const Scope& scope) {
    for (std::size_t i = 0; i < scope.children.size();) {
      const Scope::Child& child = scope.children[i];
      const std::size_t repeats = child.is_node ? 1 : repeats_at(scope, i);
      if (child.is_node) {
        const std::string& op = capture_.nodes[child.index].op;
        node_items_[child.index] =
            add(ScopeTree::Kind::node, parent, op, joined(scope.path, op), child.index, 1);
      } else if (repeats == 1) {
        add_scope(parent, scopes_[child.index]);
      } else {
        add_group(parent, scope, i, repeats);
      }
      i += repeats;
    }
  }

  void add_group(std::uint32_t parent, const Scope& scope, std::size_t from, std::size_t repeats) {
    const auto repeated = [&](std::size_t i) -> const Scope& {
      return scopes_[scope.children[from + i].index];
    };
    const NameParts parts = *split_at_difference(repeated(0).name, repeated(1).name);
    const std::string name = std::string(parts.before) + "*" + std::string(parts.after);
    const std::uint32_t group =
        add(ScopeTree::Kind::group, parent, name, joined(scope.path, name), repeated(0).first,
            repeated(0).count * static_cast<std::uint32_t>(repeats));
    for (std::size_t i = 0; i < repeats; ++i) {
      add_scope(group, repeated(i));
    }
  }

  /// How many children from the i-th on are repetitions of it.
  std::size_t repeats_at(const Scope& scope, std::size_t i) const {
    const Scope& first = scopes_[scope.children[i].index];
    std::optional<NameParts> where;
    std::size_t end = i + 1;
    for (; end < scope.children.size() && !scope.children[end].is_node; ++end) {
      const Scope& next = scopes_[scope.children[end].index];
      const std::optional<NameParts> parts = split_at_difference(first.name, next.name);
      if (!parts || next.structure != first.structure ||
          (where && where->before.size() != parts->before.size())) {
        break;
      }
      where = parts;
    }
    return end - i;
  }

  static std::string joined(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "/" + name;
  }

  const Capture& capture_;
  const std::vector<Scope>& scopes_;
  std::vector<ScopeTree::Item>& items_;
  std::vector<std::uint32_t>& node_items_;
};

}  // namespace

ScopeTree::ScopeTree(const Capture& capture) {
  if (capture.nodes.empty()) {
    return;
  }
  std::vector<Scope> scopes = scopes_of(capture);
  compare_structures(capture, scopes);
  node_items_.resize(capture.nodes.size());
  Builder(capture, scopes, items_, node_items_).add_root();
}

}  // namespace reprise::debugger
