// How op files record a call.
#pragma once
#include <type_traits>

#include "framework/core/op.h"
#include "reprise/core/recorder.h"

namespace reprise {

/// Records a call with one result.
template <class A, std::size_t N>
Tensor record(const Site& site, const OpDef& op, const TensorRef (&inputs)[N],
              const A& attributes) {
  static_assert(std::is_trivially_copyable_v<A> && std::is_standard_layout_v<A>);
  return site.recorder.call(
      site, {site.recorder, op, inputs, std::as_bytes(std::span(&attributes, 1)), site.where});
}

/// Records a call that writes one of its operands and has no result.
template <class A, std::size_t N>
void record_in_place(const Site& site, const OpDef& op, const TensorRef (&inputs)[N],
                     const A& attributes) {
  static_assert(std::is_trivially_copyable_v<A> && std::is_standard_layout_v<A>);
  site.recorder.call(
      {site.recorder, op, inputs, std::as_bytes(std::span(&attributes, 1)), site.where}, {});
}

}  // namespace reprise
