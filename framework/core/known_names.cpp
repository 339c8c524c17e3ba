#include "framework/core/known_names.h"

namespace reprise {

void throw_unknown_name(std::string_view owner, std::string_view kind, std::string_view name,
                        std::string_view known) {
  throw_error(ErrorCode::unknown_name, owner, " has no ", kind, " (", name, "); its ", kind,
              "s are: ", known, ".");
}

}  // namespace reprise
