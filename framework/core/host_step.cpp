#include "reprise/core/host_step.h"

#include "reprise/core/error.h"

namespace reprise {

const HostStepTensor& HostStepCall::at(std::string_view kind, std::span<const HostStepTensor> list,
                                       std::size_t i) const {
  if (i >= list.size()) {
    throw_invalid_argument("The host step '", name_, "' has ", list.size(), " ", kind,
                           "s, but number (", i, ") is asked for.");
  }
  return list[i];
}

const HostStepTensor& HostStepCall::updated() const {
  if (in_place_ == nullptr) {
    throw_invalid_argument("The host step '", name_, "' has no tensor that is written in place.");
  }
  return *in_place_;
}

void HostStepCall::require_dtype(std::string_view kind, const TensorSpec& spec,
                                 DType wanted) const {
  if (spec.dtype != wanted) {
    throw_error(ErrorCode::dtype_mismatch, "The host step '", name_, "' reads or writes (",
                name_of(wanted), ") elements of its ", kind, ", which is ", to_string(spec), ".");
  }
}

}  // namespace reprise
