// What the tests of executable graphs share: a device, and small passes whose values are exact.
#pragma once
#include "tests/session/rows/row_test.h"

namespace reprise::testing {

class ExecutableTest : public DeviceRows {
 protected:
  /// y = x * w: [4]
  static void scaled(GraphSession& s) {
    s.output("y", mul(s, s.input("x", {4}), s.param("w", {4})));
  }
  /// y = x * w + 0, [rows, 4] of an extent; z = c + c, [3, 4], has no such dimension.
  static void rows(GraphSession& s) {
    s.output("y", mul(s, s.input("x", {s.extent("rows"), 4}), s.param("w", {4})));
    const Tensor constant = s.input("c", {3, 4});
    s.output("z", add(s, constant, constant));
  }
  /// sum = h + x, which may go back into h.
  static void summed(GraphSession& s) {
    s.output("sum", add(s, s.input("h", {4}), s.input("x", {4})));
  }
  /// The row x goes into the table h, in place; y is the sum of its first two rows.
  static void tabled(GraphSession& s) {
    const Tensor h = s.input("h", {2, 4});
    set_rows(s, h, s.input("x", {1, 4}), SetRowsAttributes{.position = 1});
    s.output("h", h);
    s.output("y", add(s, slice(s, h, 0, 0, 1), slice(s, h, 0, 1, 1)));
  }
  ExecutableGraph scaled_graph(std::size_t slots = 2) {
    ExecutableGraph graph(executor_, scaled, {.slots = slots});
    graph.set_param("w", w);
    return graph;
  }
  ExecutableGraph rows_graph() {
    ExecutableGraph graph(executor_, rows, {.extent = "rows", .buckets = {2, 8}});
    graph.set_param("w", w);
    return graph;
  }
  ExecutableGraph summed_graph() {
    ExecutableGraph graph(executor_, summed);
    graph.create_handle({.name = "h", .shape = {4}});
    return graph;
  }
  static Floats times_w(const Floats& x) {
    Floats y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y.push_back(x[i] * w[i % 4]);
    }
    return y;
  }
  static std::span<const std::byte> bytes_of(const Floats& values) {
    return std::as_bytes(std::span(values));
  }
  inline static const Floats w{1, 10, 100, 1000}, ones{1, 1, 1, 1},
      c{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  static Floats doubled() {
    Floats twice = c;
    for (float& v : twice) {
      v *= 2;
    }
    return twice;
  }
};

}  // namespace reprise::testing
