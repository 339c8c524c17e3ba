// Standard output and error where a person reads them.
#pragma once
#include <exception>
#include <string>
#include <string_view>

namespace reprise::programs {

/// False for a file or a pipe: what is printed is data then, and keeps its bytes.
bool output_is_terminal();

/// Prints "error: " and what it says to standard error, fit for a terminal.
void print_error(const std::exception& error);

/// The same JSON, in which whatever would control a terminal is escaped ("\\u009b"), so that a text
/// stays what it is. `json` is valid UTF-8.
std::string printable_json(std::string_view json);

/// Makes a text that comes in pieces fit for a terminal: a character may lie in two of them.
class PrintableStream {
 public:
  /// What can be printed of the text so far, from where the last call ended.
  std::string add(std::string_view piece);
  /// The rest: a character that was cut.
  std::string end();

 private:
  std::string held_;  // of a character whose end has not come
};

}  // namespace reprise::programs
