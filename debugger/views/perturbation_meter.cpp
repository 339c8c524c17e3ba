#include "debugger/views/perturbation_meter.h"

#include <cmath>

#include "debugger/model/panel_reads.h"

namespace reprise::debugger {
namespace {

constexpr double kMuch = 0.1;  // a cost from which times are to be doubted

/// Of the capture that is shown; null while it is read.
const MeasuredPerturbation* measured(Workspace& workspace) {
  const Document& document = workspace.document;
  const CaptureId id = document.capture()->summary.id;
  PanelReads& reads = *workspace.reads;
  const std::size_t replays = document.replays().rows.size();
  const auto& asked = reads.perturbation_asked;
  if (!asked || asked->capture != id || replays >= 2 * asked->replays + 1 ||
      (!document.live() && replays != asked->replays)) {
    reads.perturbation_asked = {id, replays};
    reads.perturbation.ask([path = document.path(), id](const std::stop_token& stop) {
      return read_perturbation(path, id, stop);
    });
  }
  const MeasuredPerturbation* const found = reads.perturbation.result();
  return found != nullptr && found->capture == id ? found : nullptr;
}

std::string text_of(const MeasuredPerturbation* found) {
  return found == nullptr ? "" : perturbation_text(found->found);
}

}  // namespace

float perturbation_width(Ui& ui, Workspace& workspace) {
  return std::ceil(ui.text_size(text_of(measured(workspace))).x) + 1;
}

void draw_perturbation_meter(Ui& ui, Workspace& workspace, const Box& box) {
  const MeasuredPerturbation* const found = measured(workspace);
  const std::string text = text_of(found);
  const bool much = found != nullptr && found->found && std::abs(found->found->cost) > kMuch;
  const Hit hit = ui.hit("perturbation", box, text);
  ui.text_in("", box, text, {.colour = much ? Colour::warning : Colour::dim});
  if (hit.hovered && found != nullptr) {
    ui.tooltip(perturbation_details(found->found));
  }
}

}  // namespace reprise::debugger
