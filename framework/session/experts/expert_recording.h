// ExpertRecording: how the experts of a layer are recorded, so that where their weights are never
// changes the graph: products look it up in a table.
#pragma once
#include <functional>

#include "reprise/core/host_step.h"
#include "reprise/session/graph_session.h"

namespace reprise {

/// Rounds that serve all experts which `ids` may name, `cells` of them at a time.
std::int64_t expert_rounds(std::int64_t experts, std::int64_t cells, std::int64_t calls);

/// Cells of a session that is no executable graph's, with the names of its tensors added to the
/// options; null without a store.
std::shared_ptr<HostContext> own_experts(const Device& device, SessionOptions& options);

class ExpertRecording {
 public:
  ExpertRecording(GraphSession& session, std::string_view layer, const Tensor& ids);
  Tensor record(const ExpertFunction& f);

 private:
  friend class PlacedExperts;
  Tensor table(std::int64_t round);
  /// A stop of the pass, where `place` serves the round.
  Tensor check(std::int64_t round, HostFunction place);
  Tensor product(const Site& site, const Tensor& x, std::string_view projection);
  /// One host step behind all of it, which computes the rows of missing experts.
  Tensor record_with_cpu(const ExpertFunction& f);
  /// The last node is a host step of this layer.
  void note_host_step();
  Tensor bound(const std::string& name) const;

  GraphSession& session_;
  const ExpertSetup& setup_;
  const ExpertStore::Layer& layer_;
  std::size_t layer_index_;
  const Tensor& ids_;
  std::int64_t cells_;
  Tensor table_;
  std::vector<Tensor> products_, before_;  // of this round, of the one before
};

struct PlacedExperts::State {
  ExpertRecording& recording;
};

}  // namespace reprise
