// Options of the address sanitizer for many runs per second; ASAN_OPTIONS overrides them, as with
// malloc_context_size=30 for whole stacks of allocations. A run frees far less than the quarantine.
extern "C" const char* __asan_default_options();

extern "C" const char* __asan_default_options() {
  return "malloc_context_size=2:quarantine_size_mb=16";
}
