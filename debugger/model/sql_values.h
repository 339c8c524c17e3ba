// Values of a query's result as a type, which is not theirs in damaged files.
#pragma once
#include "reprise/sql_query.h"

namespace reprise::debugger {

inline std::optional<std::int64_t> whole_of(const SqlValue& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole == nullptr ? std::nullopt : std::optional(*whole);
}

/// Empty if it is no text.
inline std::string text_or_empty(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

}  // namespace reprise::debugger
