// For leak checks only: libraries stay loaded, so that a leak inside a driver carries its name and
// can be told from ours.
extern "C" int dlclose(void* /*library*/) { return 0; }
