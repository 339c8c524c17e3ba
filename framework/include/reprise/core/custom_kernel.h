// Kernels of the caller's own, compiled while the program runs: a shader, a function for the CPU,
// or both. A call of one is a node like any other: docs/custom-kernels.md.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/core/operand.h"

namespace reprise {

struct HostCall;
struct HostTensor;
struct ShaderInterface;
struct Site;

/// A storage buffer of the shader, or a tensor of the function on the CPU. Its number is its place
/// in KernelInterface::bindings.
struct KernelBinding {
  std::string name;
  /// A call brings `read` and `read_write` tensors and makes `write` ones. A `read` one is declared
  /// `readonly` in the shader. Hazards are derived from this alone.
  Access access = Access::read;
  DTypeSet dtypes = 0xFFFFFFFF;  // default: any; accepts({DType::f32})
  bool operator==(const KernelBinding&) const = default;
};

/// A named word of the push constants, or two words for param_i32 and param_f32: a Param, {value,
/// word of the state}, which shaders read with shaders/include/state.glsl.
struct KernelField {
  std::string name;
  AttributeType type = AttributeType::i32;  // not boolean
  std::uint32_t offset = 0;                 // bytes, a multiple of 4
  bool operator==(const KernelField&) const = default;
};

/// The interface of a kernel. Up to 12 bindings: first those that a call brings, then up to 4 that
/// it makes.
struct KernelInterface {
  std::vector<KernelBinding> bindings{};
  std::uint32_t push_bytes = 0;  // a multiple of 4
  /// Words without a name are called "push.<word>" in reports.
  std::vector<KernelField> fields{};
  /// Specialization constants by id, as bits. An id may be any that the shader has.
  std::map<std::uint32_t, std::uint32_t> constants{};
  /// The axis of the grid along which workgroups take rows in order, 0 to 2. With it, tensors of a
  /// call may have an extent of the state: a launch of n of b rows runs the first
  /// ceil(n * groups / b) workgroups along it. Empty: the kernel takes no extents.
  std::optional<std::uint32_t> rows_axis{};
  bool operator==(const KernelInterface&) const = default;

  static constexpr std::size_t kMaxBindings = 12;
  /// Returns whether a field may live in the state: then the state block is bound after all
  /// bindings.
  bool reads_state() const;
};

/// Checks that a kernel can have this interface.
/// Errors: invalid_argument, naming the kernel and the binding or field, for more or other bindings
/// than above, two of one name, fields that overlap or leave the push constants.
void require_sound(std::string_view kernel, const KernelInterface& interface);

/// Checks that the shader has this interface.
/// Errors: invalid_argument if not, naming the binding and both declarations.
void require_match(std::string_view kernel, const KernelInterface& interface,
                   const ShaderInterface& shader);

/// One run of a kernel on the CPU. In the accessors float is f32, std::int32_t i32, std::int64_t
/// i64, std::uint16_t the bits of f16 and bf16, std::byte the bytes of any dtype.
/// Errors: invalid_argument from accessors if the binding is out of range, or the access or the
/// dtype differs from its interface.
/// Lifetime: valid during the call only.
class KernelRun {
 public:
  KernelRun(const KernelInterface& interface, std::string_view name, const HostCall& call,
            std::span<const std::byte> push, const Grid& grid)
      : interface_(interface), name_(name), call_(call), push_(push), grid_(grid) {}

  std::string_view name() const { return name_; }
  /// Returns the grid of the call. With an extent, that of the bucket: the specs have the rows.
  const Grid& grid() const { return grid_; }
  std::size_t binding_count() const;
  const TensorSpec& spec(std::size_t binding) const;

  /// Returns a binding that is `read` or `read_write`.
  template <class T>
  std::span<const T> read(std::size_t binding) const {
    return elements<T>(binding, Access::read);
  }
  /// Returns a binding that is `write` or `read_write`. A `write` one is unspecified before; the
  /// run has to write all of it.
  template <class T>
  std::span<T> write(std::size_t binding) const {
    return elements<T>(binding, Access::write);
  }
  /// Returns the push constants of the call.
  /// Errors: invalid_argument if P has a different size.
  template <class P>
  P push() const {
    static_assert(std::is_trivially_copyable_v<P>);
    P value;
    copy_push(&value, sizeof(P));
    return value;
  }
  /// Returns a parameter as this run sees it: the constant, or the field of the state.
  template <class T>
  T value(const Param<T>& param) const {
    return param.dynamic() ? std::bit_cast<T>(state_word(param.word)) : param.value;
  }

 private:
  const HostTensor& at(std::size_t binding) const;
  std::span<std::byte> bytes(std::size_t binding, Access access, DTypeSet dtypes) const;
  std::uint32_t state_word(std::uint32_t word) const;
  void copy_push(void* to, std::size_t bytes) const;

  template <class T>
  std::span<T> elements(std::size_t binding, Access access) const {
    DTypeSet dtypes = 0xFFFFFFFF;
    if constexpr (HostElement<T>) {
      dtypes = accepts({kDTypeOf<T>});
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

/// The function that the CPU runs for a call, once for the whole grid. It must not use sessions or
/// graphs of the device it runs on.
/// Errors: an exception loses the device, as a failing GPU would be lost; the error names the node.
/// Lifetime: it must not own a device, an executor or a graph, because it is destroyed on any
/// thread.
/// Threads: called on the thread that runs its submission; on several at once where several devices
/// share it.
using KernelFunction = std::function<void(const KernelRun&)>;

/// The source of a kernel. Devices that run shaders need `glsl` or `spirv`, the CPU needs
/// `function`. A kernel that has both runs anywhere.
struct KernelSource {
  std::string name{};  // 1 to 64 of A-Z a-z 0-9 _ . -; nodes are of the op "kernel:<name>"
  std::string glsl{};  // up to 1 MiB
  std::vector<std::uint32_t> spirv{};  // up to 4 MiB
  /// Text for #include "name", beside the files of shaders/include ("state.glsl", "index.glsl").
  /// Nothing else can be included: no file is opened.
  std::map<std::string, std::string> includes{};
  KernelFunction function{};
};

/// Facts about a compiled kernel; those that its device does not report are empty.
struct CustomKernelInfo {
  std::optional<std::array<std::uint32_t, 3>> local_size;  // invocations of a workgroup
  std::uint32_t push_bytes = 0;
  std::optional<std::uint64_t> shared_bytes;  // of a workgroup
  std::map<std::uint32_t, std::uint32_t> constants;
  std::optional<std::uint64_t> create_ns;  // making the pipeline, by the driver
  std::vector<std::uint32_t> spirv;        // with the constants in place
};

struct CustomOp;

/// A handle on a compiled kernel, returned by Device::compile_kernel. Copies are the same kernel.
/// Lifetime: sessions and graphs keep the kernels they call, so the handle may be dropped at once.
/// Threads: all members may be called concurrently.
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

/// The push constants of one call: nothing, or any struct without gaps, whose Params may be
/// constants or fields of the state.
/// Lifetime: borrowed for the length of the call.
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

/// Records one call and returns the tensors it makes. `inputs` are contiguous tensors for the
/// `read` and `read_write` bindings, in order. `outputs` are shapes and dtypes for the `write`
/// bindings. `grid` counts workgroups, at least 1 along each axis.
/// Errors: invalid_argument for other numbers of tensors, dtypes, empty tensors, other sizes of
/// push constants, an empty grid, an extent that the kernel does not take or that not all tensors
/// it makes have, a kernel of a different device; unsupported for grids above the limits of the
/// device and for views that begin where it cannot bind. Tensors above its storage range are
/// unsupported when the session is planned or encoded.
std::vector<Tensor> dispatch(Site site, const CustomKernel& kernel,
                             const std::vector<TensorRef>& inputs,
                             const std::vector<TensorSpec>& outputs, const KernelPush& push,
                             const Grid& grid);

}  // namespace reprise
