// What single panels have read for them beside the document: a panel asks when it is drawn, and
// finds the answer in a later frame.
#pragma once
#include <array>
#include <optional>

#include "debugger/model/event_log.h"
#include "debugger/model/kernel_code.h"
#include "debugger/model/perturbation.h"
#include "debugger/model/replay_times.h"
#include "debugger/model/worker_read.h"

namespace reprise::debugger {

struct PanelReads {
  /// Of the two ranges of replays that Statistics compares.
  WorkerRead<ReplayTimes> times_a, times_b;

  WorkerRead<KernelCode> kernel_code;
  WorkerRead<EventLog> events;
  WorkerRead<MeasuredPerturbation> perturbation;
  /// What the last perturbation was asked for.
  struct Asked {
    CaptureId capture;
    std::size_t replays = 0;
  };
  std::optional<Asked> perturbation_asked;

  std::array<WorkerJob*, 5> jobs() {
    return {&times_a, &times_b, &kernel_code, &events, &perturbation};
  }
};

}  // namespace reprise::debugger
