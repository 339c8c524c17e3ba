#include "backends/vulkan/large_stack.h"

#include <exception>
#include <pthread.h>
#include <string>

#include "reprise/core/error.h"

namespace reprise::vulkan {
namespace {

struct Job {
  const std::function<void()>& work;
  std::exception_ptr failure;
};

void* run(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  try {
    job.work();
  } catch (...) {
    job.failure = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_on_large_stack(std::size_t bytes, const std::function<void()>& work) {
  Job job{work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread{};
  const bool started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                       pthread_create(&thread, &attributes, run, &job) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) {
    throw_error(ErrorCode::out_of_memory, "A thread with a stack of (", bytes,
                ") bytes cannot be made; a shader is compiled on "
                "one.");
  }
  pthread_join(thread, nullptr);
  if (job.failure) {
    std::rethrow_exception(job.failure);
  }
}

}  // namespace reprise::vulkan
