// What the sections of the HTML page have in common: numbers, tags, tables. See html_parts.hpp.
#include "reports/render/html_parts.hpp"

#include "reports/model/phrases.hpp"
#include "reports/render/chart.hpp"
#include "reports/render/escape.hpp"

namespace mx::reports::html {

const results::Attachments& Page::attached() const {
    static const results::Attachments nothing;
    return material.attached == nullptr ? nothing : *material.attached;
}

std::string_view tone_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass_exact:
        case Verdict::pass_bounded:
            return "good";
        case Verdict::deviation:
        case Verdict::waived:
        case Verdict::insufficient_data:
        case Verdict::untested:
            return "note";
        case Verdict::not_supported:
            return "mute";
        default:
            return "bad";
    }
}

std::string tag(Verdict verdict) {
    return "<span class=\"tag " + std::string(tone_of(verdict)) + "\">" + words_of(verdict) +
           "</span>";
}

std::string number(std::uint64_t value) {
    return "<data value=\"" + std::to_string(value) + "\">" + grouped(value) + "</data>";
}

std::string shown(std::string_view text) {
    constexpr std::size_t bytes_max = 500;
    if (text.size() <= bytes_max) return escape_markup(text);
    return escape_markup(text.substr(0, bytes_max)) + " … (" + grouped(text.size() - bytes_max) +
           " more bytes in the file)";
}

std::string or_dash(std::string_view text) {
    return text.empty() ? "–" : shown(text);
}

std::string or_dash(const std::optional<double>& value) {
    return value ? short_number(*value) : "–";
}

Table::Table(std::string label, std::vector<Column> columns)
    : label_(std::move(label)), columns_(std::move(columns)) {}

void Table::add(const std::vector<std::string>& cells) {
    ++rows_;
    body_ += "<tr>";
    for (std::size_t place = 0; place < cells.size(); ++place) {
        const Column& column = columns_.at(place);
        body_ += "<td" + std::string(column.is_number ? " class=\"right\"" : "") +
                 " data-label=\"" + column.title + "\">" + cells[place] + "</td>";
    }
    body_ += "</tr>\n";
}

bool Table::is_full() const {
    constexpr std::size_t bytes_max = list_bytes_max / 4;
    return rows_ >= rows_listed_max || body_.size() >= bytes_max;
}

std::string Table::markup() const {
    std::string text =
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: " + label_ +
        "\"><table class=\"prose-table\"><thead><tr>";
    for (const Column& column : columns_)
        text += "<th scope=\"col\"" + std::string(column.is_number ? " class=\"right\"" : "") +
                ">" + column.title + "</th>";
    return text + "</tr></thead><tbody>\n" + body_ + "</tbody></table></div>\n";
}

std::string rows_left(std::size_t all, const Table& table) {
    if (all <= table.size()) return "";
    return "<p>" + counted(all - table.size(), "more row") + " in the file.</p>\n";
}

std::string charts(const std::string& figures, std::size_t all) {
    if (figures.empty()) return "";
    const std::string text = "<div class=\"charts\">\n" + figures + "</div>\n";
    if (all <= charts_drawn_max) return text;
    return text + "<p>" + counted(all - charts_drawn_max, "more chart") +
           " not drawn; the file holds the numbers.</p>\n";
}

std::string folded(std::string_view title, const std::string& table) {
    return "<details class=\"numbers\" open><summary>" + std::string(title) + "</summary>" + table +
           "</details>\n";
}

bool lists_passes(const results::Run& run) {
    return run.cases.size() <= cases_listed_max;
}

}  // namespace mx::reports::html
