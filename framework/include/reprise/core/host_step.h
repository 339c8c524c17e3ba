// Host steps: functions of the caller that run on the host, between the steps of a device.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/core/tensor.h"

namespace reprise {

/// A contiguous tensor in host memory.
/// Lifetime: the length of one call.
struct HostStepTensor {
  TensorSpec spec;
  std::span<std::byte> bytes;
};

/// The owner of the graph of a host step, where several graphs run the same function. The owner
/// derives from it, and the function casts it back.
class HostContext {
 public:
  virtual ~HostContext() = default;

 protected:
  HostContext() = default;
  HostContext(const HostContext&) = default;
  HostContext& operator=(const HostContext&) = default;
};

/// One run of a host step: what it reads and where it writes. In the typed accessors float is f32,
/// std::int32_t i32, std::int64_t i64; std::byte is the bytes of any dtype.
/// Errors: invalid_argument if the index is out of range, dtype_mismatch.
/// Lifetime: valid during the call only.
class HostStepCall {
 public:
  HostStepCall(std::string_view name, std::span<const HostStepTensor> inputs,
               std::span<const HostStepTensor> outputs, const HostStepTensor* in_place,
               HostContext* context = nullptr)
      : name_(name), inputs_(inputs), outputs_(outputs), in_place_(in_place), context_(context) {}

  std::string_view name() const { return name_; }
  /// Returns the owner; null unless the graph has an owner of that kind.
  HostContext* context() const { return context_; }
  std::size_t input_count() const { return inputs_.size(); }
  std::size_t output_count() const { return outputs_.size(); }
  const TensorSpec& input_spec(std::size_t i) const { return at("input", inputs_, i).spec; }
  const TensorSpec& output_spec(std::size_t i) const { return at("output", outputs_, i).spec; }
  const TensorSpec& in_place_spec() const { return updated().spec; }

  template <class T = std::byte>
  std::span<const T> input(std::size_t i) const {
    return elements<T>("input", at("input", inputs_, i));
  }
  /// Returns an output. Its values are unspecified until the call writes them; it has to write all.
  template <class T = std::byte>
  std::span<T> output(std::size_t i) const {
    return elements<T>("output", at("output", outputs_, i));
  }
  /// Returns the tensor that is read and written in place.
  /// Errors: invalid_argument if there is none.
  template <class T = std::byte>
  std::span<T> in_place() const {
    return elements<T>("tensor in place", updated());
  }

 private:
  const HostStepTensor& at(std::string_view kind, std::span<const HostStepTensor> list,
                           std::size_t i) const;
  const HostStepTensor& updated() const;
  void require_dtype(std::string_view kind, const TensorSpec& spec, DType wanted) const;

  template <class T>
  std::span<T> elements(std::string_view kind, const HostStepTensor& tensor) const {
    if constexpr (HostElement<T>) {
      require_dtype(kind, tensor.spec, kDTypeOf<T>);
    } else {
      static_assert(std::is_same_v<T, std::byte>);
    }
    return {reinterpret_cast<T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
  }

  std::string_view name_;
  std::span<const HostStepTensor> inputs_, outputs_;
  const HostStepTensor* in_place_;
  HostContext* context_;
};

using HostFunction = std::function<void(HostStepCall&)>;

/// The work of a node of the op host_step.
struct HostStep {
  std::string name;
  std::vector<TensorSpec> outputs;
  HostFunction function;
};

}  // namespace reprise
