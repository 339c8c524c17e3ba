// The source and the code of a kernel of a capture, out of the database.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "debugger/model/read_scheduler.h"
#include "debugger/model/spirv_text.h"

namespace reprise::debugger {

struct KernelKey {
  CaptureKey capture;
  std::uint32_t kernel = 0;  // of Capture::kernels
  bool operator==(const KernelKey&) const = default;
};
struct KernelCode {
  std::string entry, spirv_hash;
  std::optional<std::uint64_t> spirv_bytes, create_ns;
  std::vector<std::string> source;  // printable lines; none if the file has no source of at most
                                    // 1 MiB
  SpirvText spirv;
};

/// Throws invalid_argument if the database has no such kernel, io as the readers.
KernelCode read_kernel_code(const std::filesystem::path& path, const KernelKey& key,
                            const std::stop_token& stop);

/// A query for all of a capture, without their SPIR-V.
std::string kernels_sql(CaptureId id);

struct KernelConstant {
  std::uint32_t number = 0;
  std::string name, value;
  bool operator==(const KernelConstant&) const = default;
};
/// What a kernel was specialised with, with the names that its code gives. Of a JSON that is no
/// object nothing.
std::vector<KernelConstant> constants_of(const Capture::Kernel& kernel, const SpirvText& code);

/// Returns whether it is a function of the backend, no shader.
bool is_function(const Capture::Kernel& kernel);
/// Where the source of a kernel of this project would lie: "shaders/matmul.comp" of matmul.f32.
std::string usual_source_of(const Capture::Kernel& kernel);

}  // namespace reprise::debugger
