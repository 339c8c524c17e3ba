// A program as calls of the library: the pass that every way of running it records.
#pragma once
#include <map>

#include "reprise/reprise.h"
#include "tests/crossed/program.h"

namespace reprise::crossed {

/// What a pass finds outside of its session.
struct Surroundings {
  std::map<Leaf, Tensor> tensors{};  // weights and written tensors; none in executable graphs,
  bool by_name = false;              // where they are params and inputs
  CustomKernel product{}, accumulate{};
};

/// Compiles the kernels that the program calls.
void compile_kernels(const Device& device, const Program& program, Surroundings& surroundings);

StateLayout layout_of(const Setup& setup);
bool is_input(Leaf leaf);
bool is_weight(Leaf leaf);
bool is_written(Leaf leaf);
DType dtype_of(Kind kind);
Kind kind_of(DType dtype);
/// Of the bucket, fixed.
Shape shape_of(Leaf leaf, const Setup& setup);

void record(GraphSession& session, const Program& program, const Surroundings& surroundings);

}  // namespace reprise::crossed
