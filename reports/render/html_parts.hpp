// The sections of the HTML page. Used by html.cpp, which puts them in order. Each is a pure
// function and returns complete elements; must not know the other sections.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/results/record.hpp"
#include "reports/model/summary.hpp"

namespace mx::reports::html {

std::string_view style_sheet();
std::string_view script();

std::string matrix_section(const Summary& summary);
std::string clusters_section(const Summary& summary);
std::string deviations_section(const Summary& summary);
std::string waivers_section(const Summary& summary);  // "" without waivers
std::string not_run_section(const results::Run& run, const Summary& summary);
std::string environment_section(const results::RunHeader& header);
std::string cases_section(const results::Run& run);

// The class that colours a verdict: good, note, mute or bad.
std::string_view tone_of(Verdict verdict);

// A number for readers, and the same number for programs.
std::string number(std::uint64_t value);

// "cluster-3", counted from 1 in the order of Summary::clusters.
std::string cluster_id(std::size_t position);

// Only so many clusters are drawn; the rest is counted.
inline constexpr std::size_t clusters_drawn_max = 200;

}  // namespace mx::reports::html
