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

// One operation has a table of its own, with the columns that it has a case in: so it fits paper.
// Rows of which the device supports nothing are a part apart, folded.
struct Part {
    bool is_refused = false;
    std::vector<std::size_t> rows = {}, columns = {};  // places in the matrix
};

bool is_refused(const Matrix::Row& row) {
    return std::all_of(row.cells.begin(), row.cells.end(), [](const VerdictCounts& cell) {
        return cell.of(Verdict::not_supported) == cell.all();
    });
}

std::vector<Part> parts_of(const Matrix& matrix) {
    std::vector<Part> parts;
    for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
        const bool refused = is_refused(matrix.rows[row]);
        const auto same = [&](const Part& part) {
            return part.is_refused == refused &&
                   matrix.rows[part.rows.front()].operation == matrix.rows[row].operation;
        };
        auto found = std::find_if(parts.begin(), parts.end(), same);
        if (found == parts.end()) found = parts.insert(parts.end(), Part{.is_refused = refused});
        found->rows.push_back(row);
    }
    std::stable_partition(parts.begin(), parts.end(),
                          [](const Part& part) { return !part.is_refused; });
    for (Part& part : parts)
        for (std::size_t column = 0; column < matrix.columns.size(); ++column)
            if (std::any_of(part.rows.begin(), part.rows.end(), [&](std::size_t row) {
                    return matrix.rows[row].cells[column].all() != 0;
                }))
                part.columns.push_back(column);
    return parts;
}

// `at` counts the columns of the part.
bool starts_dialect(const Matrix& matrix, const Part& part, std::size_t at) {
    return at == 0 ||
           matrix.columns[part.columns[at]].dialect != matrix.columns[part.columns[at - 1]].dialect;
}

std::string head(const Matrix& matrix, const Part& part) {
    std::string dialects, inputs;
    for (std::size_t at = 0; at < part.columns.size(); ++at) {
        const Matrix::Column& column = matrix.columns[part.columns[at]];
        const bool starts = starts_dialect(matrix, part, at);
        if (starts) {
            std::size_t end = at + 1;
            while (end < part.columns.size() && !starts_dialect(matrix, part, end)) ++end;
            dialects += "<th scope=\"colgroup\" colspan=\"" + std::to_string(end - at) + "\">" +
                        or_dash(column.dialect) + "</th>";
        }
        inputs += starts ? "<th scope=\"col\" class=\"first\">" : "<th scope=\"col\">";
        inputs += or_dash(column.input) + "</th>";
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

// Whether the list of cases has one of this cell.
bool is_listed(const Page& page, const VerdictCounts& cell) {
    const std::uint64_t plain = cell.of(Verdict::pass_exact) + cell.of(Verdict::pass_bounded);
    return lists_passes(page.run()) || plain != cell.all();
}

// A cell leads to its first cluster, or else to its cases.
std::string cell_text(const Page& page, const FirstClusters& first, CellPlace place,
                      const char* more_classes) {
    const Matrix& matrix = page.summary.matrix;
    const VerdictCounts& cell = matrix.rows[place.row].cells[place.column];
    std::string classes(cell.all() == 0 ? "mute" : tone_of(cell.worst()));
    classes += more_classes;
    if (cell.all() == 0)
        return "<td class=\"" + classes + "\" title=\"the run had no such case\">–</td>";
    std::string text = "<td class=\"" + classes + "\" title=\"" + all_counts(cell) + "\">";
    const auto found = first.find({place.row, place.column});
    if (found == first.end() && !is_listed(page, cell)) return text + cell_content(cell) + "</td>";
    if (found == first.end())
        return text + "<a href=\"#cases\" data-cell=\"" + std::to_string(place.row) + "-" +
               std::to_string(place.column) + "\">" + cell_content(cell) + "</a></td>";
    return text + "<a href=\"#" + cluster_id(found->second) + "\">" + cell_content(cell) +
           "</a></td>";
}

std::string row_text(const Page& page, const FirstClusters& first, const Part& part,
                     std::size_t position) {
    const Matrix& matrix = page.summary.matrix;
    const Matrix::Row& row = matrix.rows[position];
    std::string text = "<tr><th scope=\"row\">" + or_dash(row.operation) +
                       " <span class=\"format\">" + or_dash(row.format) + "</span></th>";
    for (std::size_t at = 0; at < part.columns.size(); ++at)
        text += cell_text(page, first, {position, part.columns[at]},
                          starts_dialect(matrix, part, at) ? " first" : "");
    return text + "</tr>\n";
}

std::string table_of(const Page& page, const FirstClusters& first, const Part& part) {
    const Matrix& matrix = page.summary.matrix;
    const std::string operation = or_dash(matrix.rows[part.rows.front()].operation);
    std::string text =
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Pass matrix of " +
        operation + "\"><table class=\"matrix\" aria-describedby=\"matrix-note\">\n" +
        head(matrix, part) + "<tbody>\n";
    for (const std::size_t row : part.rows) text += row_text(page, first, part, row);
    text += "</tbody></table></div>\n";
    if (!part.is_refused) return text;
    return "<details><summary>Not supported at all: " + counted(part.rows.size(), "row") + " of " +
           operation + "</summary>\n" + text + "</details>\n";
}

}  // namespace

std::string matrix_section(const Page& page) {
    const Matrix& matrix = page.summary.matrix;
    if (matrix.rows.empty()) return "<p>No case was run.</p>\n";
    std::string text =
        "<p class=\"soft\" id=\"matrix-note\">The most severe verdict of each cell, with its "
        "number of cases. A cell links to its first cluster, or to its cases.</p>\n";
    const FirstClusters first = first_clusters(page.summary);
    for (const Part& part : parts_of(matrix)) text += table_of(page, first, part);
    return text;
}

}  // namespace mx::reports::html
