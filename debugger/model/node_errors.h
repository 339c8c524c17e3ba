// How far the results of nodes are from those of a reference, and where both part.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/tensor_statistics.h"

namespace reprise::debugger {

/// A result beside that of the reference.
struct NodeError {
  std::optional<std::uint32_t> node, tensor;  // none: an output or state of the whole pass
  std::string name;
  std::optional<double> max_abs, max_rel, rmse, cosine;  // empty: not finite
  std::optional<std::int64_t> first_bad;                 // element
  double tolerance = 0;                                  // of max_rel, that was compared with
  bool differs = false;
  /// Nodes whose results it reads and that differ already.
  std::vector<std::uint32_t> blamed;
  bool input_differs = false;  // as `blamed` says or, where those were not compared, the file
};

struct NodeErrors {
  std::vector<NodeError> rows;  // by node, then tensor; what is of no node last
  std::size_t differing = 0;    // rows
  std::optional<std::size_t>
      first;  // the first row of a node that differs though its inputs do not
};

/// What the nodes of a capture were compared with, the latest first.
std::vector<std::string> references_of(const TensorStatistics& numbers);

/// The latest comparisons with one reference. A result differs if its largest relative difference
/// is above `threshold`, or is no finite number; without a threshold, as was found when comparing.
NodeErrors node_errors(const Capture& capture, const TensorStatistics& numbers,
                       const std::string& reference, std::optional<double> threshold);

/// The next node behind `from`, from the first one again at the end, of which a watched result held
/// a NaN or infinity; none if there is none.
std::optional<std::uint32_t> next_not_finite(const TensorStatistics& numbers,
                                             std::optional<std::uint32_t> from);
/// The first watched replay in which a result of the node held a NaN or infinity: of those whose
/// contents the file has, else of all.
std::optional<std::int64_t> first_not_finite_replay(const TensorStatistics& numbers,
                                                    std::uint32_t node);

/// A threshold as somebody types it: "1e-3", "0.1%"; none of an empty text. Throws
/// Error(invalid_argument) if it is no number from 0 on.
std::optional<double> threshold_of(const std::string& text);

/// What is compared and how strictly, and what came of it; shared by panels and keys.
class ErrorList {
 public:
  std::size_t reference = 0;  // a position in references()
  std::string threshold;      // as typed

  /// Cheap if nothing changed.
  void refresh(const std::shared_ptr<const Capture>& capture, const TensorStatisticsRead& numbers);
  const std::vector<std::string>& references() const { return references_; }
  const NodeErrors& errors() const { return errors_; }
  /// Another number whenever errors() may be others.
  std::uint64_t version() const { return version_; }
  /// What is wrong with the threshold; errors() are those of the last that made sense.
  const std::string& problem() const { return problem_; }

 private:
  std::shared_ptr<const Capture> capture_;
  std::uint64_t revision_ = 0, version_ = 0;
  std::size_t shown_ = 0;
  std::string typed_, problem_;
  std::optional<double> threshold_;
  std::vector<std::string> references_;
  NodeErrors errors_;
};

}  // namespace reprise::debugger
