// Cases that talk to the Backend interface alone.
#include <cstring>
#include <thread>

#include "reprise/backend/backend.h"
#include "reprise/backend/step.h"
#include "tests/conformance/conformance.h"

namespace reprise::testing {
namespace {

constexpr std::uint64_t kBytes = 1024;
using BufferRef = std::shared_ptr<Buffer>;

std::vector<std::byte> pattern(std::uint8_t seed) {
  std::vector<std::byte> bytes(kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(seed + i * 7);
  }
  return bytes;
}

BufferRef upload(Backend& backend, std::uint8_t seed) {
  auto buffer = backend.allocate("upload", kBytes, BufferKind::upload);
  std::memcpy(buffer->mapped(), pattern(seed).data(), kBytes);
  return buffer;
}

bool holds(const BufferRef& download, const std::vector<std::byte>& bytes) {
  return std::memcmp(download->mapped(), bytes.data(), kBytes) == 0;
}

/// Copies the first buffer to the second, that to the third, and so on, with barriers.
EncodingRef copies(Backend& backend, const std::vector<BufferRef>& chain, Way way,
                   std::shared_ptr<HostSignal> after = nullptr) {
  StepList steps;
  for (std::uint32_t i = 0; i + 1 < chain.size(); ++i) {
    steps.copy(StepList::kNoNode, {i, Access::read, BindingType::storage, 0, kBytes},
               {i + 1, Access::write, BindingType::storage, 0, kBytes});
  }
  auto encoder = backend.encoder({.name = "copies",
                                  .reusable = way == Way::recorded,
                                  .ends_at_host = true,
                                  .after = std::move(after)});
  encoder->begin_label("a label");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0) {
      encoder->barrier();
    }
    encoder->step(steps, i, chain);
  }
  encoder->end_label();
  return encoder->finish();
}

std::uint64_t submit(Backend& backend, const EncodingRef& encoding) {
  const EncodingRef list[] = {encoding};
  return backend.submit(list, AfterSubmit::will_continue);
}

void bytes_go_through_device_memory_and_back(const Device& device, Way way) {
  Backend& backend = device.backend();
  const BufferRef from = upload(backend, 1);
  const BufferRef middle = backend.allocate("middle", kBytes, BufferKind::device);
  const BufferRef to = backend.allocate("to", kBytes, BufferKind::download);
  const EncodingRef encoding = copies(backend, {from, middle, to}, way);
  for (std::uint8_t seed = 1; seed <= (way == Way::recorded ? 3 : 1); ++seed) {
    std::memcpy(from->mapped(), pattern(seed).data(), kBytes);
    backend.wait(submit(backend, encoding));
    require(holds(to, pattern(seed)),
            "submission " + std::to_string(seed) + " brought other bytes");
  }
}

void submissions_run_in_order_and_complete_in_order(const Device& device, Way way) {
  Backend& backend = device.backend();
  const BufferRef a = upload(backend, 1), b = upload(backend, 2);
  const BufferRef middle = backend.allocate("middle", kBytes, BufferKind::device);
  const BufferRef first = backend.allocate("first", kBytes, BufferKind::download);
  const BufferRef second = backend.allocate("second", kBytes, BufferKind::download);
  const std::uint64_t before = backend.last_submission();
  submit(backend, copies(backend, {a, middle}, way));
  submit(backend, copies(backend, {middle, first}, way));
  submit(backend, copies(backend, {b, middle}, way));
  const std::uint64_t last = submit(backend, copies(backend, {middle, second}, way));
  require(last == before + 4 && backend.last_submission() == last, "values grow by one");
  backend.wait(last);
  for (std::uint64_t s = before + 1; s <= last; ++s) {
    require(backend.complete(s), "an earlier submission is not complete");
  }
  require(backend.completed() == last, "completed() lags behind wait()");
  require(holds(first, pattern(1)) && holds(second, pattern(2)), "they ran in another order");
}

void an_empty_submission_completes(const Device& device, Way /*way*/) {
  Backend& backend = device.backend();
  backend.wait(backend.submit({}, AfterSubmit::will_wait));
}

void buffers_have_the_size_the_kind_and_the_name_they_were_made_with(const Device& device,
                                                                     Way /*way*/) {
  for (const BufferKind kind : {BufferKind::device, BufferKind::upload, BufferKind::download}) {
    const BufferRef buffer = device.backend().allocate("some name", 77, kind);
    require(buffer->bytes() == 77 && buffer->kind() == kind && buffer->name() == "some name",
            "a fact of the buffer differs");
    require(kind == BufferKind::device || buffer->mapped() != nullptr, "staging is not mapped");
    require(!buffer->freed(), "it is freed");
  }
}

void sizes_that_cannot_be_are_refused(const Device& device, Way /*way*/) {
  Backend& backend = device.backend();
  const std::uint64_t before = backend.allocation_count();
  require_error(ErrorCode::invalid_argument,
                [&] { (void)backend.allocate("none", 0, BufferKind::device); });
  require_error(ErrorCode::out_of_memory,
                [&] { (void)backend.allocate("all", ~std::uint64_t{0}, BufferKind::device); });
  require(backend.allocation_count() == before, "a refused allocation was counted");
}

void memory_is_counted_while_it_is_there(const Device& device, Way /*way*/) {
  Backend& backend = device.backend();
  const MemoryInfo before = backend.memory_info();
  {
    const BufferRef a = backend.allocate("a", 5000, BufferKind::device, MemoryPurpose::arenas);
    require(backend.memory_info().of(MemoryPurpose::arenas).bytes >=
                before.of(MemoryPurpose::arenas).bytes + 5000,
            "it is not counted");
  }
  require(backend.memory_info().total.bytes == before.total.bytes, "it is still counted");
  const BufferRef b = backend.allocate("b", 5000, BufferKind::device);
  backend.free(b);
  require(backend.memory_info().total.bytes == before.total.bytes, "freed memory is counted");
}

void freed_buffers_are_refused_and_counted(const Device& device, Way way) {
  Backend& backend = device.backend();
  const BufferRef from = upload(backend, 1);
  const BufferRef to = backend.allocate("to", kBytes, BufferKind::download);
  const EncodingRef encoding = copies(backend, {from, to}, way);
  const std::uint64_t frees = backend.free_count();
  backend.free(from);
  require(from->freed() && backend.free_count() == frees + 1, "it is not freed");
  backend.free(from);
  require(backend.free_count() == frees + 1, "freeing it again counts");
  require_error(ErrorCode::stale, [&] { submit(backend, encoding); });
  require_error(ErrorCode::stale, [&] { (void)copies(backend, {from, to}, way); });
}

void what_is_freed_in_flight_is_read_to_its_end(const Device& device, Way way) {
  Backend& backend = device.backend();
  const auto signal = backend.host_signal();
  const BufferRef from = upload(backend, 9);
  const BufferRef to = backend.allocate("to", kBytes, BufferKind::download);
  const std::uint64_t value = submit(backend, copies(backend, {from, to}, way, signal));
  require(backend.last_use(*from, Access::read) == value, "the use in flight is not known");
  require(backend.last_use(*from, Access::write) == 0, "a read is taken for a write");
  backend.free(from);
  backend.raise(signal);
  backend.wait(value);
  require(holds(to, pattern(9)), "the memory went while it was read");
  require(backend.last_use(*to, Access::write) == 0, "it is complete, but in use");
}

void submissions_wait_for_the_host_in_their_order(const Device& device, Way way) {
  Backend& backend = device.backend();
  const auto signal = backend.host_signal();
  const BufferRef from = upload(backend, 1);
  const BufferRef to = backend.allocate("to", kBytes, BufferKind::download);
  std::memset(to->mapped(), 0, kBytes);
  const std::uint64_t value = submit(backend, copies(backend, {from, to}, way, signal));
  require(!backend.complete(value), "it did not wait for the host");
  std::memcpy(from->mapped(), pattern(5).data(), kBytes);
  std::thread host([&] { backend.raise(signal); });
  if (device.info().backend == "vulkan") {
    // The validation layer (1.3.239) sometimes gives up on a semaphore that is signalled while
    // another thread waits behind it, and calls that a bug of its own.
    host.join();
  }
  backend.wait(value);
  if (host.joinable()) {
    host.join();
  }
  require(holds(to, pattern(5)), "it does not see what the host wrote before it raised");
}

void timestamps_grow(const Device& device, Way way) {
  Backend& backend = device.backend();
  constexpr std::uint32_t kStamps = 8;
  const auto stamps = backend.timestamps(kStamps);
  require(stamps != nullptr && stamps->count() == kStamps, "there are none");
  const BufferRef from = upload(backend, 1);
  const BufferRef to = backend.allocate("to", kBytes, BufferKind::download);
  const BufferRef ticks = backend.allocate("ticks", kStamps * 8, BufferKind::download);
  StepList steps;
  steps.copy(StepList::kNoNode, {0, Access::read, BindingType::storage, 0, kBytes},
             {1, Access::write, BindingType::storage, 0, kBytes});
  const BufferRef pools[] = {from, to};
  auto encoder = backend.encoder({.reusable = way == Way::recorded, .ends_at_host = true});
  encoder->reset(stamps);
  for (std::uint32_t i = 0; i < kStamps; ++i) {
    encoder->stamp(stamps, i);
    encoder->barrier();
    encoder->step(steps, 0, pools);
  }
  encoder->resolve(stamps, kStamps, ticks, 0);
  const EncodingRef encoding = encoder->finish();
  std::uint64_t last = 0;
  for (int run = 0; run < (way == Way::recorded ? 3 : 1); ++run) {
    backend.wait(submit(backend, encoding));
    for (std::uint32_t i = 0; i < kStamps; ++i) {
      std::uint64_t tick = 0;
      std::memcpy(&tick, ticks->mapped() + std::size_t{8} * i, sizeof tick);
      require(tick >= last && tick != 0, "a later stamp is earlier");
      last = tick;
    }
  }
}

void imported_memory_is_read_in_place(const Device& device, Way way) {
  Backend& backend = device.backend();
  constexpr std::size_t kPage = 4096;
  const std::shared_ptr<std::byte> page(
      static_cast<std::byte*>(::operator new (kPage, std::align_val_t{kPage})),
      [](std::byte* p) { ::operator delete (p, std::align_val_t{kPage}); });
  std::memcpy(page.get(), pattern(3).data(), kBytes);
  const BufferRef from = backend.import("page", {page.get(), kPage}, page);
  if (from == nullptr) {
    require(!device.capabilities().imports_host_memory, "it says it imports, but does not");
    throw Error(ErrorCode::unsupported, "Host memory is not imported.");
  }
  const BufferRef to = backend.allocate("to", kBytes, BufferKind::download);
  backend.wait(submit(backend, copies(backend, {from, to}, way)));
  require(holds(to, pattern(3)), "other bytes are read");
  require(from->mapped() == nullptr && from->kind() == BufferKind::imported, "it may be written");
}

void buffers_of_another_device_are_refused(const Device& device, Way way) {
  Backend& backend = device.backend();
  const Device other = open_device("cpu");
  const BufferRef foreign = other.allocate("foreign", kBytes);
  const BufferRef to = backend.allocate("to", kBytes, BufferKind::download);
  require_error(ErrorCode::invalid_argument, [&] { (void)copies(backend, {foreign, to}, way); });
  require_error(ErrorCode::invalid_argument, [&] { backend.free(foreign); });
}

void encodings_outlive_the_caller_s_buffers(const Device& device, Way way) {
  Backend& backend = device.backend();
  const BufferRef to = backend.allocate("to", kBytes, BufferKind::download);
  EncodingRef encoding = copies(backend, {upload(backend, 4), to}, way);
  const std::uint64_t value = submit(backend, encoding);
  encoding.reset();
  backend.wait(value);
  require(holds(to, pattern(4)), "the source went before it was read");
}

void trimming_changes_nothing_that_is_seen(const Device& device, Way way) {
  Backend& backend = device.backend();
  const BufferRef from = upload(backend, 6);
  const BufferRef to = backend.allocate("to", kBytes, BufferKind::download);
  EncodingRef encoding = copies(backend, {from, to}, way);
  const std::uint64_t value = submit(backend, encoding);
  backend.trim();
  backend.wait(value);
  backend.trim();
  encoding = copies(backend, {from, to}, way);
  backend.wait(submit(backend, encoding));
  require(holds(to, pattern(6)), "other bytes came");
}

void after_shutdown_only_questions_are_answered(const Device& device, Way way) {
  Backend& backend = device.backend();
  const BufferRef from = upload(backend, 8);
  const BufferRef to = backend.allocate("to", kBytes, BufferKind::download);
  const EncodingRef encoding = copies(backend, {from, to}, way);
  const std::uint64_t value = submit(backend, encoding);
  backend.shutdown();
  require(holds(to, pattern(8)), "it did not wait");
  require(backend.complete(value) && backend.life().state() == DeviceState::shut_down, "its state");
  backend.wait(value);
  require_error(ErrorCode::shut_down, [&] { submit(backend, encoding); });
  require_error(ErrorCode::shut_down, [&] { (void)backend.encoder({}); });
  require_error(ErrorCode::shut_down,
                [&] { (void)backend.allocate("late", 64, BufferKind::device); });
  backend.free(from);
}

void facts_are_filled_in(const Device& device, Way /*way*/) {
  const Backend& backend = device.backend();
  const BackendCapabilities& has = device.capabilities();
  require(
      !device.info().name.empty() && !device.info().backend.empty() && !device.info().type.empty(),
      "a name is empty");
  require(!has.heaps.empty() && has.heaps[0].bytes > 0, "it has no memory");
  require(has.timestamp_valid_bits == device.info().timestamp_valid_bits, "its clock");
  require(has.runs_on_host == backend.traits().runs_on_host &&
              has.replays == backend.traits().replays &&
              has.binding_bytes == backend.traits().max_binding_bytes &&
              has.kernels == backend.traits().kernels,
          "capabilities and traits differ");
  require(backend.kernel_info(Kernel{.shader = "no such"}) == std::nullopt, "an unknown kernel");
}

#define CASE(name) \
  ConformanceCase { #name, name }
constexpr ConformanceCase kBackendCases[] = {
    CASE(bytes_go_through_device_memory_and_back),
    CASE(submissions_run_in_order_and_complete_in_order),
    CASE(an_empty_submission_completes),
    CASE(buffers_have_the_size_the_kind_and_the_name_they_were_made_with),
    CASE(sizes_that_cannot_be_are_refused),
    CASE(memory_is_counted_while_it_is_there),
    CASE(freed_buffers_are_refused_and_counted),
    CASE(what_is_freed_in_flight_is_read_to_its_end),
    CASE(submissions_wait_for_the_host_in_their_order),
    CASE(timestamps_grow),
    CASE(imported_memory_is_read_in_place),
    CASE(buffers_of_another_device_are_refused),
    CASE(encodings_outlive_the_caller_s_buffers),
    CASE(trimming_changes_nothing_that_is_seen),
    CASE(after_shutdown_only_questions_are_answered),
    CASE(facts_are_filled_in),
};
#undef CASE

}  // namespace

std::span<const ConformanceCase> backend_cases() { return kBackendCases; }

}  // namespace reprise::testing
