#include "reprise/core/dtype.h"

namespace reprise {

std::string_view name_of(DType type) { return info_of(type).name; }

std::optional<DType> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].name == name) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

}  // namespace reprise
