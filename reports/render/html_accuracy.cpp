// Accuracy of quantizing on the HTML page: a table, errors per binade, and the scales of the oracle
// and of the device. Used by html.cpp. Must not know the other sections.
#include <cmath>
#include <map>

#include "reports/model/heat.hpp"
#include "reports/model/phrases.hpp"
#include "reports/render/chart.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

using results::QuantizeAccuracy;

std::string percent(double part, double whole) {
    return whole == 0 ? "–" : short_number(100 * part / whole);
}
std::string percent(std::uint64_t part, std::uint64_t whole) {
    return percent(static_cast<double>(part), static_cast<double>(whole));
}

std::string name_of(const QuantizeAccuracy& row) {
    return joined({row.dialect, row.rounding == "stochastic" ? "stochastic" : "",
                   row.source == "oracle" ? "" : "on " + row.source},
                  " ");
}

double largest_ulp(const QuantizeAccuracy& row) {
    double largest = 0;
    for (const results::BinadeError& binade : row.binades)
        largest = std::max(largest, binade.max_ulp);
    return largest;
}

void add_row(const QuantizeAccuracy& row, Table& table) {
    std::vector<std::string> cells{shown(row.data), shown(row.format), shown(name_of(row))};
    if (!row.reason.empty()) {
        cells.push_back(shown(row.reason));
    } else {
        for (const std::string& cell :
             {or_dash(row.sqnr_db), short_number(100 * row.relative_mean),
              short_number(100 * row.relative_max), short_number(largest_ulp(row)),
              percent(row.saturated, row.elements), percent(row.flushed, row.elements),
              percent(row.subnormal, row.elements), percent(row.values_changed, row.elements)})
            cells.push_back(cell);
    }
    table.add(cells);
}

// The rows that one chart shows: those of the same data and format.
using Groups = std::vector<std::vector<const QuantizeAccuracy*>>;

Groups groups_of(const std::vector<QuantizeAccuracy>& rows) {
    Groups groups;
    std::map<std::pair<std::string, std::string>, std::size_t> places;
    for (const QuantizeAccuracy& row : rows) {
        if (!row.reason.empty()) continue;
        const auto [found, is_new] = places.try_emplace({row.data, row.format}, groups.size());
        if (is_new) groups.emplace_back();
        groups[found->second].push_back(&row);
    }
    return groups;
}

std::string title_of(const QuantizeAccuracy& row) {
    return row.format + ", " + row.data + ".";
}

Chart binade_chart(const std::vector<const QuantizeAccuracy*>& group, std::size_t place) {
    Chart chart{"binades-" + std::to_string(place + 1),
                title_of(*group.front()),
                "Mean error of each binade of the scaled value.",
                {"binade of |value / scale|", Scaling::linear, short_number, 1},
                {"mean error, ulp"},
                {}};
    for (const QuantizeAccuracy* row : group) {
        Series& series = chart.series.emplace_back(Series{name_of(*row), Mark::line, {}});
        for (const results::BinadeError& binade : row->binades)
            series.points.push_back({static_cast<double>(binade.binade), binade.mean_ulp});
    }
    return chart;
}

// Bars for the first, outlines for those laid over it.
Chart scale_chart(const std::vector<const QuantizeAccuracy*>& group, std::size_t place) {
    Chart chart{"scales-" + std::to_string(place + 1),
                title_of(*group.front()),
                "Blocks of each scale byte.",
                {"scale byte", Scaling::linear, short_number, 1},
                {"blocks"},
                {}};
    for (const QuantizeAccuracy* row : group) {
        const Mark mark = chart.series.empty() ? Mark::bars : Mark::outline;
        Series& series = chart.series.emplace_back(Series{name_of(*row), mark, {}});
        for (const auto& [byte, blocks] : row->scales)
            series.points.push_back({static_cast<double>(byte), static_cast<double>(blocks)});
    }
    return chart;
}

using Draw = Chart (*)(const std::vector<const QuantizeAccuracy*>& group, std::size_t place);

std::string charts_of(const std::vector<QuantizeAccuracy>& rows, Draw draw) {
    const Groups groups = groups_of(rows);
    std::string text;
    for (std::size_t place = 0; place < std::min(groups.size(), charts_drawn_max); ++place)
        text += figure_of(draw(groups[place], place));
    return charts(text, groups.size());
}

std::vector<Point> points_of(const std::vector<std::uint64_t>& counts) {
    std::vector<Point> points;
    for (std::size_t byte = 0; byte < counts.size(); ++byte)
        if (counts[byte] != 0)
            points.push_back({static_cast<double>(byte), static_cast<double>(counts[byte])});
    return points;
}

std::string scales_of_run(const Page& page) {
    const ScaleCounts scales = scale_counts(page.run());
    if (scales.counted == 0) return "";
    const Chart chart{"scales-run",
                      "This run.",
                      "How often the oracle expected each scale byte, and the device wrote it.",
                      {"scale byte", Scaling::linear, short_number, 1},
                      {"scales", Scaling::log10},
                      {{"oracle", Mark::bars, points_of(scales.expected)},
                       {"device", Mark::outline, points_of(scales.actual)}}};
    return "<p class=\"soft\">" + number(scales.counted) + " of the run's " + number(scales.of) +
           " scales are counted by byte: of every case with a wrong scale, and of those whose "
           "scales are few.</p>\n" +
           figure_of(chart);
}

}  // namespace

std::string accuracy_section(const Page& page) {
    const auto& rows = page.attached().quantize;
    if (rows.empty()) return "";
    Table table("Accuracy of quantizing", {{"data"},
                                           {"format"},
                                           {"dialect"},
                                           {"SQNR, dB", true},
                                           {"mean rel. %", true},
                                           {"max rel. %", true},
                                           {"max ulp", true},
                                           {"saturated %", true},
                                           {"flushed %", true},
                                           {"subnormal %", true},
                                           {"changed %", true}});
    for (const QuantizeAccuracy& row : rows)
        if (!table.is_full()) add_row(row, table);
    std::string text =
        "<p class=\"soft\">What quantizing loses. Changed are the values that differ from the "
        "first row of the same data and format.</p>\n" +
        folded("All rows", table.markup()) + rows_left(rows.size(), table);
    const std::string binades = charts_of(rows, binade_chart);
    return binades.empty() ? text : text + "<h3>Error per binade</h3>\n" + binades;
}

std::string scales_section(const Page& page) {
    return scales_of_run(page) + charts_of(page.attached().quantize, scale_chart);
}

}  // namespace mx::reports::html
