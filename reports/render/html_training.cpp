// The losses of training on the HTML page, a chart a task. Used by html.cpp. Must not know the
// other sections.
#include <algorithm>

#include "reports/model/phrases.hpp"
#include "reports/render/chart.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

using results::TrainingCurve;

std::string formats_of(const TrainingCurve& run) {
    return run.forward == run.gradient ? run.forward : run.forward + " / " + run.gradient;
}

std::string name_of(const TrainingCurve& run) {
    return joined({formats_of(run), run.dialect, run.source == "oracle" ? "" : "on " + run.source},
                  " ");
}

std::vector<std::string> tasks_of(const std::vector<TrainingCurve>& runs) {
    std::vector<std::string> tasks;
    for (const TrainingCurve& run : runs)
        if (std::find(tasks.begin(), tasks.end(), run.task) == tasks.end())
            tasks.push_back(run.task);
    return tasks;
}

std::string chart_of(const std::vector<TrainingCurve>& runs, const std::string& task,
                     std::size_t place) {
    Chart chart{"training-" + std::to_string(place + 1),
                task + ".",
                "Loss of each step.",
                {"step", Scaling::linear, short_number, 1},
                {"loss", Scaling::log10},
                {}};
    for (const TrainingCurve& run : runs) {
        if (run.task != task || run.losses.empty()) continue;
        const bool is_plain = run.forward == "f32" && run.gradient == "f32";
        Series& series =
            chart.series.emplace_back(Series{is_plain ? "without quantizing" : name_of(run),
                                             is_plain ? Mark::roof : Mark::line,
                                             {}});
        for (std::size_t step = 0; step < run.losses.size(); ++step)
            series.points.push_back({static_cast<double>(step), run.losses[step]});
    }
    return figure_of(chart);
}

void add_row(const TrainingCurve& run, Table& table) {
    std::vector<std::string> cells{shown(run.task),      shown(run.forward), shown(run.gradient),
                                   or_dash(run.dialect), shown(run.source),  or_dash(run.products)};
    if (run.losses.empty()) {
        cells.push_back(or_dash(run.reason));
    } else {
        for (const double value : {run.losses.front(), run.losses.back(),
                                   100 * run.first_gradient_error, 100 * run.weight_error})
            cells.push_back(short_number(value));
        cells.push_back(or_dash(run.verdict));
    }
    table.add(cells);
}

}  // namespace

std::string training_section(const Page& page) {
    const auto& runs = page.attached().training;
    if (runs.empty()) return "";
    Table table("Training", {{"task"},
                             {"x and w"},
                             {"dy"},
                             {"dialect"},
                             {"quantized by"},
                             {"multiplied by"},
                             {"first loss", true},
                             {"last loss", true},
                             {"first gradient off by %", true},
                             {"weights off by %", true},
                             {"device beside oracle"}});
    for (const TrainingCurve& run : runs)
        if (!table.is_full()) add_row(run, table);
    std::string figures;
    const std::vector<std::string> tasks = tasks_of(runs);
    for (std::size_t place = 0; place < std::min(tasks.size(), charts_drawn_max); ++place)
        figures += chart_of(runs, tasks[place], place);
    return "<p class=\"soft\">Small networks trained with quantized products, beside the same in "
           "binary32.</p>\n" +
           charts(figures, tasks.size()) + folded("All rows", table.markup()) +
           rows_left(runs.size(), table);
}

}  // namespace mx::reports::html
