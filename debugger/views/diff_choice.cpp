#include "debugger/views/diff_choice.h"

#include <algorithm>

namespace reprise::debugger {
namespace {

std::string candidate_name(const CaptureSummary& of, const std::string& file) {
  return (file.empty() ? "" : file + "   ") + (of.name.empty() ? "(unnamed)" : of.name) +
         "   run " + std::to_string(of.id.run) + ", graph " + std::to_string(of.id.graph);
}

}  // namespace

CaptureOfFile DiffChoice::capture_of(const Workspace& workspace, const Candidate& candidate) const {
  return {candidate.of_other ? other_.path : workspace.document.path(), candidate.of->id};
}

bool DiffChoice::is_chosen(const Workspace& workspace, const Candidate& candidate) const {
  return chosen_ && chosen_->id == candidate.of->id && capture_of(workspace, candidate) == chosen_;
}

void DiffChoice::refresh(Workspace& workspace) {
  const CaptureSummary& shown = workspace.document.capture()->summary;
  std::optional<OtherFile> found = workspace.other_file.take();
  if (!workspace.other_file.key()) {
    found = OtherFile();
  }
  if (found) {
    chosen_ = found->path == other_.path ? chosen_ : std::nullopt;
    other_ = std::move(*found);
  }
  candidates_.clear();
  for (const CaptureSummary& of : other_.captures) {
    candidates_.push_back({&of, true});
  }
  for (const CaptureSummary& of : workspace.document.captures()) {
    if (of.id != shown.id) {
      candidates_.push_back({&of, false});
    }
  }
  if (std::ranges::none_of(candidates_, [&](const auto& c) { return is_chosen(workspace, c); })) {
    chosen_.reset();
  }
  const auto choose = [&](auto&& is_like) {
    const auto like = std::ranges::find_if(candidates_, [&](const Candidate& c) {
      // Who names another file wants that, also while it is being read.
      return c.of_other == (!other_.path.empty() || workspace.other_file.running()) &&
             is_like(*c.of);
    });
    if (like != candidates_.end() && !chosen_) {
      chosen_ = capture_of(workspace, *like);
    }
  };
  choose([&](const CaptureSummary& of) { return of.content_hash == shown.content_hash; });
  choose([&](const CaptureSummary& of) { return of.name == shown.name; });
}

void DiffChoice::draw(Ui& ui, Workspace& workspace, const Box& box) {
  const auto at =
      std::ranges::find_if(candidates_, [&](const auto& c) { return is_chosen(workspace, c); });
  auto chosen = static_cast<std::size_t>(at - candidates_.begin());
  const auto name = [&](std::size_t i) {
    const Candidate& candidate = candidates_[i];
    return candidate_name(*candidate.of,
                          candidate.of_other ? other_.path.filename().string() : std::string());
  };
  const float open = ui.text_size("Open").x + ui.px(17), gap = ui.px(6);
  const float half = std::min(box.width() * 0.5F, ui.px(420));
  ImGui::SetCursorScreenPos(box.min);
  if (candidates_.empty()) {
    ui.text_in("none", {box.min, {box.min.x + half, box.max.y}}, "beside another capture",
               {.colour = Colour::dim});
  } else if (ui.combo("other", candidates_.size(), name, chosen, half)) {
    chosen_ = capture_of(workspace, candidates_[chosen]);
  }
  const float left = box.min.x + half + gap;
  ImGui::SetCursorScreenPos({left, box.min.y});
  ui.input("path", "another database: before.db", path_,
           std::max(box.max.x - left - open - gap, ui.px(40)));
  const bool entered = ui.take_enter();
  ImGui::SetCursorScreenPos({box.max.x - open, box.min.y});
  if (ui.button("open", "Open") || entered) {
    workspace.open_other(path_);
  }
}

}  // namespace reprise::debugger
