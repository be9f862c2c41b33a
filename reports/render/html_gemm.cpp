// The error of matrix products against its bound on the HTML page: of the run's bounded cases, and
// of accuracy measurements. Used by html.cpp. Must not know the other sections.
#include <algorithm>

#include "reports/model/phrases.hpp"
#include "reports/render/chart.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

using results::CaseResult;
using results::GemmAccuracy;

Series& series_named(Chart& chart, const std::string& name) {
    for (Series& series : chart.series)
        if (series.name == name) return series;
    return chart.series.emplace_back(Series{name, Mark::dots, {}});
}

void add_bound(Chart& chart) {
    double first = 0, last = 0;
    for (const Series& series : chart.series)
        for (const Point& point : series.points) {
            first = first == 0 ? point.x : std::min(first, point.x);
            last = std::max(last, point.x);
        }
    chart.series.insert(chart.series.begin(), Series{"bound", Mark::roof, {{first, 1}, {last, 1}}});
}

std::string bounded_cases(const Page& page) {
    Chart chart{"gemm-cases",
                "This run.",
                "The largest error of each case under a bound, as a share of that bound.",
                {"bounded case, in the order of the run", Scaling::linear, short_number, 1},
                {"share of the bound", Scaling::log10},
                {}};
    std::uint64_t count = 0, exact = 0;
    double largest = 0;
    for (const CaseResult& result : page.run().cases) {
        if (!result.bound_share) continue;
        ++count;
        exact += *result.bound_share == 0 ? 1 : 0;
        largest = std::max(largest, *result.bound_share);
        series_named(chart, result.format + " " + result.dialect)
            .points.push_back({static_cast<double>(count), *result.bound_share});
    }
    if (count == 0) return "";
    add_bound(chart);
    return "<p class=\"soft\" id=\"gemm-note\">" + counted(count, "case") +
           " of the run were held to a derived bound; the largest error is <data value=\"" +
           short_number(largest) + "\">" + short_number(largest) + "</data> of it" +
           (exact == 0 ? "" : ", and " + grouped(exact) + " have no error at all") + ".</p>\n" +
           figure_of(chart);
}

std::string product_of(const GemmAccuracy& row) {
    return row.a == row.b ? row.a : row.a + " × " + row.b;
}

std::string who(const GemmAccuracy& row) {
    return joined({row.source == "model" ? "" : row.source, row.name}, " ");
}

Chart& chart_for(std::vector<Chart>& charts, const GemmAccuracy& row) {
    const std::string title = product_of(row) + ".";
    for (Chart& chart : charts)
        if (chart.title == title) return chart;
    return charts.emplace_back(
        Chart{"gemm-depth-" + std::to_string(charts.size() + 1),
              title,
              "The largest error against the exact product, as a share of its bound.",
              {"K", Scaling::log2},
              {"share of the bound", Scaling::log10},
              {}});
}

// A chart for each pair of factors.
std::string charts_by_depth(const std::vector<GemmAccuracy>& rows) {
    std::vector<Chart> made;
    for (const GemmAccuracy& row : rows)
        if (row.share_max)
            series_named(chart_for(made, row), who(row))
                .points.push_back({static_cast<double>(row.k), *row.share_max});
    std::string text;
    for (std::size_t place = 0; place < std::min(made.size(), charts_drawn_max); ++place) {
        add_bound(made[place]);
        text += figure_of(made[place]);
    }
    return charts(text, made.size());
}

std::string measured(const std::vector<GemmAccuracy>& rows) {
    Table table("Error of matrix products", {{"data"},
                                             {"factors"},
                                             {"D"},
                                             {"M×N×K"},
                                             {"accumulated by"},
                                             {"bound of"},
                                             {"max, share of bound", true},
                                             {"mean, share", true},
                                             {"beyond", true},
                                             {"max ulp", true},
                                             {"noise, dB", true},
                                             {"of quantizing, dB", true}});
    for (const GemmAccuracy& row : rows) {
        if (table.is_full()) continue;
        std::vector<std::string> cells{
            shown(row.data),
            shown(product_of(row)),
            shown(row.output),
            std::to_string(row.m) + "×" + std::to_string(row.n) + "×" + std::to_string(row.k),
            shown(who(row)),
            shown(row.bound_of)};
        if (!row.reason.empty()) {
            cells.push_back(shown(row.reason));
        } else {
            for (const std::string& cell : {or_dash(row.share_max), or_dash(row.share_mean),
                                            number(row.beyond), short_number(row.error_max_ulp),
                                            or_dash(row.noise_db), or_dash(row.quantizing_db)})
                cells.push_back(cell);
        }
        table.add(cells);
    }
    return charts_by_depth(rows) + folded("All rows", table.markup()) +
           rows_left(rows.size(), table);
}

}  // namespace

std::string gemm_section(const Page& page) {
    const auto& rows = page.attached().gemm;
    return bounded_cases(page) + (rows.empty() ? "" : measured(rows));
}

}  // namespace mx::reports::html
