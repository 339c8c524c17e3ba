#include "framework/session/slot_encodings.h"

namespace reprise {
namespace {

/// Every copy has its own place, so they need no barriers between them.
void encode_copies(Encoder& encoder, const std::shared_ptr<Buffer>& staging,
                   const std::vector<StagedCopy>& copies, bool upload) {
  std::vector<std::shared_ptr<Buffer>> pools{staging};
  StepList steps;
  for (const StagedCopy& copy : copies) {
    if (copy.bytes == 0) {
      continue;
    }
    const auto pool = static_cast<std::uint32_t>(pools.size());
    pools.push_back(copy.buffer);
    Binding host{0, Access::read, BindingType::storage, copy.staging_offset, copy.bytes};
    Binding device{pool, Access::read, BindingType::storage, copy.buffer_offset, copy.bytes};
    (upload ? device : host).access = Access::write;
    steps.copy(StepList::kNoNode, upload ? host : device, upload ? device : host);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    encoder.step(steps, i, pools);
  }
}

}  // namespace

SlotEnds encode_slot_ends(Backend& backend, const Staging& staging, const SlotEncodingPlan& plan) {
  SlotEnds ends;
  auto prologue = backend.encoder({.name = "prologue", .reusable = true});
  encode_copies(*prologue, staging.upload, plan.up, true);
  if (plan.around != nullptr) {
    prologue->reset(plan.around);
    prologue->stamp(plan.around, 0);
  }
  ends.prologue = prologue->finish();

  auto epilogue = backend.encoder({.name = "epilogue", .reusable = true, .ends_at_host = true});
  if (plan.around != nullptr) {
    epilogue->stamp(plan.around, 1);
  }
  if (plan.resolved != nullptr) {
    epilogue->resolve(plan.resolved, plan.ticks, plan.ticks_offset);
  }
  encode_copies(*epilogue, staging.download, plan.down, false);
  ends.epilogue = epilogue->finish();
  return ends;
}

}  // namespace reprise
