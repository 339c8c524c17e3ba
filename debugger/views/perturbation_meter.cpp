#include "debugger/views/perturbation_meter.h"

#include <cmath>

#include "debugger/model/workspace.h"

namespace reprise::debugger {
namespace {

constexpr double kMuch = 0.1;  // a cost from which times are to be doubted

/// Of the capture that is shown; null while it is read.
const std::optional<Perturbation>* measured(Workspace& workspace) {
  const Document& document = workspace.document;
  const std::size_t replays = document.replays().rows.size();
  auto& read = workspace.perturbation;
  if (read.key() && read.key()->capture != document.capture()) {
    read.forget();
  }
  const auto& asked = read.key();
  if (!asked || replays >= 2 * asked->replays + 1 ||
      (!document.live() && replays != asked->replays)) {
    read.ask(workspace.reads, {document.capture(), replays});
  }
  return read.value();
}

std::string text_of(const std::optional<Perturbation>* found) {
  return found == nullptr ? "" : perturbation_text(*found);
}

}  // namespace

float perturbation_width(Ui& ui, Workspace& workspace) {
  return std::ceil(ui.text_size(text_of(measured(workspace))).x) + 1;
}

void draw_perturbation_meter(Ui& ui, Workspace& workspace, const Box& box) {
  const std::optional<Perturbation>* const found = measured(workspace);
  const std::string text = text_of(found);
  const bool much = found != nullptr && *found && std::abs((*found)->cost) > kMuch;
  const Hit hit = ui.hit("perturbation", box, text);
  ui.text_in("", box, text, {.colour = much ? Colour::warning : Colour::dim});
  if (hit.hovered && found != nullptr) {
    ui.tooltip(perturbation_details(*found));
  }
}

}  // namespace reprise::debugger
