// The tables that a user may choose from, one entry a name. Used by mxcheck list and by the
// library; prints nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference/spec/gemm_model.hpp"

namespace mx::emulate {

using Fields = std::vector<std::pair<std::string, std::string>>;

// One thing with a name: a short text and, for JSON and the longer lists, its fields. What a
// dialect decides stands apart: one vector of many short values.
struct Listed {
    std::string name;
    std::string text;
    Fields fields;
    Fields decisions = {};
};

// What --dialect takes.
std::vector<Listed> listed_quantizers();
std::vector<Listed> listed_formats();
// What mxcheck gemm --model takes.
std::vector<Listed> listed_models();
// One of them, or a row of the user's.
Listed listed_model(const GemmModel& model, const std::string& standing);
// Every rounding, as decisions of quantizers and case lines name it.
std::vector<Listed> listed_roundings();
// Layouts of the device ABI: those of element codes, then those of scales.
std::vector<Listed> listed_layouts();

// An array of objects, indented by two.
std::string json_of(const std::vector<Listed>& rows);

}  // namespace mx::emulate
