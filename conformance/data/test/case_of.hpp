// Cases from their text, for the tests of families, inputs and suites. Knows no family.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "reference/exact/block.hpp"
#include "reference/problem/problem.hpp"

namespace mx {

inline Case case_of(const std::string& text) {
    const auto c = parse_case(text);
    EXPECT_TRUE(c.ok()) << text << ": " << (c ? "" : c.error().message);
    return c ? c.value() : Case{};
}

inline std::shared_ptr<const BlockSource> open_data(const Case& c) {
    Sources sources;
    const auto source = sources.open(c);
    EXPECT_TRUE(source.ok()) << print(c) << ": " << (source ? "" : source.error().message);
    return source ? source.value() : nullptr;
}

// Quantize cases for one family: every format from every input type, and every dialect from the
// type of the fewest codes that it reads.
inline std::vector<Case> every_quantizer(const std::string& family) {
    std::vector<Case> cases;
    const auto add = [&](std::string_view format, std::string_view dialect, std::string_view type) {
        cases.push_back(case_of("quantize format=" + std::string(format) +
                                " dialect=" + std::string(dialect) + " input=" + std::string(type) +
                                " shape=1x32 data=" + family));
    };
    const auto type_of = [](const Quantizer& dialect) {
        return dialect.reads("f16") ? "f16" : dialect.reads("bf16") ? "bf16" : "f32";
    };
    for (const BlockFormat& format : mx_block_formats)
        for (const std::string_view type : input_types) add(format.name, "ocp", type);
    for (const Quantizer& dialect : e8m0_quantizers)
        for (const BlockFormat& format : mx_block_formats)
            if (dialect.is_known() && dialect.quantizes(format)) {
                add(format.name, dialect.name, type_of(dialect));
                break;
            }
    return cases;
}

// The magnitude code of the block's largest lane.
inline std::uint32_t largest_of(const BlockData& data, const ElementFormat& input) {
    std::uint32_t largest = 0;
    for (const std::uint32_t lane : data.lanes)
        largest = std::max(largest, lane & input.code_magnitude_mask());
    return largest;
}

// What the exact oracle makes of an amax, as the dialect reads it.
inline std::uint32_t exact_scale(const Case& c, std::uint32_t amax) {
    const Quantizer rules = rules_of(c);
    const exact::Value value = exact::read_input(rules.subnormals, c.type, Code{amax});
    return exact::encode_scale(rules, *c.format, value).bits;
}

}  // namespace mx
