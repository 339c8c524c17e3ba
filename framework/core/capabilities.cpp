#include <algorithm>
#include <cctype>

#include "reprise/core/device_info.h"

namespace reprise {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

}  // namespace

std::string_view name_of(SupportKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"native", "lowered", "unsupported"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<std::string> unmet(const DeviceRequirements& wanted, const DeviceInfo& device,
                               const BackendCapabilities& has) {
  std::vector<std::string> lines;
  const auto text = [&](const char* what, const std::string& want, const std::string& actual,
                        bool met) {
    if (!want.empty() && !met) {
      lines.push_back(joined_text(what, ": wanted (", want, "), has (", actual, ")"));
    }
  };
  const auto min = [&](const char* what, std::uint64_t want, std::uint64_t actual) {
    if (actual < want) {
      lines.push_back(joined_text(what, ": wanted at least (", want, "), has (", actual, ")"));
    }
  };
  const auto flag = [&](const char* what, bool want, bool actual) {
    if (want && !actual) {
      lines.push_back(joined_text(what, ": wanted, not there"));
    }
  };
  std::uint64_t memory = 0;
  for (const HeapInfo& heap : has.heaps) {
    memory = std::max(memory, heap.device_local ? heap.bytes : 0);
  }
  text("backend", wanted.backend, device.backend, wanted.backend == device.backend);
  text("type", wanted.type, device.type, wanted.type == device.type);
  text("name", wanted.name, device.name,
       lower_case(device.name).find(lower_case(wanted.name)) != std::string::npos);
  min("bytes of memory", wanted.memory_bytes, memory);
  min("bytes of a tensor that a kernel binds", wanted.binding_bytes, has.binding_bytes);
  min("bytes of a buffer", wanted.buffer_bytes, has.buffer_bytes);
  min("bytes of shared memory", wanted.shared_bytes, has.shared_bytes);
  min("storage buffers of a kernel", wanted.storage_buffers, has.storage_buffers);
  min("invocations of a workgroup", wanted.workgroup_invocations, has.max_workgroup_invocations);
  flag("timestamps", wanted.timestamps, has.timestamp_valid_bits != 0);
  flag("replays", wanted.replays, has.replays);
  flag("imported host memory", wanted.imports_host_memory, has.imports_host_memory);
  flag("mapped device memory", wanted.maps_device_memory, has.maps_device_memory);
  flag("subgroup arithmetic", wanted.subgroup_arithmetic, has.subgroup_arithmetic);
  flag("16-bit float arithmetic", wanted.float16, has.float16);
  flag("64-bit integer arithmetic", wanted.int64, has.int64);
  return lines;
}

}  // namespace reprise
