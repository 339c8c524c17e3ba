#include "reprise/core/buffer.h"

#include "reprise/core/error.h"

namespace reprise {

void Buffer::require_writable() const {
  if (kind_ == BufferKind::imported) {
    throw_invalid_argument(
        "The buffer (", name_,
        ") is memory of the host used in place: it may be read, but not written.");
  }
}

void Buffer::require_alive() const {
  if (freed()) {
    throw_error(ErrorCode::stale, "The buffer (", name_, ") was freed; nothing can use it.");
  }
}

void Buffer::pin() {
  pins_.fetch_add(1);
  if (freed()) {
    unpin();
    require_alive();
  }
}

}  // namespace reprise
