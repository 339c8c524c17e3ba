// ExpertResidency: which experts of an executable graph have a cell on the device, and what that
// costs. Host steps of its runs ask; nothing here is recorded.
#pragma once
#include <optional>

#include "reprise/core/host_step.h"
#include "reprise/session/expert_store.h"
#include "reprise/session/graph_executor.h"
#include "reprise/session/graph_session.h"

namespace reprise {

class RepeatedCalls;

/// Of all counts; the layer is that of the first.
ExpertStats& operator+=(ExpertStats& sum, const ExpertStats& run);
ExpertStats operator-(ExpertStats now, const ExpertStats& before);

/// Used by the thread that runs the graph.
class ExpertResidency final : public HostContext {
 public:
  /// Allocates the cells. The first experts of each layer get them.
  ExpertResidency(const Device& device, const ExpertSetup& setup);

  /// Tables and cells, by the names of ExpertRecording.
  const std::vector<NamedTensor>& tensors() const { return tensors_; }

  /// Before a run: gives cells to the experts that most was routed to, where it is time to.
  void begin_run();
  /// After it; `calls` of each layer of the graph, whatever became of them.
  struct LayerRun {
    std::size_t layer;
    std::int64_t rows, used;    // of an iteration
    bool stops = false;         // at misses: the host saw no others
    bool counts_rows = false;   // those of the run: `rows` are of its extent
    std::uint64_t idle_ns = 0;  // of the device
    std::uint32_t iterations = 1;
  };
  void end_run(std::span<const LayerRun> layers);
  std::uint64_t runs() const { return runs_; }

  /// Gives cells to the experts of this round, and says which have one. In the table, -1 is an
  /// expert that no round served yet, -2 one of an earlier round.
  struct Placement {
    std::size_t layer;
    std::int64_t round, rows;
    std::span<const std::int32_t> ids;
    bool stopped = false;  // the run did, and checks look at tensors(); else: of a host step
  };
  void place(const Placement& placement, std::span<std::int32_t> table);
  /// Of a host step that reads ids and what the calls is given beside the experts, and writes in
  /// place: computes the rows of experts without a cell.
  void compute_misses(std::size_t layer, const RepeatedCalls& calls, HostStepCall& call);

  std::size_t layer_of(std::string_view name) const;
  /// Of the layer that is given, or of all. Throws unknown_name, size_mismatch, invalid_argument.
  void set_resident(std::string_view layer, const std::vector<bool>& resident);
  void set_resident(const std::vector<bool>& resident);
  std::vector<bool> resident(std::string_view layer) const;

  const ExpertStats& total(std::size_t layer) const { return layers_[layer].total; }
  /// Since the last end_run.
  const ExpertStats& last(std::size_t layer) const { return layers_[layer].last; }
  std::size_t layer_count() const { return layers_.size(); }

 private:
  static constexpr std::int32_t kNone = -1, kServed = -2;
  struct Layer {
    const ExpertStore::Layer* of;
    Tensor table, uses;
    std::vector<Tensor> cells{};          // by projection
    std::vector<std::int32_t> cell_of;    // by expert; kNone
    std::vector<std::int32_t> expert_in;  // by cell; kNone
    std::vector<double> counts;           // by expert: calls, those of long ago for less
    std::vector<std::int32_t> seen;       // of `uses`, which the device counts
    std::vector<std::int32_t> served{};   // by rounds of this layer before this one
    std::vector<std::int32_t> waiting{};  // experts that this run routed to and no round served yet
    std::vector<Tensor> on_cpu{};  // by projection: all weights; empty until a miss needs them
    ExpertStats run{}, last{}, total{};  // of the run under way, the one before, all
  };
  void count(Layer& layer, std::span<const std::int32_t> ids, std::int64_t rows);
  void count_uses(Layer& layer, std::span<const std::int32_t> ids) const;
  /// What the device counted since.
  void add_uses(Layer& layer);
  /// Moves an expert into a cell, whoever has it.
  void promote(Layer& layer, std::int32_t expert, std::int32_t cell);
  void refresh(Layer& layer);
  void write_table(const Layer& layer);
  /// The cell of the expert that was routed to least, of those that `spared` does not name.
  std::int32_t least_used(const Layer& layer, std::span<const std::int32_t> spared) const;
  /// All weights of a projection where the CPU backend reads them.
  const Tensor& on_cpu(Layer& layer, std::size_t projection);

  Device device_;
  ExpertSetup setup_;
  std::int64_t cells_;
  std::vector<NamedTensor> tensors_;
  std::optional<GraphExecutor> cpu_;
  std::vector<Layer> layers_;
  std::uint64_t runs_ = 0;
};

/// Cells of a session that is no executable graph's, with the names of its tensors added to the
/// options; null without a store.
std::shared_ptr<HostContext> own_experts(const Device& device, SessionOptions& options);

}  // namespace reprise
