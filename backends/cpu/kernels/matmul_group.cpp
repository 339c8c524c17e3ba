// matmul_group: the items of its products, one product after another. All have the same rows of x,
// so that what is prepared of them for one serves all.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/matmul_group.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/plan_product-inl.h"
#include "backends/cpu/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t kMost = 3;

struct Products {
  Product each[kMost];  // first: to prepare the rows of x, they are the first product
  void (*run)(const Work&, std::int64_t first, std::int64_t end);
  std::int64_t ends[kMost];  // of their items; of products that are not there the end of the last
};

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& products = work.as<Products>();
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < kMost; begin = products.ends[i++]) {
    const std::int64_t from = std::max(first, begin);
    const std::int64_t to = std::min(end, products.ends[i]);
    if (from < to) {
      Work one = work;
      one.arguments = &products.each[i];
      products.run(one, from - begin, to - begin);
    }
  }
}

}  // namespace

bool plan_matmul_group(const KernelCall& call, KernelPlan& plan) {
  static_assert(offsetof(Products, each) == 0);
  const HostTensor& x = call.tensors[0];
  Products products{};
  std::int64_t items = 0;
  double ns = 0;
  for (std::size_t i = 0; i < kMost; ++i) {
    const HostTensor& w = call.tensors[1 + i];
    const HostTensor& y = call.tensors[1 + kMost + i];
    if (w) {
      products.each[i] = product_of(x, w, {}, y);
      if (!plan_product(products.each[i], w.dtype(), call.precision, plan)) {
        return false;
      }
      items += plan.main.items;
      ns += static_cast<double>(plan.main.items) * plan.main.item_ns;
    }
    products.ends[i] = items;
  }
  products.run = plan.main.run;
  plan.main = {run, items, ns / static_cast<double>(std::max<std::int64_t>(items, 1))};
  plan.set_arguments(products);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(matmul_group)
#endif
