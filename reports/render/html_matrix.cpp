// The pass matrix of the HTML page: operation and format against dialect and input type. Used by
// html.cpp. Must not know the other sections, but links to clusters by their ids.
#include <algorithm>
#include <map>
#include <utility>

#include "reports/model/phrases.hpp"
#include "reports/render/escape.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

// The first, which is the most severe, cluster of each cell.
using FirstClusters = std::map<std::pair<std::size_t, std::size_t>, std::size_t>;

FirstClusters first_clusters(const Summary& summary) {
    FirstClusters first;
    const std::size_t drawn = std::min(summary.clusters.size(), clusters_drawn_max);
    for (std::size_t position = 0; position < drawn; ++position) {
        const CellPlace place = summary.clusters[position].place;
        first.try_emplace({place.row, place.column}, position);
    }
    return first;
}

std::string or_dash(const std::string& text) { return text.empty() ? "–" : escape_markup(text); }

bool starts_dialect(const Matrix& matrix, std::size_t column) {
    return column == 0 || matrix.columns[column].dialect != matrix.columns[column - 1].dialect;
}

std::string head(const Matrix& matrix) {
    std::string dialects, inputs;
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
        if (starts_dialect(matrix, column)) {
            std::size_t end = column + 1;
            while (end < matrix.columns.size() && !starts_dialect(matrix, end)) ++end;
            dialects += "<th scope=\"colgroup\" colspan=\"" + std::to_string(end - column) +
                        "\">" + or_dash(matrix.columns[column].dialect) + "</th>";
        }
        inputs += starts_dialect(matrix, column) ? "<th scope=\"col\" class=\"first\">"
                                                 : "<th scope=\"col\">";
        inputs += or_dash(matrix.columns[column].input) + "</th>";
    }
    return "<thead><tr><td rowspan=\"2\"></td>" + dialects + "</tr>\n<tr>" + inputs +
           "</tr></thead>\n";
}

// "3 fail, 9 pass exact"
std::string all_counts(const VerdictCounts& cell) {
    std::string text;
    for (const Verdict verdict : verdicts_by_severity) {
        if (cell.of(verdict) == 0) continue;
        if (!text.empty()) text += ", ";
        text += grouped(cell.of(verdict)) + " " + words_of(verdict);
    }
    return text;
}

std::string cell_content(const VerdictCounts& cell) {
    const Verdict worst = cell.worst();
    const std::uint64_t count = cell.of(worst);
    std::string text = "<b>" + std::string(short_word_of(worst)) + "</b><span>";
    text += count == cell.all() ? grouped(count) : grouped(count) + " of " + grouped(cell.all());
    return text + "</span>";
}

std::string cell_text(const Matrix& matrix, const FirstClusters& first, CellPlace place) {
    const VerdictCounts& cell = matrix.rows[place.row].cells[place.column];
    std::string classes(cell.all() == 0 ? "mute" : tone_of(cell.worst()));
    if (starts_dialect(matrix, place.column)) classes += " first";
    if (cell.all() == 0)
        return "<td class=\"" + classes + "\" title=\"the run had no such case\">–</td>";
    std::string text = "<td class=\"" + classes + "\" title=\"" + all_counts(cell) + "\">";
    const auto found = first.find({place.row, place.column});
    if (found == first.end()) return text + cell_content(cell) + "</td>";
    return text + "<a href=\"#" + cluster_id(found->second) + "\">" + cell_content(cell) +
           "</a></td>";
}

std::string row_text(const Matrix& matrix, const FirstClusters& first, std::size_t position) {
    const Matrix::Row& row = matrix.rows[position];
    std::string text = "<tr><th scope=\"row\">" + or_dash(row.operation) +
                       " <span class=\"format\">" + or_dash(row.format) + "</span></th>";
    for (std::size_t column = 0; column < row.cells.size(); ++column)
        text += cell_text(matrix, first, {position, column});
    return text + "</tr>\n";
}

}  // namespace

std::string matrix_section(const Summary& summary) {
    const Matrix& matrix = summary.matrix;
    std::string text = "<section id=\"matrix\" aria-labelledby=\"matrix-title\">\n"
                       "<h2 id=\"matrix-title\">Pass matrix</h2>\n";
    if (matrix.rows.empty()) return text + "<p>No case was run.</p>\n</section>\n";
    text += "<p class=\"soft\" id=\"matrix-note\">The most severe verdict of each cell, with its "
            "number of cases. A verdict that needs a look links to its first cluster.</p>\n"
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Pass matrix\">"
            "<table class=\"matrix\" aria-describedby=\"matrix-note\">\n" +
            head(matrix) + "<tbody>\n";
    const FirstClusters first = first_clusters(summary);
    for (std::size_t row = 0; row < matrix.rows.size(); ++row) text += row_text(matrix, first, row);
    return text + "</tbody></table></div>\n</section>\n";
}

}  // namespace mx::reports::html
