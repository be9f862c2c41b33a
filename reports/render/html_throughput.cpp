// Throughput against size under the measured roof on the HTML page. Used by html.cpp. Must not know
// the other sections.
#include <algorithm>
#include <set>
#include <utility>

#include "reports/model/phrases.hpp"
#include "reports/render/chart.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

using results::Bench;
using results::BenchHeader;
using results::BenchRow;

bool is_product(const BenchRow& row) {
    return row.operations != 0;
}
bool is_roof(const BenchRow& row) {
    return row.what == "copy" || row.what == "plain gemm";
}

// GB/s, or TFLOP/s of a product.
double rate(const BenchRow& row, double seconds) {
    const double amount = static_cast<double>(is_product(row) ? row.operations : row.bytes);
    return amount / seconds * (is_product(row) ? 1e-12 : 1e-9);
}

Point point_of(const BenchRow& row) {
    const double size = static_cast<double>(is_product(row) ? row.operations : row.bytes);
    return {size, rate(row, row.seconds), rate(row, row.high), rate(row, row.low)};
}

// By size; of two of one size, which a roof may have, the better.
void sort_points(Series& series) {
    std::vector<Point>& points = series.points;
    std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
        return std::pair(a.x, -a.y) < std::pair(b.x, -b.y);
    });
    const auto same_size = [](const Point& a, const Point& b) { return a.x == b.x; };
    points.erase(std::unique(points.begin(), points.end(), same_size), points.end());
}

std::string flops_number(double value) {
    return short_number(value * 1e-9) + " G";
}

// One chart an operation and state of the cache, with the roof that belongs to it.
Chart chart_of(const Bench& bench, const BenchRow& kind, const std::string& id) {
    const bool product = is_product(kind);
    const std::string roof = product ? "plain gemm" : "copy";
    Chart chart{id,
                kind.what + ", " + kind.cache + " cache.",
                product ? "Under the best plain product of the same run."
                        : "Under a copy of as many bytes in the same run.",
                product ? Axis{"operations, 2·M·N·K", Scaling::log10, flops_number}
                        : Axis{"bytes read and written", Scaling::log2, bytes_number},
                {product ? "TFLOP/s" : "GB/s"},
                {{"roof: " + roof, Mark::roof, {}}}};
    for (const BenchRow& row : bench.rows) {
        if (!row.reason.empty() || row.cache != kind.cache) continue;
        if (row.what == roof && is_product(row) == product)
            chart.series.front().points.push_back(point_of(row));
        if (row.what != kind.what) continue;
        const auto found = std::find_if(chart.series.begin() + 1, chart.series.end(),
                                        [&](const Series& each) { return each.name == row.types; });
        Series& series = found != chart.series.end()
                             ? *found
                             : chart.series.emplace_back(Series{row.types, Mark::line, {}});
        series.points.push_back(point_of(row));
    }
    for (Series& series : chart.series) sort_points(series);
    if (chart.series.front().points.empty()) chart.series.erase(chart.series.begin());
    return chart;
}

std::string charts_of(const Bench& bench, std::size_t number) {
    std::set<std::pair<std::string, std::string>> kinds;
    std::string text;
    for (const BenchRow& row : bench.rows) {
        if (is_roof(row) || !row.reason.empty() || !kinds.emplace(row.what, row.cache).second ||
            kinds.size() > charts_drawn_max)
            continue;
        text += figure_of(
            chart_of(bench, row,
                     "throughput-" + std::to_string(number) + "-" + std::to_string(kinds.size())));
    }
    return charts(text, kinds.size());
}

std::string state_of(const BenchRow& row) {
    if (row.state_before == row.state_after) return or_dash(row.state_before);
    return or_dash(row.state_before) + "; after: " + or_dash(row.state_after);
}

std::string rows_of(const Bench& bench) {
    Table table("Rows of the benchmark", {{"what"},
                                          {"shape"},
                                          {"types"},
                                          {"cache"},
                                          {"median, µs", true},
                                          {"rate", true},
                                          {"of the roof %", true},
                                          {"spread %", true},
                                          {"noise %", true},
                                          {"state"}});
    for (const BenchRow& row : bench.rows) {
        if (table.is_full()) break;
        std::vector<std::string> cells{shown(row.what), shown(row.shape), shown(row.types),
                                       shown(row.cache)};
        if (!row.reason.empty()) {
            cells.push_back(shown(row.reason));
        } else {
            for (const std::string& cell :
                 {short_number(1e6 * row.seconds),
                  short_number(rate(row, row.seconds)) + (is_product(row) ? " TFLOP/s" : " GB/s"),
                  row.roof_share > 0 ? short_number(100 * row.roof_share) : "–",
                  short_number(100 * (row.high - row.low) / row.seconds),
                  short_number(100 * row.noise()), state_of(row)})
                cells.push_back(cell);
        }
        table.add(cells);
    }
    return "<details class=\"numbers\"><summary>All rows</summary>" + table.markup() +
           "</details>\n" + rows_left(bench.rows.size(), table);
}

std::string fact(const BenchHeader& header, std::string_view key) {
    for (const auto* list : {&header.device_facts, &header.environment})
        for (const results::Field& field : *list)
            if (field.key == key) return field.value;
    return "";
}

std::string introduction(const Page& page, const Bench& bench) {
    const BenchHeader& header = bench.header;
    std::string text =
        "<p class=\"soft\">" +
        shown(joined({fact(header, "name"), header.device, fact(header, "driver"), header.started},
                     ", ")) +
        ". Data: " + shown(header.data) + ", tensors on " + shown(header.place) +
        ", timed by the clock of the " + shown(header.clock) +
        ". Bars show where eight tenths of the samples lie.</p>\n";
    if (header.device != page.run().header.device)
        text += "<p class=\"caution\">This benchmark is of " + shown(header.device) +
                ", the run is of " + shown(page.run().header.device) + ".</p>\n";
    if (!bench.complete)
        text += "<p class=\"caution\">This benchmark was interrupted: rows are missing.</p>\n";
    return text;
}

}  // namespace

std::string throughput_section(const Page& page) {
    std::string text;
    std::size_t number = 0;
    for (const Bench& bench : page.attached().benches)
        text += introduction(page, bench) + charts_of(bench, ++number) + rows_of(bench);
    return text;
}

}  // namespace mx::reports::html
