#include "framework/session/dry_capture.h"

namespace reprise {

DryCapture DryCapture::of(GraphExecutor& executor, const RecordFunction& pass,
                          SessionOptions session) {
  session.max_iterations = 1;  // more would allocate what counts them
  GraphSession recorded = executor.begin_recorded(std::move(session));
  pass(recorded);
  return recorded.finish_dry();
}

}  // namespace reprise
