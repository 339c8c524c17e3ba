// What is recorded of AttentionAttributes, and what it means.
#pragma once
#include "framework/core/op.h"

namespace reprise::ops {

/// The tensors among the attributes become operands.
struct AttentionForm {
  Param<std::int32_t> kv_len;
  Param<std::int32_t> past;  // in place of kv_len where has_past
  Param<float> scale;
  Param<float> softcap;
  Param<float> max_bias;
  Param<std::int32_t> window;
  bool causal = true;
  bool has_past = false;
};

/// In float64, in two passes over the keys.
void attention_reference(const HostCall& call);

}  // namespace reprise::ops
