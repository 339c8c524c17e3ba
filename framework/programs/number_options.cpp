#include "framework/programs/number_options.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include <CLI/CLI.hpp>

namespace reprise::programs {
namespace {

/// The conversion is CLI11's own, which looks at everything but this. Returns what is wrong.
template <class T>
std::string range_problem(const std::string& text, T (*convert)(const char*, char**, int)) {
  errno = 0;
  (void)convert(text.c_str(), nullptr, 0);
  return errno != ERANGE ? ""
                         : "(" + text + ") is out of range: numbers are from " +
                               std::to_string(std::numeric_limits<T>::min()) + " to " +
                               std::to_string(std::numeric_limits<T>::max());
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

}  // namespace reprise::programs
