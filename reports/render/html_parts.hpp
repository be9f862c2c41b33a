// The sections of the HTML page. Used by html.cpp, which puts them in order and gives them their
// titles. Each is a pure function and returns complete elements, or "" where it has nothing to say;
// must not know the other sections.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reports/model/material.hpp"
#include "reports/model/summary.hpp"

namespace mx::reports::html {

struct Page {
    const Material& material;
    const Summary& summary;

    const results::Run& run() const { return material.run; }
    // Nothing, where nothing was measured beside the run.
    const results::Attachments& attached() const;
};

std::string_view style_sheet();
std::string_view script();

std::string matrix_section(const Page& page);
std::string heat_section(const Page& page);
std::string clusters_section(const Page& page);
std::string accuracy_section(const Page& page);
std::string scales_section(const Page& page);
std::string gemm_section(const Page& page);
std::string training_section(const Page& page);
std::string throughput_section(const Page& page);
std::string kills_section(const Page& page);
std::string baseline_section(const Page& page);
std::string deviations_section(const Page& page);
std::string waivers_section(const Page& page);
std::string not_run_section(const Page& page);
std::string environment_section(const Page& page);
std::string cases_section(const Page& page);

// The class that colours a verdict: good, note, mute or bad.
std::string_view tone_of(Verdict verdict);
std::string tag(Verdict verdict);

// A number for readers, and the same number for programs.
std::string number(std::uint64_t value);

// "cluster-3", counted from 1 in the order of Summary::clusters.
std::string cluster_id(std::size_t position);

// The text, safe for a page, cut where it would fill it.
std::string shown(std::string_view text);
std::string or_dash(std::string_view text);
std::string or_dash(const std::optional<double>& value);

// Cells are complete markup. `label` names the table to those who scroll it.
struct Column {
    std::string title;
    bool is_number = false;
};
class Table {
public:
    Table(std::string label, std::vector<Column> columns);
    void add(const std::vector<std::string>& cells);
    std::size_t size() const { return rows_; }
    // A page stays small: whoever adds rows stops here, and counts the rest.
    bool is_full() const;
    std::string markup() const;

private:
    std::string label_, body_;
    std::vector<Column> columns_;
    std::size_t rows_ = 0;
};

// Says how many of so many rows the table has no room for.
std::string rows_left(std::size_t all, const Table& table);

// Figures side by side; says how many of so many are not drawn. "" without a figure.
std::string charts(const std::string& figures, std::size_t all);

// A long table in a box of its own that can be shut; paper shows all of it.
std::string folded(std::string_view title, const std::string& table);

// Only so many clusters, cases and rows are drawn, and only so many bytes of each list; the rest is
// counted.
inline constexpr std::size_t list_bytes_max = 1 << 20;
inline constexpr std::size_t clusters_drawn_max = 120;
inline constexpr std::size_t clusters_unfolded_max = 6;
inline constexpr std::size_t cases_listed_max = 2000;
inline constexpr std::size_t rows_listed_max = 300;
inline constexpr std::size_t charts_drawn_max = 24;

// Whether the list of cases holds the plain passes too.
bool lists_passes(const results::Run& run);

}  // namespace mx::reports::html
