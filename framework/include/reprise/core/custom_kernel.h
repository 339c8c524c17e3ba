// Kernels of the caller's own, brought while the program runs: a shader, a function for the CPU, or
// both. A call of one is a node like any other: docs/custom-kernels.md.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/core/kernel_interface.h"
#include "reprise/core/recorder.h"
#include "reprise/core/run_time_shader.h"
#include "reprise/core/step.h"

namespace reprise {

/// One run of a kernel on the CPU; valid during the call only. The accessors throw invalid_argument
/// for a binding that there is not, for another access than its interface says and for another
/// dtype: float is f32, std::int32_t i32, std::int64_t i64, std::uint16_t the bits of f16 and bf16,
/// std::byte the bytes of any dtype.
class KernelRun {
 public:
  KernelRun(const KernelInterface& interface, std::string_view name, const HostCall& call,
            std::span<const std::byte> push, const Grid& grid)
      : interface_(interface), name_(name), call_(call), push_(push), grid_(grid) {}

  std::string_view name() const { return name_; }
  const Grid& grid() const { return grid_; }
  std::size_t binding_count() const { return call_.tensors.size(); }
  const TensorSpec& spec(std::size_t binding) const { return *at(binding).spec; }

  /// A binding that is `read` or `read_write`.
  template <class T>
  std::span<const T> read(std::size_t binding) const {
    return elements<T>(binding, Access::read);
  }
  /// A binding that is `write` (unspecified before, all of it is to be written) or `read_write`.
  template <class T>
  std::span<T> write(std::size_t binding) const {
    return elements<T>(binding, Access::write);
  }
  /// What the call pushed. Throws invalid_argument if P is of another size.
  template <class P>
  P push() const {
    static_assert(std::is_trivially_copyable_v<P>);
    P value;
    copy_push(&value, sizeof(P));
    return value;
  }
  /// A parameter as this run sees it: the constant, or the field of the state.
  template <class T>
  T value(const Param<T>& param) const {
    return call_.value(param);
  }

 private:
  const HostTensor& at(std::size_t binding) const;
  std::span<std::byte> bytes(std::size_t binding, Access access, DTypeSet dtypes) const;
  void copy_push(void* to, std::size_t bytes) const;

  template <class T>
  std::span<T> elements(std::size_t binding, Access access) const {
    DTypeSet dtypes = 0xFFFFFFFF;
    if constexpr (std::is_same_v<T, float>) {
      dtypes = accepts({DType::f32});
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
      dtypes = accepts({DType::i32});
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      dtypes = accepts({DType::i64});
    } else if constexpr (std::is_same_v<T, std::uint16_t>) {
      dtypes = accepts({DType::f16, DType::bf16});
    } else {
      static_assert(std::is_same_v<T, std::byte>);
    }
    const std::span<std::byte> all = bytes(binding, access, dtypes);
    return {reinterpret_cast<T*>(all.data()), all.size() / sizeof(T)};
  }

  const KernelInterface& interface_;
  std::string_view name_;
  const HostCall& call_;
  std::span<const std::byte> push_;
  Grid grid_;
};

/// What the CPU runs for a call, once for the whole grid, on the thread that runs its submission.
/// It may run on several threads at once where several devices share it, must not use sessions or
/// graphs of the device it runs on, and is destroyed on any thread, so it must not own a device, an
/// executor or a graph. What it throws loses the device, as a failing GPU would be lost: the error
/// names the node.
using KernelFunction = std::function<void(const KernelRun&)>;

/// Devices that run shaders need `glsl` or `spirv`, the CPU needs `function`. A kernel that has
/// both runs anywhere.
struct KernelSource {
  std::string name{};  // 1 to 64 of A-Z a-z 0-9 _ . -; nodes are of the op "kernel:<name>"
  std::string glsl{};  // up to 1 MiB
  std::vector<std::uint32_t> spirv{};  // up to 4 MiB
  /// Text for #include "name", beside the files of shaders/include ("state.glsl", "index.glsl").
  /// Nothing else can be included: no file is opened.
  std::map<std::string, std::string> includes{};
  KernelFunction function{};
};

/// What is known of a compiled kernel; what its device does not tell is empty.
struct CustomKernelInfo {
  std::optional<std::array<std::uint32_t, 3>> local_size;  // invocations of a workgroup
  std::uint32_t push_bytes = 0;
  std::optional<std::uint64_t> shared_bytes;  // of a workgroup
  std::map<std::uint32_t, std::uint32_t> constants;
  std::optional<std::uint64_t> create_ns;  // making the pipeline, by the driver
  std::vector<std::uint32_t> spirv;        // with the constants in place
};

struct CustomOp;

/// A handle on a compiled kernel, got from Device::compile_kernel. Copies are the same kernel;
/// all members may be called concurrently. Sessions and graphs keep the kernels they call: the
/// handle may be dropped at once.
class CustomKernel {
 public:
  CustomKernel() = default;
  explicit CustomKernel(std::shared_ptr<const CustomOp> op) : op_(std::move(op)) {}
  explicit operator bool() const { return op_ != nullptr; }
  const CustomOp& op() const { return *op_; }
  std::string_view name() const;
  const KernelInterface& interface() const;
  CustomKernelInfo info() const;

 private:
  std::shared_ptr<const CustomOp> op_;
};

/// The push constants of one call, borrowed for its length: nothing, or any struct without gaps,
/// whose Params may be constants or fields of the state.
class KernelPush {
 public:
  KernelPush() = default;
  template <class P>
  KernelPush(const P& push)  // NOLINT(google-explicit-constructor)
      : bytes_(std::as_bytes(std::span(&push, 1))) {
    static_assert(std::is_trivially_copyable_v<P> && !std::is_pointer_v<P>);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

/// Records one call. `inputs` are the tensors for the bindings that are `read` or `read_write`, in
/// order, contiguous; `outputs` the shapes and dtypes for those that are `write`, which are
/// returned. `grid` counts workgroups, at least 1 along each axis.
/// Errors: invalid_argument for other numbers of tensors, dtypes, empty tensors, other sizes of
/// push constants, an empty grid, tensors with an extent of the state, a kernel of another device;
/// unsupported for grids above the limits of the device and for views that begin where it cannot
/// bind. Tensors above its storage range are unsupported when the session is planned or encoded.
std::vector<Tensor> dispatch(Site site, const CustomKernel& kernel,
                             const std::vector<TensorRef>& inputs,
                             const std::vector<TensorSpec>& outputs, const KernelPush& push,
                             const Grid& grid);

}  // namespace reprise
