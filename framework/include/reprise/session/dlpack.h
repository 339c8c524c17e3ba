// DLPack: tensors in the memory of the host, exchanged with other libraries without a copy. A
// program that looks into a DLManagedTensor includes <dlpack/dlpack.h> itself.
// Source: https://dmlc.github.io/dlpack.
#pragma once
#include <string>

#include "reprise/session/device.h"

struct DLManagedTensor;

namespace reprise {

struct FromDlpack {
  std::string name{};
  bool copy = false;  // never in place
};

/// Makes a persistent tensor from a CPU tensor. A scalar becomes a tensor [1]. Contiguous tensors
/// are used in place where the device can; they cannot be written (Device::import), and the memory
/// must not change. Everything else is copied, strided tensors to contiguous ones.
/// Errors: invalid_argument for null pointers, ndim or extents below 0, no elements, sizes that
/// wrap; unsupported for memory of other devices, negative strides, more than 4 dimensions and
/// dtypes other than f32, f16, bf16, i32, i64; out_of_memory.
/// Lifetime: takes over `tensor`. Its deleter is called exactly once, also after an error. If the
/// memory is used in place, that is when the last tensor, graph or encoding that uses it is gone;
/// if copied, before this returns.
/// Threads: the deleter may run on any thread; it must not own a Device.
[[nodiscard]] Tensor from_dlpack(const Device& device, DLManagedTensor* tensor,
                                 FromDlpack options = {});

/// Shares the memory of a persistent tensor of a device that computes on the host, without a copy.
/// Waits for the work in flight that uses it. From then on nothing orders accesses of others and of
/// sessions: finish one before beginning the other. `byte_offset` is 0 and `data` the first
/// element, because not all consumers handle other offsets.
/// Errors: unsupported for other devices, memory that is not mapped or used in place, and block
/// formats; invalid_argument for a session's transient and another device's tensor; stale.
/// Lifetime: the memory stays until the deleter is called, also if the tensor is freed
/// (Device::free) or the device is closed.
/// Threads: the deleter may be called on any thread.
[[nodiscard]] DLManagedTensor* to_dlpack(const Device& device, const Tensor& tensor);

}  // namespace reprise
