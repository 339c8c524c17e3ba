// Comma-separated values (RFC 4180) of what queries give.
#pragma once
#include <string>
#include <vector>

#include "reprise/sql_query.h"

namespace reprise::debugger {

/// A text as a field: quoted where it must be, control characters made harmless, and with an
/// apostrophe in front where a spreadsheet would take it for a formula. Numbers are written as they
/// are: -1 is no formula.
/// Source: https://owasp.org/www-community/attacks/CSV_Injection
std::string csv_field(const std::string& text);
/// The same, always quoted.
std::string quoted_csv_field(const std::string& text);
/// A value as text: nothing for NULL, "(12 bytes)" for a blob.
std::string text_of(const SqlValue& value);
/// A line with its end.
std::string csv_line(const std::vector<std::string>& texts);
std::string csv_line(const std::vector<SqlValue>& values);

}  // namespace reprise::debugger
