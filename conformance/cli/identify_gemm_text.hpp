// What identify --op gemm prints of settings, fields and counts, with and without --search.
// Used by identify_gemm.cpp and search_gemm.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/identify/gemm_fit.hpp"
#include "conformance/identify/gemm_unlearnt.hpp"

namespace mx::cli {

// "e4m3 x e4m3, scales tensor x tensor"
std::string setting_text(const GemmProblem& setting);

void print_field_line(const std::string& name, const std::string& text);
void print_gemm_findings(const std::vector<identify::GemmFinding>& findings);

// "3 of 2,098"
std::string misses_text(const identify::GemmMisses& misses);
// Nothing where nothing was missed.
void print_unexplained(const std::string& what, const identify::GemmMisses& misses);

nlohmann::ordered_json findings_json(const std::vector<identify::GemmFinding>& findings);
nlohmann::ordered_json misses_json(const identify::GemmMisses& misses);
nlohmann::ordered_json setting_json(const GemmProblem& setting);

}  // namespace mx::cli
