// The clusters of the HTML page: witness bits, lanes, and the line that runs the case again. Used
// by html.cpp. Must not know the other sections.
#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <vector>

#include "reports/model/phrases.hpp"
#include "reports/render/escape.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

using results::CaseResult;
using results::Mismatch;

std::string pair_of(std::string_view name, const std::string& markup) {
    if (markup.empty()) return "";
    return "<dt>" + std::string(name) + "</dt><dd>" + markup + "</dd>";
}

std::string code_of(const std::string& bits) {
    return bits.empty() ? "" : "<code>" + shown(bits) + "</code>";
}

std::string with_value(const std::string& bits, const std::string& value) {
    if (bits.empty() || value.empty()) return code_of(bits) + shown(value);
    return code_of(bits) + " = " + shown(value);
}

// The bits of "0x3e", most significant first; empty when the text is no byte or two of hex.
std::vector<int> bits_of(std::string_view hex) {
    constexpr std::size_t drawn_digits_max = 4;
    constexpr std::string_view digits = "0123456789abcdef";
    std::vector<int> bits;
    if (hex.size() < 3 || hex.size() > 2 + drawn_digits_max || hex.substr(0, 2) != "0x") return {};
    for (const char character : hex.substr(2)) {
        const std::size_t digit = digits.find(character);
        if (digit == std::string_view::npos) return {};
        for (int bit = 3; bit >= 0; --bit) bits.push_back(static_cast<int>(digit >> bit) & 1);
    }
    return bits;
}

struct Comparison {
    std::string shown, other;  // hex of this side and of the other side
};

// The bit pattern in groups of four, with the bits that differ from the other side marked.
std::string pattern_of(const Comparison& sides) {
    const std::vector<int> bits = bits_of(sides.shown);
    const std::vector<int> other = bits_of(sides.other);
    if (bits.empty() || bits.size() != other.size()) return "";
    std::string text = "<span class=\"pattern\">";
    for (std::size_t at = 0; at < bits.size(); ++at) {
        if (at != 0 && at % 4 == 0) text += " ";
        const std::string digit = std::to_string(bits[at]);
        text += bits[at] == other[at] ? digit : "<mark>" + digit + "</mark>";
    }
    return text + "</span>";
}

struct WitnessRow {
    std::string name;
    std::string expected, actual;
    std::string expected_value, actual_value;
};

std::string side_of(const Comparison& sides, const std::string& value) {
    std::string text = "<td>" + shown(sides.shown);
    text += pattern_of(sides);
    if (!value.empty()) text += "<span class=\"value\">" + shown(value) + "</span>";
    return text + "</td>";
}

std::string row_of(const WitnessRow& row) {
    if (row.expected.empty() && row.actual.empty()) return "";
    const bool differs = row.expected != row.actual;
    std::string text = differs ? "<tr class=\"differs\">" : "<tr>";
    text += "<th scope=\"row\">" + row.name + "</th>" +
            side_of({row.expected, row.actual}, row.expected_value) +
            side_of({row.actual, row.expected}, row.actual_value);
    return text + (differs ? "<td>differs</td></tr>" : "<td class=\"soft\">equal</td></tr>");
}

std::string bits_table(const Mismatch& witness) {
    WitnessRow scale{"scale", witness.expected_scale, witness.actual_scale, "", ""};
    WitnessRow element{"element", witness.expected_element, witness.actual_element, "", ""};
    // The decoded values belong to what differs: the element if there is one, else the scale.
    WitnessRow& valued = element.expected.empty() && element.actual.empty() ? scale : element;
    valued.expected_value = witness.expected_value;
    valued.actual_value = witness.actual_value;
    const std::string rows = row_of(scale) + row_of(element);
    if (rows.empty()) return "";
    return "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Expected and actual "
           "bits\"><table class=\"bits\"><thead><tr><td></td>"
           "<th scope=\"col\">expected</th><th scope=\"col\">actual</th><td></td></tr></thead>"
           "<tbody>" +
           rows + "</tbody></table></div>\n";
}

// A path may go on in the next line behind each of its folders.
std::string with_breaks(const std::string& markup) {
    std::string text;
    for (const char letter : markup) {
        text += letter;
        if (letter == '/') text += "<wbr>";
    }
    return text;
}

std::string facts_list(const Cluster& cluster) {
    const Mismatch& witness = *cluster.witness;
    return "<dl>" + pair_of("first at", place_of(*cluster.first_case, witness)) +
           pair_of("input", with_value(witness.input_bits, witness.input_value)) +
           pair_of("block amax", shown(witness.amax_value)) +
           pair_of("exact", shown(witness.exact_value)) +
           pair_of("open decision", shown(witness.open_decision)) +
           pair_of("by", with_breaks(shown(witness.source))) + "</dl>\n";
}

std::string lanes_sentence(const std::vector<std::uint64_t>& lanes) {
    const auto top = std::max_element(lanes.begin(), lanes.end());
    const auto hit = lanes.size() - static_cast<std::size_t>(
                                        std::count(lanes.begin(), lanes.end(), std::uint64_t{0}));
    if (std::count(lanes.begin(), lanes.end(), *top) == static_cast<std::ptrdiff_t>(lanes.size()))
        return "Mismatches by lane: " + grouped(*top) + " in each of " + grouped(lanes.size()) +
               " lanes.";
    const auto top_lane = static_cast<std::uint64_t>(top - lanes.begin());
    return "Mismatches by lane: " + grouped(hit) + " of " + grouped(lanes.size()) +
           " lanes are hit, most often lane " + grouped(top_lane) + " with " + grouped(*top) + ".";
}

std::string fixed_point(double number) {
    const auto tenths = static_cast<long long>(number * 10 + 0.5);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

// A bar per lane. A lane that was hit even once keeps a bar that can be seen.
std::string lanes_figure(const std::vector<std::uint64_t>& lanes) {
    constexpr double pitch = 12, bar = 9, height = 48, bar_min = 1.5, label = 12;
    if (lanes.empty() || *std::max_element(lanes.begin(), lanes.end()) == 0) return "";
    const double top = static_cast<double>(*std::max_element(lanes.begin(), lanes.end()));
    const double width = pitch * static_cast<double>(lanes.size());
    const std::string sentence = lanes_sentence(lanes);
    std::string text = "<figure><svg class=\"lanes\" role=\"img\" aria-label=\"" + sentence +
                       "\" viewBox=\"0 0 " + fixed_point(width) + " " +
                       fixed_point(height + label) + "\">";
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        const double left = pitch * static_cast<double>(lane);
        const double tall =
            lanes[lane] == 0 ? 0
                             : std::max(bar_min, height * static_cast<double>(lanes[lane]) / top);
        if (lanes[lane] != 0)
            text += "<rect x=\"" + fixed_point(left) + "\" y=\"" + fixed_point(height - tall) +
                    "\" width=\"" + fixed_point(bar) + "\" height=\"" + fixed_point(tall) +
                    "\" fill=\"currentColor\"><title>lane " + std::to_string(lane) + ": " +
                    grouped(lanes[lane]) + "</title></rect>";
        if (lane % 8 == 0 || lane + 1 == lanes.size())
            text += "<text class=\"axis\" x=\"" + fixed_point(left + bar / 2) + "\" y=\"" +
                    fixed_point(height + label - 2) + "\" text-anchor=\"middle\">" +
                    std::to_string(lane) + "</text>";
    }
    text += "<line x1=\"0\" x2=\"" + fixed_point(width) + "\" y1=\"" + fixed_point(height) +
            "\" y2=\"" + fixed_point(height) + "\"/></svg>";
    return text + "<figcaption>" + sentence + "</figcaption></figure>\n";
}

std::string repro_line(const std::string& command) {
    return "<div class=\"repro\"><code>" + escape_markup(command) +
           "</code><button type=\"button\" class=\"copy needs-script\">Copy</button></div>\n";
}

// As encodeURIComponent of a browser has it.
std::string percent_encoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF", kept = "-_.!~*'()";
    std::string encoded;
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        const bool is_kept = (byte < 128 && std::isalnum(byte) != 0) ||
                             kept.find(character) != std::string_view::npos;
        if (is_kept)
            encoded += character;
        else
            encoded += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    return encoded;
}

// To the block of the repro line in the page that explains it: mxcheck replay 'CASE' --device X. A
// gemm has no block.
std::string explain_link(const std::string& explain_page, const Cluster& cluster) {
    const std::size_t open = cluster.repro.find('\'');
    const std::size_t close = cluster.repro.find('\'', open + 1);
    if (explain_page.empty() || close == std::string::npos || cluster.witness == nullptr ||
        cluster.first_case->operation == "gemm")
        return "";
    const std::string line = cluster.repro.substr(open + 1, close - open - 1);
    return "<p><a href=\"" + escape_markup(explain_page + "#case=" + percent_encoded(line)) +
           "\">Every step of this block</a></p>\n";
}

std::string title_of(const Cluster& cluster) {
    const CaseResult& first = *cluster.first_case;
    std::string text =
        "<h3>" + tag(cluster.verdict) +
        shown(joined({first.operation, first.format, first.dialect, first.input}, " "));
    if (const Mismatch* witness = cluster.witness)
        text += " <span class=\"kind\">" +
                escape_markup(
                    joined({witness->stage, witness->mismatch_class, witness->direction}, " · ")) +
                "</span>";
    return text + "</h3>\n";
}

std::string tally_of(const Cluster& cluster) {
    std::string text = "<p class=\"tally\">";
    if (const Mismatch* witness = cluster.witness) {
        const char* noun = witness->stage == "scale" ? " scales" : " elements";
        text += number(cluster.count) + " of " + number(cluster.of) + noun + " in " +
                counted(cluster.cases, "case") +
                (witness->note.empty() ? "." : ": " + shown(witness->note) + ".");
    } else {
        text += counted(cluster.cases, "case") + ".";
    }
    const std::string& reason = cluster.first_case->reason;
    if (!reason.empty()) text += " <span class=\"reason\">" + shown(reason) + "</span>";
    return text + "</p>\n";
}

std::string article(const Page& page, const Cluster& cluster, std::size_t position) {
    std::string text = "<article class=\"cluster " + std::string(tone_of(cluster.verdict)) +
                       "\" id=\"" + cluster_id(position) + "\">\n" + title_of(cluster) +
                       tally_of(cluster);
    if (const Mismatch* witness = cluster.witness) {
        text += "<div class=\"witness\">" + facts_list(cluster) + bits_table(*witness) +
                "</div>\n" + lanes_figure(cluster.lanes);
    }
    return text + repro_line(cluster.repro) + explain_link(page.material.explain_page, cluster) +
           "</article>\n";
}

}  // namespace

std::string cluster_id(std::size_t position) {
    return "cluster-" + std::to_string(position + 1);
}

std::string clusters_section(const Page& page) {
    const auto& clusters = page.summary.clusters;
    if (clusters.empty())
        return "<p>No mismatch, no crash, no deviation: there is nothing to show.</p>\n";
    std::string text =
        "<p class=\"soft\">Like mismatches of like cases, the most severe first, each with its "
        "first witness. All totals are exact.</p>\n";
    const std::size_t drawn = std::min(clusters.size(), clusters_drawn_max);
    std::string folded_away;
    for (std::size_t position = 0; position < drawn; ++position)
        (position < clusters_unfolded_max ? text : folded_away) +=
            article(page, clusters[position], position);
    if (!folded_away.empty())
        text += "<details class=\"more\"><summary>" +
                counted(drawn - clusters_unfolded_max, "more cluster") + "</summary>\n" +
                folded_away + "</details>\n";
    if (drawn < clusters.size())
        text += "<p>" + counted(clusters.size() - drawn, "smaller cluster") +
                " not drawn here; the results file holds them all.</p>\n";
    return text;
}

}  // namespace mx::reports::html
