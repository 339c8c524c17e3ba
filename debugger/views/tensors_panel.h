// What a tensor held in watched replays: statistics, a histogram, values, and how long its memory
// was its own.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/overwrite.h"
#include "debugger/views/panel.h"
#include "debugger/views/tensor_values_view.h"

namespace reprise::debugger {

class TensorsPanel : public Panel {
 public:
  std::string_view id() const override { return "tensors"; }
  std::string_view title() const override { return "Tensors"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Gestures gestures() const override;

 private:
  struct Entry {
    std::uint32_t node = 0, tensor = 0;
    bool operator==(const Entry&) const = default;
  };
  /// A watched replay of the tensor.
  struct WatchedReplay {
    std::int64_t id = 0;
    std::string name;
  };
  /// What the list of replays was made of.
  struct Listed {
    std::optional<Entry> chosen;
    std::optional<std::int64_t> wished;
    std::uint64_t numbers = 0, tensor = 0;  // their revisions
    bool operator==(const Listed&) const = default;
  };

  void refresh(Workspace& workspace);
  void list_entries(const Workspace& workspace);
  void choose(const Entry& entry);
  void read_chosen(Workspace& workspace);
  void list_replays(const Workspace& workspace);
  std::span<const TensorStatsRow> watched_rows() const;
  const TensorStatsRow* statistics() const;
  void draw_choice(Ui& ui, Workspace& workspace, const Box& box);
  void draw_facts(Ui& ui, Workspace& workspace, Rows& rows) const;
  void draw_banner(Ui& ui, Workspace& workspace, Rows& rows) const;
  void draw_statistics(Ui& ui, const Workspace& workspace, Rows& rows) const;
  void draw_other_values(Ui& ui, Workspace& workspace, Rows& rows);
  void draw_values(Ui& ui, Workspace& workspace, Rows& rows, float height);

  // What the choices were made of, and the choices.
  std::shared_ptr<const Capture> capture_;
  std::uint64_t revision_ = 0;
  std::optional<std::uint32_t> node_;  // that was selected
  std::vector<Entry> entries_;         // by node, then tensor
  std::vector<std::string> names_;     // of entries_
  std::optional<Entry> chosen_, drawn_;
  std::optional<Overwrite> overwrite_;  // of the chosen one
  std::vector<WatchedReplay> replays_;  // of the chosen one
  std::optional<Listed> listed_;
  std::optional<std::int64_t> replay_;  // chosen; none: the last one with values, or the last

  Read<TensorKey, std::vector<TensorStatsRow>> watched_{read_replays_of_tensor, Follow::file};
  Read<SnapshotKey, TensorValues> contents_{read_contents};
  TensorValuesView values_;
  bool menu_ = false;  // somebody asked for the menu of the tensor
};

}  // namespace reprise::debugger
