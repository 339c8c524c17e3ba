// A view as files hold it: which elements of its source it shows, not which op said so.
#pragma once
#include "framework/core/op.h"

namespace reprise {

struct SavedViewAttributes {
  TensorSpec spec;
  std::uint64_t offset = 0;  // bytes after the source's
};
/// Accepts what reshape, permute and slice make.
extern const OpDef saved_view_def;

}  // namespace reprise
