#include "tests/crossed/session_tensors.h"

namespace reprise::crossed {
namespace {

constexpr std::array kWritten{Leaf::table, Leaf::keys, Leaf::values, Leaf::halves};

}  // namespace

SessionTensors::SessionTensors(const Program& program, const Device& device)
    : program_(program), device_(device), weights_(program.rounds.front().weights) {
  const Round& first = program.rounds.front();
  for (int id = 0; id < kLeaves; ++id) {
    const auto leaf = static_cast<Leaf>(id);
    if (program.uses(leaf) && (is_weight(leaf) || is_written(leaf))) {
      surroundings_.tensors[leaf] = device.from_host(shape_of(leaf, program.setup),
                                                     dtype_of(data_of(leaf, program, first).kind),
                                                     bytes_of(leaf, program, first), name_of(leaf));
    }
  }
  compile_kernels(device, program, surroundings_);
}

void SessionTensors::set_weights(const Round& round) {
  if (round.weights == weights_) {
    return;
  }
  weights_ = round.weights;
  for (const auto& [leaf, tensor] : surroundings_.tensors) {
    if (is_weight(leaf)) {
      const TensorRef ref = tensor;
      device_.write(ref->buffer, ref->offset, bytes_of(leaf, program_, round));
    }
  }
}

std::vector<std::pair<Tensor, Tensor>> SessionTensors::move(bool free) {
  std::vector<std::pair<Tensor, Tensor>> moved;
  for (const Leaf leaf : kWritten) {
    const auto found = surroundings_.tensors.find(leaf);
    if (found != surroundings_.tensors.end()) {
      const Tensor from = found->second;
      const Tensor to = device_.empty(from.shape(), from.dtype(), name_of(leaf));
      device_.copy(from, to);
      if (free) {
        device_.free(from);
      }
      found->second = to;
      moved.emplace_back(from, to);
    }
  }
  return moved;
}

void SessionTensors::give_table(const Round& round) {
  if (round.given == Given::table) {
    Tensor& table = surroundings_.tensors.at(Leaf::table);
    usual_table_ = table;
    table = device_.from_host(usual_table_.shape(), usual_table_.dtype(),
                              given_bytes_of(Leaf::table, program_, round), name_of(Leaf::table));
  }
}

void SessionTensors::end_given(bool keep) {
  if (usual_table_ && !keep) {
    surroundings_.tensors[Leaf::table] = usual_table_;
  }
  usual_table_ = {};
}

void SessionTensors::read(Outcome& outcome) const {
  for (const auto& [leaf, tensor] : surroundings_.tensors) {
    if (is_written(leaf)) {
      outcome.left[name_of(leaf)] = numbers_of(tensor.dtype(), device_.to_host(tensor));
    }
  }
}

}  // namespace reprise::crossed
