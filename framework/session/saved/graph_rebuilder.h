// GraphRebuilder: records the rows of a file again. The file may hold anything: every op passes the
// schema and shape checks that a session makes, and its results must be those of the file.
#pragma once
#include <map>

#include "framework/graph/saved_graph.h"
#include "framework/session/record/graph_capture.h"
#include "framework/session/replay/framework_tensors.h"
#include "reprise/core/recorder.h"
#include "reprise/session/saved_graphs.h"

namespace reprise {

class GraphRebuilder final : public Recorder {
 public:
  /// All of them outlive it. `rows`: made for this file.
  GraphRebuilder(ExecutorCore& core, const SavedGraph& saved, const LoadOptions& options,
                 const IterationRows& rows);
  /// Throws invalid_argument or unsupported for whatever no session could have recorded.
  void build();
  GraphCapture& capture() { return capture_; }

  std::string tensor_name(const TensorRecord& tensor) const override;

 private:
  void append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) override;
  void require_open() const override {}
  StateField find_state(std::string_view field) const override;
  Extent find_extent(std::string_view field) const override;
  Tensor find_block() override;
  Tensor find_array(std::string_view array) override;
  std::uint32_t open_scope(std::uint32_t outer, std::string_view name, std::int32_t index) override;
  std::string scope_path(std::uint32_t scope) const override;
  std::string_view session_name() const override { return saved_.name; }
  std::uint32_t op_count() const override { return next_node_; }

  void require_extents() const;
  void add_names();
  void find_ops();
  const OpDef* op_of(std::uint32_t op);
  void bind_callers();
  void add_tensor(const SavedTensor& tensor);
  void add_input(const SavedPort& port);
  void add_view(const SavedTensor& tensor);
  void add_persistent(const SavedTensor& tensor);
  void add_node();
  /// Those that the file says: kernels have no rule for them.
  std::vector<TensorSpec> specs_of_results(const SavedNode& node) const;
  void require_iterations() const;
  void finish_tensors();
  void add_ports();
  const Tensor& tensor(std::uint32_t index) const;
  /// Those of the block, without arrays.
  std::span<const StateFieldInfo> fields() const;
  /// kNoIndex: it is not in the file.
  std::uint32_t index_of(StorageOrigin origin) const;

  const Device& device_;
  const SavedGraph& saved_;
  const LoadOptions& options_;
  std::vector<FrameworkTensor> framework_;
  GraphCapture capture_;
  std::map<std::uint32_t, const SavedPort*> inputs_;  // by tensor
  std::uint32_t state_ = kNoIndex;                    // the tensor of the block, or in its place
  std::vector<CustomKernel> kernels_;
  std::vector<const OpDef*> ops_;  // by the file's number
  std::vector<Tensor> tensors_;    // by the graph's index
  std::uint32_t next_node_ = 0;
};

}  // namespace reprise
