#include "framework/core/known_names.h"

namespace reprise {

void throw_unknown_name(std::string_view owner, std::string_view kind, std::string_view name,
                        std::string_view known) {
  const std::string of(kind);
  throw Error(ErrorCode::unknown_name, std::string(owner) + " has no " + of + " (" +
                                           std::string(name) + "); its " + of +
                                           "s are: " + std::string(known) + ".");
}

}  // namespace reprise
