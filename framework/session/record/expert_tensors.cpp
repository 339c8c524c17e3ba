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

std::vector<NamedTensor> expert_tensors(const ExpertSetup& setup, const MakeTensor& make) {
  std::vector<NamedTensor> tensors;
  const auto add = [&](const std::string& name, const TensorSpec& spec) {
    tensors.push_back({name, make(name, spec)});
  };
  if (!setup.store) {
    return tensors;
  }
  const std::int64_t cells = setup.cells();
  for (const ExpertStore::Layer& layer : setup.store.layers()) {
    add(expert_table_name(layer.name), TensorSpec({setup.store.experts()}, DType::i32));
    add(expert_uses_name(layer.name), TensorSpec({setup.store.experts()}, DType::i32));
    for (const ExpertStore::Projection& p : layer.projections) {
      add(expert_cells_name(layer.name, p.name),
          TensorSpec({cells, p.spec.shape.dim(1), p.spec.shape.dim(2)}, p.spec.dtype));
    }
  }
  return tensors;
}

std::vector<std::string> expert_tensor_names(const ExpertStore& store) {
  std::vector<std::string> names;
  for (const ExpertStore::Layer& layer : store.layers()) {
    names.push_back(expert_table_name(layer.name));
    names.push_back(expert_uses_name(layer.name));
    for (const ExpertStore::Projection& p : layer.projections) {
      names.push_back(expert_cells_name(layer.name, p.name));
    }
  }
  return names;
}

std::vector<NamedTensor> unbacked_experts(const ExpertSetup& setup) {
  return expert_tensors(setup, unbacked);
}

}  // namespace reprise
