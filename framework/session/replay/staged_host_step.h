// StagedHostStep: one host step of a plan or a direct session, with the staging memory its tensors
// cross over in.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "framework/session/device/staging.h"
#include "reprise/backend/backend.h"
#include "reprise/core/host_step.h"
#include "reprise/graph/compute_graph.h"
#include "reprise/session/device.h"

namespace reprise {

bool is_host_step(const Step& step);

class StagedHostStep {
 public:
  /// `steps[step]` is a host step of `graph`. Neither needs to outlive this.
  StagedHostStep(const Device& device, const ComputeGraph& graph, HostFunction function,
                 const StepList& steps, std::uint32_t step, HostStaging& staging);

  /// Ends a segment (EncoderOptions::ends_at_host): copies what the function reads to the host.
  void encode_reads(Encoder& encoder, std::span<const std::shared_ptr<Buffer>> pools) const;
  /// Begins the next one: copies what it wrote to the device.
  void encode_writes(Encoder& encoder, std::span<const std::shared_ptr<Buffer>> pools) const;
  std::uint32_t step() const { return step_; }
  /// Runs the function. Whatever it throws becomes an Error that names the node.
  void call(HostContext* context = nullptr) const;
  /// Instead of call(): outputs are zeros, the tensor in place stays as it is.
  void skip() const;

 private:
  struct Crossing {
    Binding device;
    std::uint64_t offset;  // in the staging buffer
  };
  static std::vector<StagedCopy> copies_of(const std::vector<Crossing>& crossings,
                                           std::span<const std::shared_ptr<Buffer>> pools);
  std::uint32_t step_;
  HostFunction function_;
  std::string name_, text_;  // the latter in errors
  ErrorPlace place_;
  HostStaging staging_;
  std::vector<Crossing> down_, up_;
  std::vector<HostStepTensor> inputs_, outputs_;
  std::vector<HostStepTensor> in_place_;      // one or none, in the upload buffer
  std::span<const std::byte> in_place_read_;  // where it arrives
};

}  // namespace reprise
