// Everything a program needs: devices, sessions, graphs, ops.
#pragma once
#include "reprise/open_device.h"               // IWYU pragma: export
#include "reprise/ops.h"                       // IWYU pragma: export
#include "reprise/session/executable_graph.h"  // IWYU pragma: export
#include "reprise/session/graph_executor.h"    // IWYU pragma: export
#include "reprise/session/lint.h"              // IWYU pragma: export
#include "reprise/session/numerics.h"          // IWYU pragma: export
#include "reprise/session/verify.h"            // IWYU pragma: export
