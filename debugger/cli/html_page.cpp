#include "debugger/cli/html_page.h"

#include <algorithm>
#include <cstdio>

#include "debugger/cli/capture_reports.h"
#include "debugger/cli/graph_svg.h"
#include "debugger/cli/table.h"
#include "debugger/model/format.h"
#include "debugger/model/markup.h"
#include "framework/profile/profile_reader.h"
#include "reprise/sql_query.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kMaxRows = 2'000;  // of a table

// Nothing is fetched, whatever the page holds.
constexpr std::string_view kBegin = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"/>
<style>
body { font: 14px/1.45 "DejaVu Sans", Verdana, sans-serif; color: #1a1a1a; margin: 24px; }
h1 { font-size: 20px; } h2 { font-size: 16px; margin-top: 32px; }
table { border-collapse: collapse; font-size: 12px; }
th, td { padding: 3px 10px; border-bottom: 1px solid #e3e6e9; text-align: left; white-space: nowrap; }
th { position: sticky; top: 0; background: #f0f3f5; cursor: pointer; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.scroll { overflow: auto; max-height: 480px; border: 1px solid #e3e6e9; display: inline-block; max-width: 100%; }
.graph { overflow: auto; max-height: 900px; border: 1px solid #e3e6e9; }
.note { color: #666; font-size: 12px; }
</style>
)";

// Rows by the cell that was clicked: numbers as numbers, empty cells last; again, the other way.
constexpr std::string_view kScript = R"(<script>
document.querySelectorAll("th").forEach(function (head) {
  head.addEventListener("click", function () {
    var column = head.cellIndex, body = head.closest("table").tBodies[0];
    var sign = head.dataset.sorted === "up" ? -1 : 1;
    head.parentNode.querySelectorAll("th").forEach(function (other) { delete other.dataset.sorted; });
    head.dataset.sorted = sign === 1 ? "up" : "down";
    var key = function (row) { return row.cells[column].dataset.value || row.cells[column].textContent; };
    Array.from(body.rows).sort(function (a, b) {
      var x = key(a), y = key(b), n = Number(x), m = Number(y);
      if (x === "" || y === "") { return (x === "") - (y === ""); }
      return sign * (isNaN(n) || isNaN(m) ? x.localeCompare(y) : n - m);
    }).forEach(function (row) { body.appendChild(row); });
  });
});
</script>
)";

std::string number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return std::to_string(*whole);
  }
  const auto* real = std::get_if<double>(&value);
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", real == nullptr ? 0 : *real);
  return real == nullptr ? "" : text;
}

class Page {
 public:
  Page(const Captured& captured, const std::string& path, std::ostream& out)
      : captured_(captured), path_(path), out_(out) {}

  void write() {
    const std::string title = title_of(captured_);
    out_ << kBegin << "<title>" << debugger::markup_text(title) << "</title>\n</head>\n<body>\n<h1>"
         << debugger::markup_text(title) << "</h1>\n";
    for (const FileProblem& problem : captured_.capture.problems) {
      note("The file is damaged: " + problem.text);
    }
    facts();
    times();
    if (!captured_.times.empty()) {
      const Report report = timeline_report(captured_);
      table("Timeline of the replay", report.listings[0]);
    }
    replays();
    const Report memory = memory_report(captured_, path_);
    table("Memory plan", memory.listings[0], memory.heading);
    table("Buffers of the run", memory.listings[1]);
    const Report barriers = barriers_report(captured_);
    table("Barriers", barriers.listings[0], barriers.heading);
    passes();
    out_ << "<h2>Graph</h2>\n<div class=\"graph\">\n";
    write_graph_svg(captured_, out_);
    out_ << "</div>\n" << kScript << "</body>\n</html>\n";
  }

 private:
  void note(const std::string& text) {
    out_ << "<p class=\"note\">" << debugger::markup_text(text) << "</p>\n";
  }

  void table(const std::string& title, const Listing& listing, const std::string& about = "") {
    out_ << "<h2>" << debugger::markup_text(title) << "</h2>\n";
    if (!about.empty()) {
      note(about);
    }
    if (listing.rows.empty()) {
      return note("None.");
    }
    if (listing.rows.size() > kMaxRows) {
      note("The first " + debugger::count_text(kMaxRows) + " of " +
           debugger::count_text(listing.rows.size()) + ".");
    }
    out_ << "<div class=\"scroll\"><table id=\"" << debugger::markup_text(listing.key)
         << "\"><thead><tr>";
    for (const ListColumn& column : listing.columns) {
      if (column.title) {
        out_ << "<th>" << debugger::markup_text(*column.title) << "</th>";
      }
    }
    out_ << "</tr></thead>\n<tbody>\n";
    for (std::size_t r = 0; r < std::min(kMaxRows, listing.rows.size()); ++r) {
      out_ << "<tr>";
      for (std::size_t c = 0; c < listing.columns.size(); ++c) {
        if (listing.columns[c].title) {
          cell(listing.rows[r][c], listing.columns[c].holds == Holds::numbers);
        }
      }
      out_ << "</tr>\n";
    }
    out_ << "</tbody></table></div>\n";
  }

  void cell(const Cell& cell, bool number) {
    const std::string value = number_of(cell.value);
    out_ << (number ? "<td class=\"number\"" : "<td");
    if (!value.empty() && value != cell.text) {
      out_ << " data-value=\"" << value << "\"";
    }
    out_ << ">" << debugger::markup_text(cell.text) << "</td>";
  }

  /// Rows of a query with one row: names of columns and values.
  void add_facts_of(const std::string& sql, Listing& list) {
    const SqlResult result = run_sql(path_, sql);
    for (std::size_t c = 0; !result.rows.empty() && c < result.columns.size(); ++c) {
      const SqlValue& value = result.rows[0][c];
      std::string text;
      if (const auto* words = std::get_if<std::string>(&value)) {
        text = *words;
      } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        text = std::to_string(*whole);
      } else if (const auto* real = std::get_if<double>(&value)) {
        text = number(*real, 3);
      }
      if (!text.empty()) {
        list.rows.push_back({result.columns[c], text});
      }
    }
  }

  void facts() {
    const CaptureSummary& summary = captured_.capture.summary;
    const std::string run = std::to_string(summary.id.run);
    const std::string graph = std::to_string(summary.id.graph);
    Listing list{"facts", {{"fact", "fact"}, {"value", "value"}}};
    add_facts_of(
        "SELECT r.app AS program, r.label, r.start_utc AS began, r.exit_state AS ended, r.rank, "
        "h.hostname AS host, h.os, h.cpu_model AS processor, h.cores, b.version AS "
        "'Reprise', b.git_commit AS 'commit', b.build_type AS build FROM runs r LEFT JOIN hosts h "
        "ON h.id=r.host_id LEFT JOIN builds b ON b.id=r.build_id WHERE r.id=" +
            run,
        list);
    add_facts_of(
        "SELECT backend, name AS device, type, driver_name AS driver, driver_info AS 'driver "
        "version', api_version AS api, timestamp_period_ns AS 'tick in ns' FROM devices WHERE "
        "id=(SELECT "
        "device_id FROM recordings WHERE run_id=" +
            run + " AND graph_id=" + graph + " LIMIT 1)",
        list);
    add_facts_of(
        "SELECT name AS graph, node_count AS nodes, step_count AS steps, barrier_count AS "
        "barriers, "
        "arena_bytes AS 'arena in bytes', live_peak_bytes AS 'most of it in use', naive_bytes AS "
        "'without sharing', weights_bytes AS 'weights in bytes', content_hash AS hash FROM graphs "
        "WHERE id=" +
            graph,
        list);
    list.rows.push_back({"replays", debugger::count_text(summary.replays)});
    list.rows.push_back({"replays with step times", debugger::count_text(summary.timed_replays)});
    table("Run, device and graph", list);
  }

  /// The statistics of the phase and mode with the most replays.
  void times() {
    const Capture& capture = captured_.capture;
    std::vector<NodeTimingTable> tables = read_node_timings(path_, capture.summary.id);
    Listing list{"nodes",
                 {{"node", "node", Holds::numbers},
                  {"op", "op"},
                  {"label", "label"},
                  {"scope", "scope"},
                  {"replays", "replays", Holds::numbers},
                  {"total_ns", "total us", Holds::numbers},
                  {"share", "%", Holds::numbers},
                  {"p50_ns", "p50 us", Holds::numbers},
                  {"p95_ns", "p95 us", Holds::numbers},
                  {"max_ns", "max us", Holds::numbers},
                  {"gb_per_s", "GB/s", Holds::numbers},
                  {"gflops_per_s", "GFLOP/s", Holds::numbers},
                  {"source", "source"}}};
    if (tables.empty()) {
      return table("Nodes by time", list);
    }
    tables[0].nodes.resize(capture.nodes.size());  // a damaged file may have more rows of nodes
    double total = 0;
    for (const auto& timing : tables[0].nodes) {
      total += timing ? static_cast<double>(timing->total_ns) : 0;
    }
    for (std::uint32_t n = 0; n < capture.nodes.size(); ++n) {
      const auto& timing = tables[0].nodes[n];
      if (timing) {
        const Capture::Node& node = capture.nodes[n];
        const auto per_ns = [&](std::optional<std::uint64_t> work) {
          return work && timing->p50_ns > 0 ? std::optional(static_cast<double>(*work) /
                                                            static_cast<double>(timing->p50_ns))
                                            : std::nullopt;
        };
        list.rows.push_back(
            {n, node.op, node.label, node.scope, timing->count, nanoseconds(timing->total_ns),
             real(100 * static_cast<double>(timing->total_ns) / total, 1),
             nanoseconds(timing->p50_ns), nanoseconds(timing->p95_ns), nanoseconds(timing->max_ns),
             real(per_ns(bytes_of(node)), 2), real(per_ns(node.flops), 2), source_of(node)});
      }
    }
    std::ranges::stable_sort(list.rows, std::greater(), [](const std::vector<Cell>& row) {
      return std::get<std::int64_t>(row[5].value);
    });
    chart(tables[0]);
    table("Nodes by time", list,
          "phase '" + tables[0].phase + "', timing mode " +
              std::string(name_of(tables[0].timing_mode)) + ", warm-ups left out");
  }

  /// A bar for the median of each node, in recorded order.
  void chart(const NodeTimingTable& timings) {
    if (timings.nodes.empty()) {
      return;
    }
    constexpr double kWidth = 960, kHeight = 220, kLeft = 70, kTop = 14, kBottom = 30;
    std::uint64_t slowest = 1;
    for (const auto& timing : timings.nodes) {
      slowest = std::max(slowest, timing ? timing->p50_ns : 0);
    }
    const double step = (kWidth - kLeft) / static_cast<double>(timings.nodes.size());
    const auto attribute = [&](const char* name, double value) {
      char text[48];
      std::snprintf(text, sizeof text, " %s=\"%.2f\"", name, value);
      out_ << text;
    };
    const auto label = [&](double x, double y, const char* anchor, const std::string& text) {
      out_ << "<text text-anchor=\"" << anchor << "\"";
      attribute("x", x);
      attribute("y", y);
      out_ << ">" << debugger::markup_text(text) << "</text>\n";
    };
    out_ << "<h2>Median time of each node</h2>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "width=\"960\" height=\"220\" viewBox=\"0 0 960 220\" font-family=\"DejaVu Sans, "
            "Verdana, sans-serif\" font-size=\"11\" fill=\"#444444\">\n<rect width=\"960\" "
            "height=\"220\" fill=\"#ffffff\"/>\n";
    for (const double part : {0.0, 0.5, 1.0}) {
      const double y = kHeight - kBottom - part * (kHeight - kBottom - kTop);
      out_ << "<line stroke=\"#dddddd\"";
      attribute("x1", kLeft);
      attribute("x2", kWidth);
      attribute("y1", y);
      attribute("y2", y);
      out_ << "/>\n";
      label(kLeft - 6, y + 4, "end",
            debugger::duration_text(debugger::whole_ns(part * static_cast<double>(slowest))));
    }
    for (std::size_t n = 0; n < timings.nodes.size(); ++n) {
      if (!timings.nodes[n]) {
        continue;
      }
      const Capture::Node& node = captured_.capture.nodes[n];
      const double height = static_cast<double>(timings.nodes[n]->p50_ns) /
                            static_cast<double>(slowest) * (kHeight - kBottom - kTop);
      out_ << "<rect class=\"bar\" fill=\"#e07b39\"";
      attribute("x", kLeft + static_cast<double>(n) * step);
      attribute("width", std::max(0.5, step * 0.85));
      attribute("y", kHeight - kBottom - height);
      attribute("height", height);
      out_ << "><title>"
           << debugger::markup_text(std::to_string(n) + " " + node.op + ", " + node.scope + ", " +
                                    debugger::duration_text(timings.nodes[n]->p50_ns))
           << "</title></rect>\n";
    }
    label(kLeft, kHeight - 10, "start", "node 0");
    label(kWidth, kHeight - 10, "end", "node " + std::to_string(timings.nodes.size() - 1));
    out_ << "</svg>\n";
  }

  void replays() {
    ReplayTable found;
    read_new_replays(path_, captured_.capture.summary.id, found);
    using Row = ReplayRow;
    constexpr Holds kTexts = Holds::texts, kNumbers = Holds::numbers;
    const auto time = [](auto Row::*member) {
      return [member](const Row& row) { return nanoseconds(row.*member); };
    };
    const std::size_t first = found.rows.size() > kMaxRows ? found.rows.size() - kMaxRows : 0;
    const Listing list =
        list_of<Row>("replays",
                     {{"replay", "replay", kNumbers, &Row::id},
                      {"sequence", "number", kNumbers, &Row::sequence},
                      {"phase", "phase", kTexts, &Row::phase},
                      {"timing_mode", "timing", kTexts,
                       [](const Row& row) { return std::string(name_of(row.timing_mode)); }},
                      {"prepare_ns", "prepare us", kNumbers, time(&Row::prepare_ns)},
                      {"submit_ns", "submit us", kNumbers, time(&Row::submit_ns)},
                      {"wait_ns", "wait us", kNumbers, time(&Row::wait_ns)},
                      {"device_ns", "device us", kNumbers, time(&Row::device_ns)},
                      {"warm_up", "warm-up", kTexts, &Row::warm_up},
                      {"status", "status", kNumbers, &Row::status}},
                     std::span(found.rows).subspan(first));
    table("Replays", list,
          first == 0 ? ""
                     : "The last " + debugger::count_text(kMaxRows) + " of " +
                           debugger::count_text(found.rows.size()) + ".");
  }

  void passes() {
    using Row = Capture::PassDecision;
    constexpr Holds kTexts = Holds::texts, kNumbers = Holds::numbers;
    const Capture& capture = captured_.capture;
    const Listing list = list_of<Row>(
        "passes",
        {{"pass", "pass", kTexts, &Row::pass},
         {"kind", "kind", kTexts, &Row::kind},
         {"node", "node", kNumbers, &Row::node},
         {"op", "op", kTexts,
          [&](const Row& row) { return row.node ? capture.nodes[*row.node].op : ""; }},
         {"applied", "applied", kTexts, &Row::applied},
         {"estimate_ns", "saves us", kNumbers,
          [](const Row& row) {
            return row.estimate_ns ? real(static_cast<double>(*row.estimate_ns) / 1e3, 1)
                                   : Cell::none();
          }},
         {"reason", "reason", kTexts, &Row::reason}},
        capture.pass_decisions);
    table("Passes", list);
  }

  const Captured& captured_;
  const std::string& path_;
  std::ostream& out_;
};

}  // namespace

void write_html_page(const Captured& captured, const std::string& path, std::ostream& out) {
  Page(captured, path, out).write();
}

}  // namespace reprise::cli
