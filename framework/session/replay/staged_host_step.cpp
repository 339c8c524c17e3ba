#include "framework/session/replay/staged_host_step.h"

#include <algorithm>

#include "framework/graph/structure_hash.h"
#include "framework/ops/host_step_def.h"

namespace reprise {

bool is_host_step(const Step& step) { return step.op == &ops::host_step_def; }

StagedHostStep::StagedHostStep(const Device& device, const ComputeGraph& graph,
                               HostFunction function, const StepList& steps, std::uint32_t step,
                               HostStaging& staging)
    : step_(step), function_(std::move(function)) {
  const std::uint32_t node = steps[step].node;
  name_ = graph.host_steps.at(node);
  text_ = "(in the host step '" + name_ + "', " + describe_node(graph, node) + ")";
  place_ = {.op = node,
            .scope = graph.names.path(graph.nodes[node].scope),
            .where = graph.nodes[node].where};
  const std::span<const Binding> bindings = steps.bindings(steps[step]);
  const std::span<const TensorSpec> specs = steps.specs(steps[step]);
  std::uint64_t down_bytes = 0, up_bytes = 0;
  const auto cross = [](std::vector<Crossing>& list, const Binding& binding, std::uint64_t& end) {
    list.push_back({binding, end});
    end = staging_aligned(end + binding.bytes);
  };
  const auto present = [&](std::size_t slot) { return specs[slot].shape.rank() > 0; };
  for (std::size_t slot = 0; slot < bindings.size(); ++slot) {
    if (present(slot) && reads(bindings[slot].access) && slot < ops::kHostStepFirstOutput) {
      cross(down_, bindings[slot], down_bytes);
    }
    if (present(slot) && writes(bindings[slot].access)) {
      cross(up_, bindings[slot], up_bytes);
    }
  }
  grow(device, staging.download, "host steps", down_bytes, BufferKind::download,
       MemoryPurpose::staging);
  grow(device, staging.upload, "host steps", up_bytes, BufferKind::upload, MemoryPurpose::staging);
  staging_ = staging;
  auto down = down_.begin(), up = up_.begin();
  const auto bytes_of = [](const std::shared_ptr<Buffer>& buffer, const Crossing& c) {
    return c.device.bytes == 0 ? std::span<std::byte>()
                               : std::span(buffer->mapped() + c.offset, c.device.bytes);
  };
  for (std::size_t slot = 0; slot < bindings.size(); ++slot) {
    if (!present(slot)) {
      continue;
    }
    if (slot < ops::kHostStepInPlace) {
      inputs_.push_back({specs[slot], bytes_of(staging_.download, *down++)});
    } else if (slot == ops::kHostStepInPlace) {
      in_place_read_ = bytes_of(staging_.download, *down++);
      in_place_.push_back({specs[slot], bytes_of(staging_.upload, *up++)});
    } else {
      outputs_.push_back({specs[slot], bytes_of(staging_.upload, *up++)});
    }
  }
}

std::vector<StagedCopy> StagedHostStep::copies_of(const std::vector<Crossing>& crossings,
                                                  std::span<const std::shared_ptr<Buffer>> pools) {
  std::vector<StagedCopy> copies;
  for (const auto& [device, offset] : crossings) {
    if (device.bytes != 0) {
      copies.push_back({offset, pools[device.pool], device.offset, device.bytes});
    }
  }
  return copies;
}

void StagedHostStep::encode_reads(Encoder& encoder,
                                  std::span<const std::shared_ptr<Buffer>> pools) const {
  encode_downloads(encoder, staging_.download, copies_of(down_, pools));
}

void StagedHostStep::encode_writes(Encoder& encoder,
                                   std::span<const std::shared_ptr<Buffer>> pools) const {
  encode_uploads(encoder, staging_.upload, copies_of(up_, pools));
}

void StagedHostStep::skip() const {
  for (const HostStepTensor& output : outputs_) {
    std::ranges::fill(output.bytes, std::byte{0});
  }
  for (const HostStepTensor& tensor : in_place_) {
    std::ranges::copy(in_place_read_, tensor.bytes.begin());
  }
}

void StagedHostStep::call(HostContext* context) const {
  const auto fail = [&](const Error& cause) { throw Error(cause, text_, place_); };
  if (!in_place_.empty()) {
    std::ranges::copy(in_place_read_, in_place_.front().bytes.begin());
  }
  HostStepCall call(name_, inputs_, outputs_, in_place_.empty() ? nullptr : in_place_.data(),
                    context);
  try {
    function_(call);
  } catch (const Error& error) {
    fail(error);
  } catch (const std::exception& error) {
    fail(Error(ErrorCode::invalid_argument, error.what()));
  } catch (...) {
    fail(Error(ErrorCode::invalid_argument, "An exception of an unknown type was thrown."));
  }
}

}  // namespace reprise
