#include "reprise/core/precision.h"

namespace reprise {

std::string_view name_of(Precision precision) {
  return precision == Precision::exact ? "exact" : "fast";
}

std::optional<Precision> precision_of(std::string_view name) {
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    if (name == name_of(precision)) {
      return precision;
    }
  }
  return std::nullopt;
}

}  // namespace reprise
