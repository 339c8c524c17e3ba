#include "reprise/session/expert_store.h"

#include <algorithm>
#include <array>
#include <new>

#include "framework/core/known_names.h"

namespace reprise {
namespace {

constexpr std::size_t kPage = 4096;  // what begins at one can be imported in place

std::shared_ptr<const std::byte> copy_of(std::span<const std::byte> bytes) {
  const std::size_t padded = (bytes.size() + kPage - 1) / kPage * kPage;
  std::shared_ptr<std::byte> copy(
      static_cast<std::byte*>(::operator new (padded, std::align_val_t{kPage})),
      [](std::byte* p) { ::operator delete (p, std::align_val_t{kPage}); });
  std::ranges::copy(bytes, copy.get());
  return copy;
}

}  // namespace

struct ExpertStore::Memory {
  std::int64_t experts;
  std::vector<Layer> layers;
};

std::string_view name_of(ExpertMiss miss) {
  constexpr std::array<std::string_view, 2> kNames{"upload", "cpu"};
  return kNames[static_cast<std::size_t>(miss)];
}

std::uint64_t ExpertStore::Projection::expert_bytes() const {
  return spec.bytes() / static_cast<std::uint64_t>(spec.shape.dim(0));
}

std::span<const std::byte> ExpertStore::Projection::expert(std::size_t i) const {
  return bytes.subspan(i * expert_bytes(), expert_bytes());
}

std::uint64_t ExpertStore::Layer::expert_bytes() const {
  std::uint64_t sum = 0;
  for (const Projection& projection : projections) {
    sum += projection.expert_bytes();
  }
  return sum;
}

ExpertStore::ExpertStore(std::int64_t experts)
    : memory_(std::make_shared<Memory>(Memory{experts, {}})) {
  if (experts < 1) {
    throw_invalid_argument("A layer has at least 1 expert, but (", experts, ") are asked for.");
  }
}

std::int64_t ExpertStore::experts() const { return memory_ == nullptr ? 0 : memory_->experts; }

void ExpertStore::add(std::string_view layer, std::string_view projection, const Shape& shape,
                      DType dtype, std::span<const std::byte> bytes,
                      std::shared_ptr<const void> owner) const {
  if (memory_ == nullptr) {
    throw_invalid_argument("The expert store is empty; make one with the number of experts.");
  }
  const TensorSpec spec(shape, dtype);
  const std::string what = "The projection '" + std::string(projection) + "' of the layer '" +
                           std::string(layer) + "', " + to_string(spec) + ",";
  if (shape.rank() != 3 || shape.dim(0) != memory_->experts) {
    throw_error(ErrorCode::shape_mismatch, what, " is to be [experts, m, k] of (", memory_->experts,
                ") experts.");
  }
  if (bytes.size() != spec.bytes() || bytes.empty()) {
    throw_error(ErrorCode::size_mismatch, what, " has ", spec.bytes(), " bytes, but got (",
                bytes.size(), ").");
  }
  auto it = std::ranges::find(memory_->layers, layer, &Layer::name);
  if (it == memory_->layers.end()) {
    memory_->layers.push_back({std::string(layer), {}});
    it = memory_->layers.end() - 1;
  }
  for (const Projection& known : it->projections) {
    if (known.name == projection) {
      throw_invalid_argument(what, " is in the store already.");
    }
  }
  if (owner == nullptr) {
    const auto copy = copy_of(bytes);
    bytes = {copy.get(), bytes.size()};
    owner = copy;
  }
  it->projections.push_back({std::string(projection), spec, bytes, std::move(owner)});
}

void ExpertStore::add(std::string_view layer, std::string_view projection, const Shape& shape,
                      std::span<const float> values) const {
  add(layer, projection, shape, DType::f32, std::as_bytes(values));
}

const std::vector<ExpertStore::Layer>& ExpertStore::layers() const {
  static const std::vector<Layer> kNone;
  return memory_ == nullptr ? kNone : memory_->layers;
}

const ExpertStore::Layer& ExpertStore::layer(std::string_view name) const {
  return require_named(layers(), "The expert store", "layer", name, &Layer::name);
}

std::int64_t ExpertSetup::cells() const {
  if (options.budget_bytes == 0) {
    return store.experts();
  }
  std::uint64_t one_each = 0;
  for (const ExpertStore::Layer& layer : store.layers()) {
    one_each += layer.expert_bytes();
  }
  if (one_each > options.budget_bytes) {
    throw_error(ErrorCode::out_of_memory, "One expert of each layer takes (", one_each,
                ") bytes, but the budget of experts is ", options.budget_bytes, " bytes.");
  }
  return std::min(store.experts(), static_cast<std::int64_t>(options.budget_bytes /
                                                             std::max<std::uint64_t>(one_each, 1)));
}

}  // namespace reprise
