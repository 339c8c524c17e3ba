#include "framework/session/experts/expert_residency.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "framework/session/record/expert_tensors.h"

namespace reprise {
namespace {

constexpr std::array kCounts = {
    &ExpertStats::runs,         &ExpertStats::tokens_device, &ExpertStats::tokens_host,
    &ExpertStats::calls_device, &ExpertStats::calls_host,    &ExpertStats::hits,
    &ExpertStats::misses,       &ExpertStats::promotions,    &ExpertStats::demotions,
    &ExpertStats::bytes_moved,  &ExpertStats::stall_ns};

}  // namespace

ExpertStats& operator+=(ExpertStats& sum, const ExpertStats& run) {
  for (const auto count : kCounts) {
    sum.*count += run.*count;
  }
  return sum;
}

ExpertStats operator-(ExpertStats now, const ExpertStats& before) {
  for (const auto count : kCounts) {
    now.*count -= before.*count;
  }
  return now;
}

std::shared_ptr<HostContext> own_experts(const Device& device, SessionOptions& options) {
  if (!options.experts.store) {
    return nullptr;
  }
  auto residency = std::make_shared<ExpertResidency>(device, options.experts);
  std::ranges::copy(residency->tensors(), std::back_inserter(options.tensors));
  return residency;
}

ExpertResidency::ExpertResidency(const Device& device, const ExpertSetup& setup)
    : device_(device), setup_(setup), cells_(setup.cells()) {
  const auto experts = static_cast<std::size_t>(setup_.store.experts());
  if (const float decay = setup_.options.decay; !(decay >= 0 && decay <= 1)) {  // nor NaN
    throw_invalid_argument("The decay of experts is (", decay,
                           "), but has to be from 0 to 1; see ExpertOptions::decay.");
  }
  if (cells_ < setup_.store.experts() && setup_.options.misses == ExpertMiss::cpu) {
    const Device& cpu = setup_.cpu ? *setup_.cpu : device_;
    if (cpu.info().backend == "vulkan") {
      throw_invalid_argument(
          "Misses of experts are to be computed by the CPU backend, but ExpertSetup::cpu is not "
          "given and the graph's device (",
          cpu.info().name, ") is none; set it to open_device(\"cpu\").");
    }
    cpu_.emplace(cpu);
  }
  for (const ExpertStore::Layer& of : setup_.store.layers()) {
    Layer layer{
        .of = &of,
        .table = device_.empty({setup_.store.experts()}, DType::i32, expert_table_name(of.name)),
        .uses = device_.zeros({setup_.store.experts()}, DType::i32, expert_uses_name(of.name)),
        .cell_of = std::vector<std::int32_t>(experts, kNone),
        .expert_in = std::vector<std::int32_t>(static_cast<std::size_t>(cells_), kNone),
        .counts = std::vector<double>(experts),
        .seen = std::vector<std::int32_t>(experts),
        .last = {.layer = of.name},
        .total = {.layer = of.name}};
    tensors_.push_back({expert_table_name(of.name), layer.table});
    tensors_.push_back({expert_uses_name(of.name), layer.uses});
    for (const ExpertStore::Projection& p : of.projections) {
      const std::string name = expert_cells_name(of.name, p.name);
      layer.cells.push_back(
          device_.empty({cells_, p.spec.shape.dim(1), p.spec.shape.dim(2)}, p.spec.dtype, name));
      tensors_.push_back({name, layer.cells.back()});
    }
    for (std::int32_t i = 0; i < cells_; ++i) {
      promote(layer, i, i);
    }
    layer.run = {.layer = of.name};  // promotions were no run's
    write_table(layer);
    layers_.push_back(std::move(layer));
  }
}

void ExpertResidency::write_table(const Layer& layer) {
  const TensorRef table(layer.table);
  device_.write(table->buffer, table->offset, std::as_bytes(std::span(layer.cell_of)));
}

void ExpertResidency::promote(Layer& layer, std::int32_t expert, std::int32_t cell) {
  const auto at = static_cast<std::size_t>(cell);
  if (const std::int32_t other = layer.expert_in[at]; other != kNone) {
    layer.cell_of[static_cast<std::size_t>(other)] = kNone;
    ++layer.run.demotions;
  }
  for (std::size_t p = 0; p < layer.cells.size(); ++p) {
    const std::span<const std::byte> weights =
        layer.of->projections[p].expert(static_cast<std::size_t>(expert));
    const TensorRef cells(layer.cells[p]);
    device_.write(cells->buffer, cells->offset + at * weights.size(), weights);
    layer.run.bytes_moved += weights.size();
  }
  ++layer.run.promotions;
  layer.expert_in[at] = expert;
  layer.cell_of[static_cast<std::size_t>(expert)] = cell;
}

std::int32_t ExpertResidency::least_used(const Layer& layer,
                                         std::span<const std::int32_t> spared) const {
  std::int32_t best = kNone;
  double min = 0;
  for (std::int32_t cell = 0; cell < cells_; ++cell) {
    const std::int32_t expert = layer.expert_in[static_cast<std::size_t>(cell)];
    if (expert == kNone) {
      return cell;
    }
    const double count = layer.counts[static_cast<std::size_t>(expert)];
    if (std::ranges::find(spared, expert) == spared.end() && (best == kNone || count < min)) {
      best = cell;
      min = count;
    }
  }
  return best;
}

void ExpertResidency::count(Layer& layer, std::span<const std::int32_t> ids, std::int64_t rows) {
  const std::size_t used = ids.size() / static_cast<std::size_t>(rows);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    bool all_here = true;
    for (const std::int32_t id : ids.subspan(r * used, used)) {
      if (id < 0 || id >= setup_.store.experts()) {
        continue;  // no expert: its products are zeros
      }
      const bool here = layer.cell_of[static_cast<std::size_t>(id)] != kNone;
      ++(here ? layer.run.hits : layer.run.misses);
      const bool on_device = here || setup_.options.misses == ExpertMiss::upload;
      ++(on_device ? layer.run.calls_device : layer.run.calls_host);
      all_here = all_here && on_device;
    }
    ++(all_here ? layer.run.tokens_device : layer.run.tokens_host);
  }
}

void ExpertResidency::count_uses(Layer& layer, std::span<const std::int32_t> ids) const {
  for (const std::int32_t id : ids) {
    if (id >= 0 && id < setup_.store.experts()) {
      layer.counts[static_cast<std::size_t>(id)] += 1;
    }
  }
}

void ExpertResidency::add_uses(Layer& layer) {
  const std::vector<std::int32_t> now = device_.to_host<std::int32_t>(layer.uses);
  for (std::size_t e = 0; e < now.size(); ++e) {  // they may begin anew at 0
    layer.counts[e] +=
        static_cast<std::uint32_t>(now[e]) - static_cast<std::uint32_t>(layer.seen[e]);
  }
  layer.seen = now;
}

void ExpertResidency::place(const Placement& placement, std::span<std::int32_t> table) {
  const auto& [index, round, rows, ids, stopped] = placement;
  Layer& layer = layers_[index];
  if (round == 0) {
    layer.waiting.clear();
    layer.served.clear();
    count(layer, ids, rows);
    if (stopped) {
      add_uses(layer);
    } else {
      count_uses(layer, ids);
    }
    for (const std::int32_t id : ids) {
      if (id >= 0 && id < setup_.store.experts() &&
          std::ranges::find(layer.waiting, id) == layer.waiting.end()) {
        layer.waiting.push_back(id);
      }
    }
    // Those that are here go first, so that no round moves one out before it is used.
    std::stable_partition(layer.waiting.begin(), layer.waiting.end(), [&](std::int32_t id) {
      return layer.cell_of[static_cast<std::size_t>(id)] != kNone;
    });
  }
  const std::size_t served = std::min(layer.waiting.size(), static_cast<std::size_t>(cells_));
  const std::span<const std::int32_t> now = std::span(layer.waiting).first(served);
  std::ranges::fill(table, kNone);
  for (const std::int32_t id : layer.served) {
    table[static_cast<std::size_t>(id)] = kServed;
  }
  bool moved = false;
  for (const std::int32_t id : now) {
    if (layer.cell_of[static_cast<std::size_t>(id)] == kNone) {
      promote(layer, id, least_used(layer, now));
      moved = true;
    }
    table[static_cast<std::size_t>(id)] = layer.cell_of[static_cast<std::size_t>(id)];
    layer.served.push_back(id);
  }
  if (stopped && moved) {
    write_table(layer);
  }
  layer.waiting.erase(layer.waiting.begin(),
                      layer.waiting.begin() + static_cast<std::ptrdiff_t>(served));
}

void ExpertResidency::refresh(Layer& layer) {
  add_uses(layer);
  std::vector<std::int32_t> order(layer.counts.size());
  std::iota(order.begin(), order.end(), 0);
  const auto by_count = [&](std::int32_t id) { return layer.counts[static_cast<std::size_t>(id)]; };
  std::ranges::stable_sort(order, std::greater(), by_count);
  const auto wanted = std::span(order).first(static_cast<std::size_t>(cells_));
  bool changed = false;
  for (const std::int32_t expert : wanted) {
    if (layer.cell_of[static_cast<std::size_t>(expert)] != kNone) {
      continue;
    }
    const std::int32_t cell = least_used(layer, wanted);
    const std::int32_t other = layer.expert_in[static_cast<std::size_t>(cell)];
    if (other == kNone || by_count(other) < by_count(expert)) {
      promote(layer, expert, cell);
      changed = true;
    }
  }
  if (changed) {
    write_table(layer);
  }
  for (double& n : layer.counts) {
    n *= static_cast<double>(setup_.options.decay);
  }
}

void ExpertResidency::begin_run() {
  const std::uint32_t interval = setup_.options.refresh_interval;
  if (interval != 0 && runs_ != 0 && runs_ % interval == 0 && cells_ < setup_.store.experts()) {
    std::ranges::for_each(layers_, [&](Layer& layer) { refresh(layer); });
  }
}

void ExpertResidency::end_run(std::span<const LayerRun> ran) {
  ++runs_;
  for (const LayerRun& r : ran) {
    Layer& layer = layers_[r.layer];
    layer.run.runs = 1;
    layer.run.stall_ns = r.idle_ns;
    if (r.stops || cells_ == setup_.store.experts()) {  // what the host did not see are hits
      const auto tokens = static_cast<std::uint64_t>(r.rows) * r.iterations;
      const std::uint64_t calls = tokens * static_cast<std::uint64_t>(r.used);
      layer.run.tokens_device = tokens;
      layer.run.hits = calls - layer.run.misses;
      layer.run.calls_device = calls;
    }
    layer.total += layer.run;
    layer.last = std::exchange(layer.run, {.layer = layer.of->name});
  }
}

std::size_t ExpertResidency::layer_of(std::string_view name) const {
  return static_cast<std::size_t>(&setup_.store.layer(name) - setup_.store.layers().data());
}

void ExpertResidency::set_resident(const std::vector<bool>& resident) {
  for (const Layer& layer : layers_) {
    set_resident(layer.of->name, resident);
  }
}

void ExpertResidency::set_resident(std::string_view name, const std::vector<bool>& resident) {
  Layer& layer = layers_[layer_of(name)];
  if (resident.size() != layer.cell_of.size()) {
    throw_error(ErrorCode::size_mismatch, "The layer '", layer.of->name, "' has ",
                layer.cell_of.size(), " experts, but got (", resident.size(), ") flags.");
  }
  const auto wanted = std::ranges::count(resident, true);
  if (wanted > cells_) {
    throw_invalid_argument("The layer '", layer.of->name, "' has ", cells_, " cells, but (", wanted,
                           ") experts are to have one.");
  }
  if (cells_ == setup_.store.experts() && wanted < cells_) {
    throw_invalid_argument(
        "The layer '", layer.of->name,
        "' has a cell for each expert, and nothing that would serve misses; give it a budget "
        "to keep fewer than (",
        cells_, ").");
  }
  std::vector<std::int32_t> experts;
  for (std::size_t e = 0; e < resident.size(); ++e) {
    if (resident[e]) {
      experts.push_back(static_cast<std::int32_t>(e));
    } else if (const std::int32_t cell = std::exchange(layer.cell_of[e], kNone); cell != kNone) {
      layer.expert_in[static_cast<std::size_t>(cell)] = kNone;
      ++layer.run.demotions;
    }
  }
  for (const std::int32_t expert : experts) {
    if (layer.cell_of[static_cast<std::size_t>(expert)] == kNone) {
      promote(layer, expert, least_used(layer, experts));
    }
  }
  write_table(layer);
}

std::vector<bool> ExpertResidency::resident(std::string_view layer) const {
  std::vector<bool> flags;
  for (const std::int32_t cell : layers_[layer_of(layer)].cell_of) {
    flags.push_back(cell != kNone);
  }
  return flags;
}

}  // namespace reprise
