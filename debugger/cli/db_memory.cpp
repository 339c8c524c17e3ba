#include "debugger/cli/capture_reports.h"
#include "debugger/model/format.h"
#include "debugger/model/memory_map.h"

namespace reprise::cli {
namespace {

using debugger::MemoryMap;

/// Does it hold bytes of the arena while most are in use?
bool at_peak(const MemoryMap& map, std::uint32_t tensor) {
  const auto storage = map.storage_of[tensor];
  return storage && map.storages[*storage].first_step <= map.peak_step &&
         map.peak_step <= map.storages[*storage].last_step;
}

Listing tensors_of(const Capture& capture, const MemoryMap& map) {
  using Row = Capture::Tensor;
  constexpr Holds kTexts = Holds::texts, kNumbers = Holds::numbers;
  const auto index = [&](const Row& row) {
    return static_cast<std::uint32_t>(&row - capture.tensors.data());
  };
  return list_of<Row>(
      "tensors",
      {{"tensor", "tensor", kNumbers, index},
       {"name", "name", kTexts, &Row::name},
       {"role", "role", kTexts, &Row::role},
       {"dtype", "dtype", kTexts, &Row::dtype},
       {"shape", "shape", kTexts, &Row::shape_json},
       {"pool", "pool", kNumbers, &Row::pool},
       {"pool_kind", "kind", kTexts,
        [&](const Row& row) { return row.pool ? capture.pools[*row.pool].kind : ""; }},
       {"offset_bytes", "offset", kNumbers,
        [](const Row& row) { return row.pool ? Cell(row.offset_bytes) : Cell::none(); }},
       {"bytes", "bytes", kNumbers, &Row::bytes},
       {"first_step", "first", kNumbers, &Row::first_step},
       {"last_step", "last", kNumbers, &Row::last_step},
       {"alias_of", "alias of", kNumbers, &Row::alias_of},
       {"at_peak", "at peak", kTexts, [&](const Row& row) { return at_peak(map, index(row)); }}},
      capture.tensors);
}

Listing buffers_of(const std::vector<BufferSummary>& buffers) {
  using Row = BufferSummary;
  return list_of<Row>("buffers",
                      {{"buffer", "buffer", Holds::numbers, &Row::id},
                       {"name", "name", Holds::texts, &Row::name},
                       {"kind", "kind", Holds::texts, &Row::kind},
                       {"bytes", "bytes", Holds::numbers, &Row::bytes},
                       {"pool", "pool", Holds::numbers, &Row::pool},
                       {"allocated_ns", kNotInTables, Holds::texts, &Row::allocated_ns},
                       {"freed_ns", kNotInTables, Holds::texts, &Row::freed_ns}},
                      buffers);
}

}  // namespace

Report memory_report(const Captured& captured, const std::string& path) {
  const Capture& capture = captured.capture;
  const MemoryMap map = debugger::make_memory_map(capture);
  Report report;
  add_facts(captured, report);
  report.add_fact("arena_bytes", capture.arena_bytes);
  report.add_fact("live_peak_bytes", capture.live_peak_bytes);
  report.add_fact("unshared_bytes", capture.unshared_bytes);
  report.add_fact("peak_step", map.peak_step);
  report.heading = title_of(captured) + ": arena " + debugger::bytes_text(capture.arena_bytes) +
                   ", most in use " + debugger::bytes_text(capture.live_peak_bytes) + " at step " +
                   std::to_string(map.peak_step) + ", without sharing " +
                   debugger::bytes_text(capture.unshared_bytes);
  report.listings = {tensors_of(capture, map), buffers_of(read_buffers(path, capture.summary.id))};
  if (map.left_out > 0) {
    report.notes.push_back(std::to_string(map.left_out) +
                           " tensors have a place or steps that the arena does not have.");
  }
  return report;
}

void print_memory(const CaptureOptions& options) {
  memory_report(read_captured(options.path, options.wish), options.path).print(options.format);
}

}  // namespace reprise::cli
