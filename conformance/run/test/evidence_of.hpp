// Evidence made by hand, without a device: the tests say where the answer differs. Used by the
// tests of comparison and classification; starts no process.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/run/classify.hpp"
#include "conformance/run/expected.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {

// Binary32 codes of a block, from values.
inline std::vector<std::uint32_t> f32_codes(const std::vector<float>& values) {
    std::vector<std::uint32_t> codes;
    for (const float value : values) codes.push_back(std::bit_cast<std::uint32_t>(value));
    return codes;
}

// A device that answers as expected; the test then plants its differences in `actual`.
inline Evidence right_answer(const std::string& text, std::vector<CodeTensor> inputs) {
    Evidence e;
    const auto c = parse_case(text);
    EXPECT_TRUE(c.ok()) << text;
    e.c = c.value();
    e.inputs = std::move(inputs);
    e.expected = expect(e.c, e.inputs);
    e.actual = e.expected;
    for (const CodeTensor& output : e.expected)
        e.flags.emplace_back(output.count(), std::uint8_t{0});
    return e;
}

// The case's own inputs, and an answer with every bit pattern wrong in its lowest bit.
inline Evidence wrong_everywhere(const std::string& text) {
    const auto c = parse_case(text);
    EXPECT_TRUE(c.ok()) << (c ? "" : c.error().message);
    Sources sources;
    Evidence e = right_answer(text, make_inputs(c.value(), *sources.open(c.value()).value()));
    for (CodeTensor& output : e.actual)
        for (std::size_t i = 0; i < output.count(); ++i) output.set(i, output.at(i) ^ 1);
    return e;
}

// One row of values; the rest of the case is `text`.
inline Evidence evidence_of(const std::string& text, const std::vector<std::uint32_t>& codes) {
    CodeTensor input = make_tensor("f32", 1, static_cast<std::int64_t>(codes.size()));
    for (std::size_t i = 0; i < codes.size(); ++i) input.set(i, codes[i]);
    return right_answer(text + " data=random.bits shape=1x" + std::to_string(codes.size()),
                        {std::move(input)});
}

inline Evidence quantized(const std::string& dialect, const std::vector<std::uint32_t>& codes) {
    return evidence_of("quantize format=mxfp8-e4m3 dialect=" + dialect, codes);
}

// Element codes and their scale, dequantized to f32.
inline Evidence dequantized(const std::string& format, const std::vector<std::uint32_t>& codes,
                            std::uint32_t scale) {
    const auto count = static_cast<std::int64_t>(codes.size());
    CodeTensor elements = make_tensor(find_block_format(format)->element().name, 1, count);
    for (std::size_t i = 0; i < codes.size(); ++i) elements.set(i, codes[i]);
    CodeTensor scales = make_tensor("e8m0", 1, (count + 31) / 32);
    for (std::size_t i = 0; i < scales.count(); ++i) scales.set(i, scale);
    return right_answer("dequantize format=" + format + " dialect=ocp data=codes.random shape=1x" +
                            std::to_string(count),
                        {std::move(elements), std::move(scales)});
}

struct Classified {
    std::vector<results::Mismatch> mismatches;
    std::uint64_t elements = 0, scales = 0;
    std::string disagreement;
};

inline Classified classified(const Evidence& e, std::uint64_t classified_max = 4096) {
    Clusters clusters(e, classified_max);
    for_each_difference(e, [&](const Difference& d) { clusters.add(d); });
    return {clusters.take(), clusters.elements(), clusters.scales(), clusters.disagreement()};
}

// The one cluster there must be.
inline results::Mismatch only(const Evidence& e) {
    const Classified result = classified(e);
    EXPECT_EQ(result.mismatches.size(), 1u);
    EXPECT_EQ(result.disagreement, "");
    return result.mismatches.empty() ? results::Mismatch{} : result.mismatches[0];
}

}  // namespace mx
