// See chart.hpp.
#include "reports/render/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "reports/render/escape.hpp"

namespace mx::reports {
namespace {

constexpr double width = 560, height = 300;
constexpr double left = 66, right = width - 14, top = 12, bottom = height - 44;
constexpr double ticks_wanted = 6;
constexpr int ticks_max = 32;
constexpr std::size_t points_drawn_max = 240, rows_shown_max = 64;

std::string fixed(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

double scaled(const Axis& axis, double value) {
    if (axis.scaling == Scaling::linear) return value;
    return axis.scaling == Scaling::log2 ? std::log2(value) : std::log10(value);
}
double unscaled(const Axis& axis, double place) {
    if (axis.scaling == Scaling::linear) return place;
    return std::pow(axis.scaling == Scaling::log2 ? 2.0 : 10.0, place);
}

// 1, 2 or 5 times a power of ten; whole steps of an exponent.
double step_of(const Axis& axis, double span) {
    if (axis.scaling != Scaling::linear) return std::max(1.0, std::ceil(span / ticks_wanted));
    const double rough = std::max(span, 1e-300) / ticks_wanted;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (rough <= factor * power) return std::max(axis.step_min, factor * power);
    return std::max(axis.step_min, 10 * power);
}

// Where values of one axis stand on the page.
class Ruler {
public:
    Ruler(const Axis& axis, double from, double to) : axis_(axis), from_(from), to_(to) {}

    void take(double value) {
        const double place = scaled(axis_, value);
        if (!std::isfinite(place)) return;
        low_ = is_empty_ ? place : std::min(low_, place);
        high_ = is_empty_ ? place : std::max(high_, place);
        is_empty_ = false;
    }
    // From and to whole steps; where values are shares of something, from 0.
    void round_out() {
        if (axis_.scaling == Scaling::linear && low_ >= 0) low_ = 0;
        const double step = step_of(axis_, high_ - low_);
        low_ = std::floor(low_ / step) * step;
        high_ = std::ceil(high_ / step) * step;
        widen();
    }
    // Of numbers beyond 2^53 a half more is none.
    void widen() {
        if (high_ - low_ > 0) return;
        const double margin =
            std::max(axis_.scaling == Scaling::linear ? 0.5 : 1, std::abs(low_) * 1e-9);
        low_ -= margin;
        high_ += margin;
    }
    void add_margin(double each) { low_ -= each, high_ += each; }

    bool is_empty() const { return is_empty_; }
    bool shows(double value) const { return std::isfinite(scaled(axis_, value)); }
    double at(double value) const { return place_at(scaled(axis_, value)); }
    std::vector<double> ticks() const {
        std::vector<double> values;
        const double step = step_of(axis_, high_ - low_);
        // Adding 0 makes 0 of -0.
        const double first = std::ceil(low_ / step - 1e-9);
        for (int i = 0; i < ticks_max && (first + i) * step <= high_ + step * 1e-9; ++i)
            if (const double tick = unscaled(axis_, (first + i) * step + 0.0); shows(tick))
                values.push_back(tick);
        return values;
    }
    const Axis& axis() const { return axis_; }

private:
    double place_at(double place) const {
        return from_ + (place - low_) / (high_ - low_) * (to_ - from_);
    }
    const Axis& axis_;
    double from_, to_;
    double low_ = 0, high_ = 0;
    bool is_empty_ = true;
};

struct Rulers {
    Ruler x, y;
    bool shows(const Point& point) const { return x.shows(point.x) && y.shows(point.y); }
};

bool is_bar(Mark mark) {
    return mark == Mark::bars || mark == Mark::outline;
}

Rulers rulers_of(const Chart& chart) {
    Rulers rulers{{chart.x, left, right}, {chart.y, bottom, top}};
    bool has_bars = false;
    for (const Series& series : chart.series) {
        has_bars = has_bars || is_bar(series.mark);
        for (const Point& point : series.points) {
            if (!rulers.shows(point)) continue;
            rulers.x.take(point.x);
            for (const double y : {point.y, point.low, point.high})
                if (y == point.y || point.low < point.high) rulers.y.take(y);
            // So that the smallest bar on a scale of powers has a height.
            if (is_bar(series.mark)) rulers.y.take(point.y / 2);
        }
    }
    rulers.x.widen();
    rulers.y.round_out();
    if (has_bars) rulers.x.add_margin(0.5);
    return rulers;
}

std::string line(double x1, double y1, double x2, double y2) {
    return "<line x1=\"" + fixed(x1) + "\" y1=\"" + fixed(y1) + "\" x2=\"" + fixed(x2) +
           "\" y2=\"" + fixed(y2) + "\"/>";
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
    return "<text x=\"" + fixed(x) + "\" y=\"" + fixed(y) + "\" text-anchor=\"" + anchor + "\">" +
           escape_markup(text) + "</text>";
}

std::string grid_of(const Rulers& rulers) {
    std::string text = "<g class=\"grid\">";
    for (const double tick : rulers.y.ticks())
        text += line(left, rulers.y.at(tick), right, rulers.y.at(tick));
    text += "</g><g class=\"ticks\">";
    for (const double tick : rulers.y.ticks())
        text += label(left - 7, rulers.y.at(tick) + 3.5, "end", rulers.y.axis().number(tick));
    for (const double tick : rulers.x.ticks()) {
        text += line(rulers.x.at(tick), bottom, rulers.x.at(tick), bottom + 4);
        text += label(rulers.x.at(tick), bottom + 16, "middle", rulers.x.axis().number(tick));
    }
    text += label((left + right) / 2, height - 7, "middle", rulers.x.axis().label);
    text += "<text class=\"y\" text-anchor=\"middle\" transform=\"translate(12 " +
            fixed((top + bottom) / 2) + ") rotate(-90)\">" + escape_markup(rulers.y.axis().label) +
            "</text>";
    return text + "</g>" + "<g class=\"axis\">" + line(left, bottom, right, bottom) + "</g>";
}

// The first, the last and evenly between.
template <typename Item>
std::vector<Item> thinned(const std::vector<Item>& items, std::size_t count_max) {
    if (items.size() <= count_max) return items;
    std::vector<Item> kept;
    for (std::size_t i = 0; i < count_max; ++i)
        kept.push_back(items[i * (items.size() - 1) / (count_max - 1)]);
    return kept;
}

std::string mark_of(const Series& series, const Point& point, const Rulers& rulers) {
    const std::string title = "<title>" + escape_markup(series.name) + ": " +
                              escape_markup(rulers.x.axis().number(point.x)) + ", " +
                              escape_markup(rulers.y.axis().number(point.y)) + "</title>";
    const double x = rulers.x.at(point.x), y = rulers.y.at(point.y);
    if (!is_bar(series.mark))
        return "<circle cx=\"" + fixed(x) + "\" cy=\"" + fixed(y) + "\" r=\"3\">" + title +
               "</circle>";
    const double from = rulers.x.at(point.x - 0.45), to = rulers.x.at(point.x + 0.45);
    return "<rect x=\"" + fixed(from) + "\" y=\"" + fixed(y) + "\" width=\"" + fixed(to - from) +
           "\" height=\"" + fixed(bottom - y) + "\">" + title + "</rect>";
}

std::string path_of(const std::vector<Point>& points, const Rulers& rulers) {
    std::string path;
    bool is_drawing = false;
    for (const Point& point : points) {
        const bool shows = rulers.shows(point);
        if (shows)
            path += (is_drawing ? "L" : "M") + fixed(rulers.x.at(point.x)) + " " +
                    fixed(rulers.y.at(point.y));
        is_drawing = shows;
    }
    return "<path d=\"" + path + "\"/>";
}

// Many bars are narrow: their outlines must be thin.
constexpr std::size_t fine_above = 40;

std::string class_of(const Series& series, std::size_t place) {
    constexpr std::array<const char*, 5> marks{"line", "roof", "dots", "bars", "outline"};
    return "series " + std::string(marks.at(static_cast<std::size_t>(series.mark))) + " s" +
           std::to_string(place % 8) + (series.points.size() > fine_above ? " fine" : "");
}

std::string series_of(const Series& series, std::size_t place, const Rulers& rulers) {
    constexpr std::size_t marked_max = 60;
    const std::vector<Point> points = thinned(series.points, points_drawn_max);
    std::string text = "<g class=\"" + class_of(series, place) + "\">";
    const bool is_line = series.mark == Mark::line || series.mark == Mark::roof;
    if (is_line) text += path_of(points, rulers);
    const bool is_alone = points.size() == 1;
    const bool is_marked = series.mark == Mark::line ? points.size() <= marked_max
                                                     : series.mark != Mark::roof || is_alone;
    for (const Point& point : points) {
        if (!rulers.shows(point)) continue;
        if (point.low < point.high && rulers.y.shows(point.low) && rulers.y.shows(point.high))
            text += line(rulers.x.at(point.x), rulers.y.at(point.low), rulers.x.at(point.x),
                         rulers.y.at(point.high));
        if (is_marked) text += mark_of(series, point, rulers);
    }
    return text + "</g>";
}

std::string legend_of(const Chart& chart) {
    if (chart.series.size() < 2) return "";
    std::string text = "<ul class=\"legend\">";
    for (std::size_t place = 0; place < chart.series.size(); ++place)
        text += "<li><svg viewBox=\"0 0 22 10\" aria-hidden=\"true\"><g class=\"" +
                class_of(chart.series[place], place) +
                (is_bar(chart.series[place].mark)
                     ? "\"><rect x=\"4\" y=\"1\" width=\"14\" height=\"8\"/>"
                     : "\"><path d=\"M0 5L22 5\"/><circle cx=\"11\" cy=\"5\" r=\"3\"/>") +
                "</g></svg>" + escape_markup(chart.series[place].name) + "</li>";
    return text + "</ul>";
}

std::string table_of(const Chart& chart) {
    std::map<double, std::vector<std::optional<double>>> by_x;
    for (std::size_t place = 0; place < chart.series.size(); ++place)
        for (const Point& point : chart.series[place].points) {
            auto& row = by_x[point.x];
            row.resize(chart.series.size());
            row[place] = point.y;
        }
    const std::vector<std::pair<double, std::vector<std::optional<double>>>> all(by_x.begin(),
                                                                                 by_x.end());
    const auto rows = thinned(all, rows_shown_max);
    std::string text = "<details class=\"numbers\"><summary>Numbers</summary>";
    if (rows.size() < all.size())
        text += "<p>" + std::to_string(rows.size()) + " of " + std::to_string(all.size()) +
                " rows, evenly chosen.</p>";
    text += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Numbers of " +
            escape_markup(chart.title) + "\"><table><thead><tr><th scope=\"col\">" +
            escape_markup(chart.x.label) + "</th>";
    for (const Series& series : chart.series)
        text += "<th scope=\"col\" class=\"right\">" + escape_markup(series.name) + "</th>";
    text += "</tr></thead><tbody>";
    for (const auto& [x, values] : rows) {
        text += "<tr><th scope=\"row\">" + escape_markup(chart.x.number(x)) + "</th>";
        for (const auto& value : values) {
            const std::string cell = value ? escape_markup(chart.y.number(*value)) : "–";
            text += "<td class=\"right\">" + cell + "</td>";
        }
        text += "</tr>";
    }
    return text + "</tbody></table></div></details>";
}

}  // namespace

std::string short_number(double value) {
    const bool is_whole = value == std::floor(value) && std::abs(value) < 1e7;
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), is_whole ? "%.0f" : "%.4g", value);
    return text.data();
}

std::string bytes_number(double value) {
    constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
    return short_number(value) + " " + units[unit];
}

std::string figure_of(const Chart& chart) {
    const Rulers rulers = rulers_of(chart);
    if (rulers.x.is_empty()) return "";
    std::string text = "<figure class=\"chart\" id=\"" + chart.id + "\"><figcaption><b>" +
                       escape_markup(chart.title) + "</b> " + escape_markup(chart.description) +
                       "</figcaption><svg role=\"img\" aria-labelledby=\"" + chart.id + "-t " +
                       chart.id + "-d\" viewBox=\"0 0 " + fixed(width) + " " + fixed(height) +
                       "\"><title id=\"" + chart.id + "-t\">" + escape_markup(chart.title) +
                       "</title><desc id=\"" + chart.id + "-d\">" +
                       escape_markup(chart.description) + "</desc>" + grid_of(rulers);
    for (std::size_t place = 0; place < chart.series.size(); ++place)
        text += series_of(chart.series[place], place, rulers);
    return text + "</svg>" + legend_of(chart) + table_of(chart) + "</figure>\n";
}

}  // namespace mx::reports
