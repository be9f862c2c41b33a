// One field of the grammar: how it is spelled, when a case has it, and its way to text and back.
// Used by the grammar alone.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "conformance/case/case.hpp"

namespace mx {

struct FieldRow {
    std::string_view key;
    bool (*applies)(const Case&);
    std::string (*text)(const Case&);
    Status (*set)(CaseWords&, const std::string&);
};

// For fields whose word is looked up once the line has been read.
template <std::string CaseWords::*member>
Status set_word(CaseWords& words, const std::string& value) {
    words.*member = value;
    return success();
}

// The fields that only a GEMM has, in the order they are printed. They stand in front of those that
// every case has.
std::span<const FieldRow> gemm_field_rows();

}  // namespace mx
