#include "debugger/model/overwrite.h"

#include <algorithm>

namespace reprise::debugger {
namespace {

bool share_bytes(const Capture::Tensor& a, const Capture::Tensor& b) {
  // Differences and not ends: offsets of a damaged file may lie near 2^64.
  const auto begins_in = [](const Capture::Tensor& in, const Capture::Tensor& of) {
    return of.offset_bytes >= in.offset_bytes && of.offset_bytes - in.offset_bytes < in.bytes;
  };
  return a.pool == b.pool && a.bytes > 0 && b.bytes > 0 && (begins_in(a, b) || begins_in(b, a));
}

}  // namespace

std::optional<Overwrite> overwrite_of(const Capture& capture, std::uint32_t tensor) {
  const Capture::Tensor& of = capture.tensors[tensor];
  if (!of.pool || !of.first_step) {
    return std::nullopt;
  }
  // A tensor may be made by several steps of one node; views and operands that are written in place
  // begin when their memory does, so only the node that made it tells.
  std::uint32_t made = *of.first_step;
  const auto last_step_of = [&](const Capture::Node& node) {
    std::uint32_t last = 0;
    for (std::uint32_t s = 0; s < node.steps.count; ++s) {
      last = std::max(last, capture.step_order[node.steps.first + s]);
    }
    return last;
  };
  const auto for_each_write = [&](auto&& f) {
    for (const Capture::Node& node : capture.nodes) {
      for (std::uint32_t o = 0; node.steps.count > 0 && o < node.operands.count; ++o) {
        const Capture::Operand& operand = capture.operands[node.operands.first + o];
        if (operand.writes) {
          f(node, operand);
        }
      }
    }
  };
  bool found_maker = false;
  for_each_write([&](const Capture::Node& node, const Capture::Operand& operand) {
    if (operand.tensor == tensor && !found_maker) {
      made = last_step_of(node);
      found_maker = true;
    }
  });
  std::optional<Overwrite> first;
  const auto consider = [&](std::uint32_t step, std::uint32_t by) {
    if (step > made && step < capture.steps.size() && (!first || step < first->step)) {
      first = {step, capture.steps[step].node, by};
    }
  };
  for_each_write([&](const Capture::Node& node, const Capture::Operand& operand) {
    if (share_bytes(of, capture.tensors[operand.tensor])) {
      const auto steps = std::span(capture.step_order).subspan(node.steps.first, node.steps.count);
      consider(*std::min_element(steps.begin(), steps.end()), operand.tensor);
    }
  });
  for (std::uint32_t t = 0; t < capture.tensors.size(); ++t) {  // scratch is no operand
    const Capture::Tensor& other = capture.tensors[t];
    if (t != tensor && !other.alias_of && other.first_step && share_bytes(of, other)) {
      consider(*other.first_step, t);
    }
  }
  return first;
}

}  // namespace reprise::debugger
