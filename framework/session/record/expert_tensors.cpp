#include "framework/session/record/expert_tensors.h"

#include "framework/session/device/unbacked_buffer.h"

namespace reprise {

std::string expert_table_name(std::string_view layer) { return "experts of " + std::string(layer); }

std::string expert_cells_name(std::string_view layer, std::string_view projection) {
  return "cells of " + std::string(layer) + "/" + std::string(projection);
}

std::string expert_uses_name(std::string_view layer) {
  return "uses of the experts of " + std::string(layer);
}

void for_each_expert_tensor(const ExpertSetup& setup, const ExpertTensorFunction& f) {
  if (!setup.store) {
    return;
  }
  const TensorSpec by_expert({setup.store.experts()}, DType::i32);
  for (const ExpertStore::Layer& layer : setup.store.layers()) {
    f(expert_table_name(layer.name), by_expert);
    f(expert_uses_name(layer.name), by_expert);
    for (const ExpertStore::Projection& p : layer.projections) {
      f(expert_cells_name(layer.name, p.name),
        TensorSpec({setup.cells(), p.spec.shape.dim(1), p.spec.shape.dim(2)}, p.spec.dtype));
    }
  }
}

std::vector<NamedTensor> expert_tensors(const ExpertSetup& setup, const MakeTensor& make) {
  std::vector<NamedTensor> tensors;
  for_each_expert_tensor(setup, [&](const std::string& name, const TensorSpec& spec) {
    tensors.push_back({name, make(name, spec)});
  });
  return tensors;
}

std::vector<NamedTensor> unbacked_experts(const ExpertSetup& setup) {
  return expert_tensors(setup, unbacked);
}

}  // namespace reprise
