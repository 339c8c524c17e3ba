// ExpertRecording: how the experts of a layer are recorded, so that where their weights are never
// changes the graph: products look it up in a table.
#pragma once
#include <functional>

#include "reprise/session/graph_session.h"

namespace reprise {

/// Names of the persistent tensors that a layer has in an instance.
std::string expert_table_name(std::string_view layer);                            // i32 [experts]
std::string expert_cells_name(std::string_view layer, std::string_view project);  // [cells, m, k]
std::string expert_routes_name(std::string_view layer);                           // i32 [runs, ids]
/// The field of the state that says which row of the routes a run writes.
inline constexpr const char* kExpertRunField = "experts/run";

/// Rounds that serve all experts which `ids` may name, `cells` of them at a time.
std::int64_t expert_rounds(std::int64_t experts, std::int64_t cells, std::int64_t calls);

class ExpertRecording {
 public:
  ExpertRecording(GraphSession& session, std::string_view layer, const Tensor& ids);
  Tensor record(const ExpertFunction& f);

 private:
  friend class PlacedExperts;
  Tensor table(std::int64_t round);
  Tensor product(Site site, const Tensor& x, std::string_view projection);
  void keep_routes();
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
