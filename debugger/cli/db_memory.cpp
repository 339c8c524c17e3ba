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
  Listing list{"tensors",
               {{"tensor", "tensor", Holds::numbers},
                {"name", "name"},
                {"role", "role"},
                {"dtype", "dtype"},
                {"shape", "shape"},
                {"pool", "pool", Holds::numbers},
                {"pool_kind", "kind"},
                {"offset_bytes", "offset", Holds::numbers},
                {"bytes", "bytes", Holds::numbers},
                {"first_step", "first", Holds::numbers},
                {"last_step", "last", Holds::numbers},
                {"alias_of", "alias of", Holds::numbers},
                {"at_peak", "at peak"}}};
  for (std::uint32_t t = 0; t < capture.tensors.size(); ++t) {
    const Capture::Tensor& tensor = capture.tensors[t];
    const bool placed = tensor.pool.has_value();
    list.rows.push_back({t, tensor.name, tensor.role, tensor.dtype, tensor.shape_json, tensor.pool,
                         placed ? capture.pools[*tensor.pool].kind : "",
                         placed ? Cell(tensor.offset_bytes) : Cell::none(), tensor.bytes,
                         tensor.first_step, tensor.last_step, tensor.alias_of, at_peak(map, t)});
  }
  return list;
}

Listing buffers_of(const std::vector<BufferSummary>& buffers) {
  Listing list{"buffers",
               {{"buffer", "buffer", Holds::numbers},
                {"name", "name"},
                {"kind", "kind"},
                {"bytes", "bytes", Holds::numbers},
                {"pool", "pool", Holds::numbers},
                {"allocated_ns", ""},
                {"freed_ns", ""}}};
  for (const BufferSummary& buffer : buffers) {
    list.rows.push_back({buffer.id, buffer.name, buffer.kind, buffer.bytes, buffer.pool,
                         buffer.allocated_ns, buffer.freed_ns});
  }
  return list;
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
