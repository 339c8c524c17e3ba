#include "framework/programs/command_line.h"

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <sstream>

#include <CLI/CLI.hpp>

#include "reprise/core/error.h"
#include "reprise/core/printable.h"

namespace reprise::programs {
namespace {

/// The conversion is CLI11's own, which looks at everything but this. Returns what is wrong.
template <class T>
std::string range_problem(const std::string& text, T (*convert)(const char*, char**, int)) {
  errno = 0;
  (void)convert(text.c_str(), nullptr, 0);
  return errno != ERANGE
             ? ""
             : joined_text("(", text, ") is out of range: numbers are from ",
                           std::numeric_limits<T>::min(), " to ", std::numeric_limits<T>::max());
}

}  // namespace

void refuse_large_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (type.starts_with("INT")) {
      option->check([](const std::string& text) { return range_problem(text, std::strtoll); });
    } else if (type.starts_with("UINT")) {
      option->check([](const std::string& text) { return range_problem(text, std::strtoull); });
    }
  }
  for (CLI::App* command : app.get_subcommands({})) {
    refuse_large_numbers(*command);
  }
}

int end_of_parsing(const CLI::App& app, const CLI::ParseError& why) {
  std::ostringstream out, error;
  const int status = app.exit(why, out, error);
  std::cout << printable_lines(out.str());
  std::cerr << printable_lines(error.str());
  return status == 0 ? 0 : 2;
}

}  // namespace reprise::programs
