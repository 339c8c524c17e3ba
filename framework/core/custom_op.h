// CustomOp: the op behind a kernel that a program brings while it runs. Its tables belong to it,
// where those of the library's ops last as long as the program: whoever keeps a pointer to an op
// keeps owner_of() it too.
#pragma once
#include <memory>

#include "framework/core/op.h"
#include "reprise/backend/run_time_shader.h"
#include "reprise/core/custom_kernel.h"

namespace reprise {

class Backend;

/// Immutable.
struct CustomOp final : OpDef, std::enable_shared_from_this<CustomOp> {
  /// The interface has to be sound. `hash`: of what the kernel computes; 0 if nothing is known.
  CustomOp(KernelSource from, KernelInterface declared, std::uint64_t hash,
           const std::shared_ptr<Backend>& backend, std::shared_ptr<const RunTimeShader> compiled);
  CustomOp(const CustomOp&) = delete;
  CustomOp& operator=(const CustomOp&) = delete;

  /// What precedes the push constants in the attributes of a call, without gaps.
  struct Header {
    std::uint64_t hash = 0;
    Grid grid{};
  };
  static constexpr std::uint32_t kPushOffset = sizeof(std::uint64_t) + sizeof(Grid);
  static Header header_of(std::span<const std::byte> attributes);
  std::vector<std::byte> attributes_of(const Grid& grid, std::span<const std::byte> push) const;
  /// Begins what is said of it.
  std::string title() const { return "The kernel '" + source.name + "'"; }

  const KernelSource source;  // the function only where the device runs it
  const std::string op_name;
  const KernelInterface interface;
  const std::uint64_t hash;
  const std::weak_ptr<Backend> device;
  const std::shared_ptr<const RunTimeShader> shader;  // null on the CPU

 private:
  void add_push_rows();
  std::vector<Operand> operand_rows_, result_rows_;
  std::vector<std::string> attribute_names_;
  std::vector<Attribute> attribute_rows_;
};

/// One call while it is recorded.
struct CustomCall : OpCall {
  std::span<const TensorSpec> outputs;  // what it is to make
};
/// The shape rule; see dispatch() for what it throws.
Outputs infer_custom(const OpCall& call);

/// The op as a kernel that a program brought; null for ops of the library.
const CustomOp* custom_op(const OpDef& op);

/// Throws invalid_argument if the op was compiled for another device.
void require_device(const OpDef& op, const Backend& device);

}  // namespace reprise
