// How op files record a call.
#pragma once
#include <type_traits>

#include "framework/core/op.h"
#include "reprise/core/recorder.h"

namespace reprise {

/// For ops without attributes: one defined byte.
struct NoAttributes {
  std::byte unused{};
};

/// A call that reads the attributes where they are.
template <class A>
OpCall op_call(const Site& site, const OpDef& op, std::span<const TensorRef> inputs,
               const A& attributes) {
  static_assert(std::is_trivially_copyable_v<A> && std::is_standard_layout_v<A>);
  return {site.recorder, op, inputs, std::as_bytes(std::span(&attributes, 1)), site.where};
}

/// Checks that an operand is given which the op can do without, but not this form of it.
inline void require_operand(const Site& site, const OpDef& op, std::size_t operand,
                            const TensorRef& tensor) {
  if (!tensor) {
    site.recorder.check(op.name, site.where, [&] { refuse_empty(op, operand); });
  }
}

/// Records a call with one result.
template <class A = NoAttributes, std::size_t N>
Tensor record(const Site& site, const OpDef& op, const TensorRef (&inputs)[N],
              const A& attributes = {}) {
  return site.recorder.call(site, op_call(site, op, inputs, attributes));
}

/// Records a call with several results.
template <class A, std::size_t N>
void record_into(std::span<Tensor> results, const Site& site, const OpDef& op,
                 const TensorRef (&inputs)[N], const A& attributes) {
  site.recorder.call(op_call(site, op, inputs, attributes), results);
}

/// Records a call that writes one of its operands and has no result.
template <class A, std::size_t N>
void record_in_place(const Site& site, const OpDef& op, const TensorRef (&inputs)[N],
                     const A& attributes) {
  record_into({}, site, op, inputs, attributes);
}

}  // namespace reprise
