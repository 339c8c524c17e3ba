// What panels say of the file they show: rows that were left out, numbers that cannot be, names
// that are no text. A panel tells what was done to the tables it shows. One thread, the one that
// draws.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/model/bindings.h"
#include "debugger/model/tensor_statistics.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

class FileNotes {
 public:
  /// After any of these changed; all but the table of replays may be null.
  void update(const std::shared_ptr<const Capture>& capture, const ReplayTable& replays,
              const TensorStatistics* numbers, const Bindings* bindings);
  /// Sentences. Panels are named by their ids.
  std::vector<std::string> of(std::string_view panel) const;

 private:
  std::vector<FileProblem> all_;
};

}  // namespace reprise::debugger
