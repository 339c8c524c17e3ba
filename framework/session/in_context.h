// What every call of a GraphSession goes through.
#pragma once
#include "reprise/session/graph_session.h"

namespace reprise {

template <class F>
auto GraphSession::in_context(std::string_view what, F&& f) {
  try {
    require_usable();
    return f();
  } catch (const Error& cause) {
    fail(what, {}, cause);
  }
}

}  // namespace reprise
