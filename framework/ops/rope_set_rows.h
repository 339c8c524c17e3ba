// What is recorded of rope_set_rows: the attributes of both ops.
#pragma once
#include "framework/ops/rope_form.h"
#include "reprise/ops/set_rows.h"

namespace reprise::ops {

struct RopeSetRowsForm {
  RopeAngles rope;
  SetRowsAttributes rows;
};

}  // namespace reprise::ops
