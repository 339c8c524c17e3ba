#include "framework/graph/hazards.h"

#include "framework/graph/edges.h"

namespace reprise {

bool HazardTracker::step(std::uint32_t index, std::span<const Touch> touches) {
  bool wait = false;
  for (const Touch& t : touches) {
    const Segment* s =
        t.range.begin == t.range.end ? nullptr : map_.find(t.range, !writes(t.access));
    if (s != nullptr) {
      const Access before = s->written == 0 ? Access::read : Access::write;
      barriers_.push_back({index, s->step, t.range, hazard_kind(before, t.access)});
      map_.clear();
      wait = true;
      break;
    }
  }
  for (const bool written : {true, false}) {  // writes first: a read inside them adds nothing
    for (const Touch& t : touches) {
      if (writes(t.access) == written) {
        map_.fill(t.range, index, written);
      }
    }
  }
  return wait;
}

}  // namespace reprise
