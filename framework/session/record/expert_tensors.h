// The persistent tensors that the experts of a session lie in: what they are called, and their
// specs.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "reprise/session/session_options.h"

namespace reprise {

std::string expert_table_name(std::string_view layer);                            // i32 [experts]
std::string expert_cells_name(std::string_view layer, std::string_view project);  // [cells, m, k]
std::string expert_uses_name(std::string_view layer);                             // i32 [experts]

/// Calls f for the tables, counts of uses and cells of all layers; for none without a store.
using ExpertTensorFunction = std::function<void(const std::string& name, const TensorSpec& spec)>;
void for_each_expert_tensor(const ExpertSetup& setup, const ExpertTensorFunction& f);
/// These of all layers, each as `make` gives it.
using MakeTensor = std::function<Tensor(const std::string& name, const TensorSpec& spec)>;
std::vector<NamedTensor> expert_tensors(const ExpertSetup& setup, const MakeTensor& make);
/// The same over no memory.
std::vector<NamedTensor> unbacked_experts(const ExpertSetup& setup);

}  // namespace reprise
