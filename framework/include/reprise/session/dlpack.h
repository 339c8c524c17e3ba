// DLPack: tensors in the memory of the host, exchanged with other libraries without a copy.
// https://dmlc.github.io/dlpack. A program that looks into a DLManagedTensor includes
// <dlpack/dlpack.h> itself.
#pragma once
#include <string>

#include "reprise/session/device.h"

struct DLManagedTensor;

namespace reprise {

struct FromDlpack {
  std::string name{};
  bool copy = false;  // never in place
};

/// A persistent tensor of the values of a CPU tensor. Takes it over: its deleter is called exactly
/// once, whether this throws or not, on any thread; it must not own a Device.
/// Contiguous tensors are used in place where the device can: they cannot be written
/// (Device::import), the memory must not change, and the deleter is called when the last tensor,
/// graph or encoding that uses it is gone. Everything else is copied, strided tensors to contiguous
/// ones, and the deleter called before this returns. A scalar becomes a tensor [1].
/// Errors: invalid_argument for null pointers, ndim or extents below 0, no elements, sizes that
/// wrap; unsupported for memory of other devices, negative strides, more than 4 dimensions and
/// dtypes other than f32, f16, bf16, i32, i64; out_of_memory.
[[nodiscard]] Tensor from_dlpack(const Device& device, DLManagedTensor* tensor,
                                 FromDlpack options = {});

/// The memory of a persistent tensor of a device that computes on the host, as others may use it:
/// no copy. Waits for the work in flight that uses it. From then on nothing orders what others do
/// with the memory and what sessions do: wait for the one before the other begins. Until the
/// deleter is called, which may happen on any thread and after the device is closed, the memory
/// stays, also if the tensor is freed (Device::free).
/// `byte_offset` is 0 and `data` the first element, which not all consumers would expect otherwise.
/// Errors: unsupported for other devices, memory that is not mapped or used in place, and block
/// formats; invalid_argument for a session's transient and another device's tensor; stale.
[[nodiscard]] DLManagedTensor* to_dlpack(const Device& device, const Tensor& tensor);

}  // namespace reprise
