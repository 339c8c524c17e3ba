#include "debugger/model/kernel_code.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "debugger/model/source_files.h"
#include "debugger/model/sql_values.h"
#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

constexpr std::size_t kMaxSourceBytes = std::size_t{1} << 20U;

std::string of_graph(CaptureId id) {
  return "FROM kernels k WHERE k.id IN (SELECT kernel_id FROM steps WHERE graph_id = " +
         std::to_string(id.graph) + ") ORDER BY k.id";
}

std::optional<std::uint64_t> count_of(const SqlValue& value) {
  const auto whole = whole_of(value);
  return whole && *whole >= 0 ? std::optional(static_cast<std::uint64_t>(*whole)) : std::nullopt;
}

std::vector<std::byte> bytes_of_hex(std::string_view hex) {
  std::vector<std::byte> bytes(hex.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned value = 0;
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, value, 16);
    bytes[i] = static_cast<std::byte>(value);
  }
  return bytes;
}

}  // namespace

KernelCode read_kernel_code(const std::filesystem::path& path, const KernelKey& key,
                            const std::stop_token& stop) {
  const CaptureId id = key.capture->summary.id;
  const std::string most_code = std::to_string(kMaxSpirvBytes);
  const std::string sql =
      "SELECT k.entry, k.spirv_hash, length(CAST(k.spirv AS BLOB)), k.pipeline_create_ns, "
      "CASE WHEN length(CAST(k.spirv AS BLOB)) <= " +
      most_code + " THEN hex(k.spirv) END, CASE WHEN length(CAST(k.source AS BLOB)) <= " +
      std::to_string(kMaxSourceBytes) + " THEN k.source END " + of_graph(id) + " LIMIT 1 OFFSET " +
      std::to_string(key.kernel);
  SqlLimits limits;
  limits.rows = 1;
  limits.text_bytes = std::max(2 * kMaxSpirvBytes, kMaxSourceBytes);
  const SqlResult result = run_sql(path, sql, limits, stop);
  if (result.rows.empty()) {
    throw_invalid_argument("The database has no kernel (", key.kernel, ") of graph (", id.graph,
                           ").");
  }
  const auto& row = result.rows.front();
  KernelCode code;
  code.entry = text_or_empty(row[0]);
  code.spirv_hash = text_or_empty(row[1]);
  code.spirv_bytes = count_of(row[2]);
  code.create_ns = count_of(row[3]);
  code.source = printable_lines(text_or_empty(row[5]));
  if (!code.spirv_bytes || *code.spirv_bytes == 0) {
    code.spirv.problem = "The database has no SPIR-V of this kernel.";
  } else if (*code.spirv_bytes > kMaxSpirvBytes) {
    code.spirv.problem =
        "The SPIR-V has (" + std::to_string(*code.spirv_bytes) + ") bytes; at most 1 MiB is shown.";
  } else {
    code.spirv = spirv_text(bytes_of_hex(text_or_empty(row[4])));
  }
  return code;
}

std::string kernels_sql(CaptureId id) {
  return "SELECT k.name, k.spec_json, k.local_x, k.local_y, k.local_z, k.push_bytes,"
         " k.shared_bytes, k.entry,\n  length(k.spirv) AS spirv_bytes, k.pipeline_create_ns / 1e3"
         " AS create_us, k.source\n" +
         of_graph(id);
}

std::vector<KernelConstant> constants_of(const Capture::Kernel& kernel, const SpirvText& code) {
  std::vector<KernelConstant> constants;
  // Of objects of objects no parser would come back: nothing here is deeper than one.
  const auto stop_at_depth = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    return depth <= 1;
  };
  const auto json = nlohmann::json::parse(kernel.constants_json, stop_at_depth, false);
  if (!json.is_object()) {
    return constants;
  }
  for (const auto& [key, value] : json.items()) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    if (error != std::errc() || end != key.data() + key.size()) {
      continue;
    }
    const auto named = std::find_if(code.constants.begin(), code.constants.end(),
                                    [&](const SpirvConstant& c) { return c.number == number; });
    constants.push_back({number, named == code.constants.end() ? "" : named->name,
                         value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)});
  }
  std::sort(constants.begin(), constants.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return constants;
}

bool is_function(const Capture::Kernel& kernel) {
  return kernel.local_size[0] == 0 &&
         (kernel.name == "reference" || kernel.name.find(':') != std::string::npos);
}

std::string usual_source_of(const Capture::Kernel& kernel) {
  return "shaders/" + kernel.name.substr(0, kernel.name.find('.')) + ".comp";
}

}  // namespace reprise::debugger
