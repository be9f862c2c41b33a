// The heat maps of the HTML page: mismatches over the inputs, and over lanes and exponents. Used by
// html.cpp. Must not know the other sections.
#include <algorithm>
#include <bit>

#include "reports/model/heat.hpp"
#include "reports/model/phrases.hpp"
#include "reports/render/escape.hpp"
#include "reports/render/html_parts.hpp"
#include "reports/render/png.hpp"

namespace mx::reports::html {
namespace {

// Counts of 1, 2 to 3, 4 to 7, ... have a colour each.
std::size_t colour_of(std::uint64_t count) {
    return static_cast<std::size_t>(std::bit_width(count));
}

// From amber over red to purple: each can be seen on white and on near black.
std::vector<Colour> palette_of(std::size_t colours) {
    constexpr double stops[3][3] = {{235, 172, 60}, {222, 70, 60}, {140, 32, 130}};
    std::vector<Colour> palette;
    for (std::size_t place = 0; place < colours; ++place) {
        const double at = colours == 1
                              ? 1.0
                              : 2.0 * static_cast<double>(place) / static_cast<double>(colours - 1);
        const std::size_t from = at < 1 ? 0 : 1;
        const auto part = [&](std::size_t channel) {
            const double share = at - static_cast<double>(from);
            return static_cast<std::uint8_t>(stops[from][channel] * (1 - share) +
                                             stops[from + 1][channel] * share + 0.5);
        };
        palette.push_back({part(0), part(1), part(2)});
    }
    return palette;
}

Picture picture_of(const HeatMap& map) {
    Picture picture{map.columns, map.rows, {}, palette_of(colour_of(map.largest()))};
    for (const std::uint64_t count : map.counts)
        picture.pixels.push_back(static_cast<std::uint8_t>(colour_of(count)));
    return picture;
}

std::string css_of(const Colour& colour) {
    return "rgb(" + std::to_string(colour.red) + "," + std::to_string(colour.green) + "," +
           std::to_string(colour.blue) + ")";
}

std::string legend_of(const Picture& picture) {
    std::string text = "<ul class=\"legend heat\" aria-label=\"Mismatches of a pixel\">";
    for (std::size_t place = 0; place < picture.palette.size(); ++place) {
        const std::uint64_t from = std::uint64_t{1} << place;
        text +=
            "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect width=\"10\" "
            "height=\"10\" fill=\"" +
            css_of(picture.palette[place]) + "\"/></svg>" + grouped(from) +
            (place == 0 ? "" : "–" + grouped(2 * (from - 1) + 1)) + "</li>";
    }
    return text + "</ul>";
}

struct Tick {
    double at;  // 0 to 256
    std::string label;
};

struct Drawing {
    std::string id, title, description, axis;
    std::vector<Tick> ticks;  // below
};

std::string vertical_ticks() {
    constexpr double left = 60;
    std::string text;
    for (const auto& [exponent, name] : {std::pair{255, "Inf, NaN"},
                                         {191, "2^64"},
                                         {159, "2^32"},
                                         {127, "1"},
                                         {95, "2^-32"},
                                         {63, "2^-64"},
                                         {0, "0, subn."}}) {
        const std::string y = std::to_string(6 + 255 - exponent);
        text += "<line x1=\"" + std::to_string(left - 4) + "\" x2=\"" + std::to_string(left) +
                "\" y1=\"" + y + "\" y2=\"" + y + "\"/><text x=\"54\" y=\"" + y +
                "\" dy=\"3\" text-anchor=\"end\">" + name + "</text>";
    }
    return text;
}

std::string horizontal_ticks(const std::vector<Tick>& ticks) {
    std::string text;
    for (const Tick& tick : ticks) {
        const std::string x = std::to_string(static_cast<int>(60 + tick.at));
        text += "<line x1=\"" + x + "\" x2=\"" + x + "\" y1=\"262\" y2=\"266\"/><text x=\"" + x +
                "\" y=\"277\" text-anchor=\"middle\">" + tick.label + "</text>";
    }
    return text;
}

// A pixel a cell, stretched to a square.
std::string figure_of(const HeatMap& map, const Drawing& drawing, const std::string& numbers) {
    const Picture picture = picture_of(map);
    return "<figure class=\"chart map\" id=\"" + drawing.id + "\"><figcaption><b>" + drawing.title +
           "</b> " + drawing.description + "</figcaption><svg role=\"img\" aria-labelledby=\"" +
           drawing.id + "-t " + drawing.id + "-d\" viewBox=\"0 0 330 296\"><title id=\"" +
           drawing.id + "-t\">" + drawing.title + "</title><desc id=\"" + drawing.id + "-d\">" +
           drawing.description +
           " The largest counts stand in the table below.</desc><rect class=\"frame\" x=\"59.5\" "
           "y=\"5.5\" width=\"257\" height=\"257\"/><image x=\"60\" y=\"6\" width=\"256\" "
           "height=\"256\" preserveAspectRatio=\"none\" href=\"" +
           data_address(picture) + "\"/><g class=\"ticks\">" + vertical_ticks() +
           horizontal_ticks(drawing.ticks) + "<text x=\"188\" y=\"291\" text-anchor=\"middle\">" +
           drawing.axis + "</text></g></svg>" + legend_of(picture) + numbers + "</figure>\n";
}

std::string placed_text(const HeatMap& map) {
    return grouped(map.placed) + " of the run's " + grouped(map.of) +
           (map.of == 1 ? " mismatch" : " mismatches");
}

constexpr std::size_t hottest_listed_max = 12;

std::string inputs_figure(const Page& page) {
    const HeatMap map = input_map(page.run());
    Table table("Inputs with most mismatches", {{"input"}, {"mismatches", true}});
    for (const std::size_t cell : hottest(map, hottest_listed_max))
        table.add(
            {"<code>" + bfloat16_text(bfloat16_at(cell)) + "</code>", number(map.counts[cell])});
    const Drawing drawing{"heat-inputs",
                          "By input.",
                          "One pixel for each bfloat16, rows by exponent, columns by mantissa.",
                          "sign and mantissa",
                          {{0, "-1.99"}, {64, "-1.5"}, {128, "±1"}, {192, "1.5"}, {256, "1.99"}}};
    return figure_of(map, drawing,
                     "<details class=\"numbers\"><summary>Largest counts</summary>" +
                         table.markup() + "</details>");
}

std::string lanes_figure(const Page& page) {
    const HeatMap map = lane_map(page.run());
    Table table("Lanes and exponents with most mismatches",
                {{"lane", true}, {"exponent", true}, {"mismatches", true}});
    for (const std::size_t cell : hottest(map, hottest_listed_max)) {
        const auto exponent = static_cast<int>(exponent_rows - 1 - cell / lane_columns) - 127;
        table.add({std::to_string(cell % lane_columns), std::to_string(exponent),
                   number(map.counts[cell])});
    }
    std::vector<Tick> ticks;
    for (const int lane : {0, 8, 16, 24, 31})
        ticks.push_back({8.0 * lane + 4, std::to_string(lane)});
    const Drawing drawing{"heat-lanes", "By lane.",
                          "Columns are the lanes of a block, rows the exponent of the input.",
                          "lane of 32", ticks};
    return figure_of(map, drawing,
                     "<details class=\"numbers\"><summary>Largest counts</summary>" +
                         table.markup() + "</details>");
}

}  // namespace

std::string heat_section(const Page& page) {
    const HeatMap map = input_map(page.run());
    if (map.of == 0) return "";
    if (map.placed == 0)
        return "<p>The inputs of the mismatches are not recorded: this holds for matrix products, "
               "for dequantizing, and for files of older programs.</p>\n";
    return "<p class=\"soft\" id=\"heat-note\">" + placed_text(map) +
           " are drawn: those whose input is a value. Inputs of binary32 and binary16 stand in the "
           "cell of their leading bits; of a scale, it is the block's largest magnitude.</p>\n"
           "<div class=\"charts\">\n" +
           inputs_figure(page) + lanes_figure(page) + "</div>\n";
}

}  // namespace mx::reports::html
