#include "framework/session/executable/route_rings.h"

#include <algorithm>

#include "reprise/ops/set_rows.h"
#include "reprise/session/graph_session.h"

namespace reprise {
namespace {

std::string ring_name(std::string_view router) { return "routes of " + std::string(router); }

}  // namespace

void keep_routes(GraphSession& session, const std::vector<Router>& routers,
                 const std::vector<NamedTensor>& rings) {
  if (rings.empty()) {
    return;
  }
  for (const Router& router : routers) {
    const auto ring = std::ranges::find(rings, ring_name(router.name), &NamedTensor::name);
    set_rows(session, ring->tensor, router.ids, {.position = session.state(kRouteRowField)});
  }
}

RouteRings::RouteRings(std::shared_ptr<ExecutorCore> core, std::vector<RouterCall> routers)
    : core_(std::move(core)), routers_(std::move(routers)) {
  for (const RouterCall& router : routers_) {
    stride_ = std::max(stride_, router.rows);
  }
}

void RouteRings::capture(std::uint32_t runs) {
  std::vector<NamedTensor> rings;
  for (const RouterCall& router : routers_) {
    if (runs != 0) {
      const std::string name = ring_name(router.name);
      rings.push_back(
          {name, core_->device().zeros({runs * stride_, router.used}, DType::i32, name)});
    }
  }
  rings_ = std::move(rings);
  rows_.assign(runs, 0);
  room_ = runs;
  taken_ = runs_;
}

void RouteRings::begin_run(const StateBlock& state) const {
  if (room_ != 0) {
    state.set(kRouteRowField,
              static_cast<std::int32_t>(runs_ % room_) * static_cast<std::int32_t>(stride_));
  }
}

void RouteRings::end_run(std::int64_t rows) {
  if (room_ != 0) {
    rows_[runs_ % room_] = rows;
  }
  ++runs_;
}

RouteCapture RouteRings::take(const std::string& executable) {
  if (room_ == 0) {
    throw_invalid_argument(executable,
                           " captures no routes; call capture_routes() before its runs.");
  }
  const std::uint64_t kept = std::min<std::uint64_t>(runs_ - taken_, room_);
  RouteCapture capture;
  capture.dropped = runs_ - taken_ - kept;
  std::vector<std::vector<std::int32_t>> rings;
  for (const NamedTensor& ring : rings_) {
    rings.push_back(core_->device().to_host<std::int32_t>(ring.tensor));
  }
  for (std::uint64_t run = runs_ - kept; run < runs_; ++run) {
    for (std::size_t i = 0; i < rings.size(); ++i) {
      const RouterCall& router = routers_[i];
      const std::int64_t rows = router.counts_rows ? rows_[run % room_] : router.rows;
      const auto ids = std::span(rings[i]).subspan(
          static_cast<std::size_t>(static_cast<std::int64_t>(run % room_) * stride_ * router.used),
          static_cast<std::size_t>(rows * router.used));
      capture.runs.push_back({.run = run,
                              .layer = router.name,
                              .rows = rows,
                              .used = router.used,
                              .ids = {ids.begin(), ids.end()}});
    }
  }
  taken_ = runs_;
  return capture;
}

}  // namespace reprise
