#include "reprise/core/buffer.h"

#include "reprise/core/error.h"

namespace reprise {

void Buffer::require_writable() const {
  if (kind_ == BufferKind::imported) {
    invalid("The buffer (" + name_ +
            ") is memory of the host used in place: it may be read, but not written.");
  }
}

}  // namespace reprise
