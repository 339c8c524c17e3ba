// Results of finish().
#pragma once
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "reprise/session/captured_graph.h"
#include "reprise/session/finish_report.h"

namespace reprise {

/// Outputs by name, as bytes of contiguous tensors.
class OutputSet {
 public:
  struct Output {
    TensorSpec spec;
    std::vector<std::byte> bytes;
  };
  void add(std::string name, Output output) {
    outputs_.emplace(std::move(name), std::move(output));
  }
  /// Copies the outputs of a run, after waiting for it; nothing if nothing ran.
  static OutputSet of(const Ticket& ticket);
  /// Finds an output.
  /// Errors: unknown_name, listing the outputs; invalid_argument if there are none.
  const Output& find(std::string_view name) const;
  const std::map<std::string, Output, std::less<>>& all() const { return outputs_; }

 private:
  std::map<std::string, Output, std::less<>> outputs_;
};

class FinishResult {
 public:
  FinishReport report;
  CapturedGraph graph;  // recorded sessions only: empty otherwise

  FinishResult() = default;
  FinishResult(FinishReport with, OutputSet outputs, CapturedGraph of)
      : report(with), graph(std::move(of)), outputs_(std::move(outputs)) {}
  /// Returns the elements of a declared output after the run inside finish(). T is float for f32,
  /// std::int32_t for i32, std::byte for the bytes of any dtype.
  /// Errors: unknown_name, dtype_mismatch; invalid_argument if nothing ran, because
  /// FinishOptions::run was false or the state said stop.
  template <OutputElement T = float>
  std::vector<T> read(std::string_view name) const {
    const OutputSet::Output& output = outputs_.find(name);
    return elements_of<T>(name, {output.spec, output.bytes});
  }
  /// Returns all outputs; none if nothing ran.
  const OutputSet& outputs() const { return outputs_; }

 private:
  OutputSet outputs_;
};

}  // namespace reprise
