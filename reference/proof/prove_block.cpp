// fast/block.hpp: elements under every scale, whole blocks where NaN, Inf and zeros meet, and
// dequantize for every element code under every scale.
#include <array>

#include "reference/exact/block.hpp"
#include "reference/fast/block.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/dialects.hpp"

namespace mx::proof {
namespace {

// Element rules are the same in every dialect so far; the test of the table holds that.
const Dialect& element_dialect() {
    return dialects[0];
}

// Every 16-bit input under one scale, as runs.
std::vector<exact::Run> element_runs(const BlockFormat& format, const ElementFormat& input,
                                     Code scale) {
    const auto ask = [&](std::uint32_t bits) {
        return exact::quantize_element(element_dialect(), format, scale,
                                       exact::decode(input, Code{bits}))
            .bits;
    };
    std::vector<exact::Run> runs;
    for (const std::uint32_t sign : {std::uint32_t{0}, input.code_sign_mask()}) {
        append_runs(runs, exact::runs_of(sign, sign | input.code_infinity(), ask));
        append_runs(runs, exact::runs_of(sign | (input.code_infinity() + 1),
                                         sign | input.code_magnitude_mask(), ask));
    }
    return runs;
}

// Format and input are template arguments only so that the compiler can fold them into the loop.
template <std::size_t FormatIndex, std::size_t InputIndex>
Report prove_elements(int threads) {
    std::vector<Report> scales(256);
    parallel_for(scales.size(), threads, [&](std::size_t index) {
        const Code scale{static_cast<std::uint32_t>(index)};
        const std::vector<exact::Run> runs = element_runs(
            block_formats[FormatIndex], *find_element_format(input_types[InputIndex]), scale);
        scales[index] = sweep(runs, 1, [scale](std::uint32_t bits) {
            constexpr Dialect dialect = dialects[0];
            constexpr BlockFormat format = block_formats[FormatIndex];
            constexpr ElementFormat input = *find_element_format(input_types[InputIndex]);
            return fast::quantize_element(dialect, format, scale, fast::unpack(input, Code{bits}))
                .bits;
        });
    });
    return joined(scales);
}

template <std::size_t FormatIndex, std::size_t InputIndex>
Proof elements_proof() {
    return {"elements " + std::string(block_formats[FormatIndex].name) + " " +
                std::string(input_types[InputIndex]),
            "all 2^16 codes x all 256 scales", prove_elements<FormatIndex, InputIndex>};
}

// The f32 codes next to the border between element codes c and c+1 under a scale: the last at or
// below it, that one's neighbours, and both signs.
Report prove_f32_borders(const BlockFormat& format, std::uint32_t scale) {
    const ElementFormat& element = format.element();
    const exact::Rational factor = exact::decode(format.scale(), Code{scale}).magnitude;
    std::vector<std::uint32_t> inputs;
    for (std::uint32_t code = 0; code <= element.code_max_finite(); ++code) {
        const exact::Rational border =
            (exact::magnitude_of(element, code) + exact::magnitude_of(element, code + 1)) / 2;
        const std::uint32_t below =
            exact::round(formats::f32, Rounding::toward_zero, Overflow::saturate,
                         {exact::Value::Kind::finite, false, border * factor})
                .bits;
        for (const std::uint32_t bits : {below == 0 ? below : below - 1, below, below + 1})
            for (const std::uint32_t sign : {0u, formats::f32.code_sign_mask()})
                inputs.push_back(bits | sign);
    }
    return compare_everywhere(
        static_cast<std::uint32_t>(inputs.size()), 1,
        [&](std::uint32_t index) {
            return exact::quantize_element(element_dialect(), format, Code{scale},
                                           exact::decode(formats::f32, Code{inputs[index]}))
                .bits;
        },
        [&](std::uint32_t index) {
            return fast::quantize_element(element_dialect(), format, Code{scale},
                                          fast::unpack(formats::f32, Code{inputs[index]}))
                .bits;
        });
}

// Scale and elements as one number, for comparison.
template <std::size_t Lanes>
std::uint32_t folded(Code scale, const std::array<std::uint8_t, Lanes>& elements) {
    std::uint32_t hash = scale.bits;
    for (const std::uint8_t element : elements) hash = hash * 0x01000193u ^ element;
    return hash;
}

// Every triple of notable values as a block of three: which lane holds a NaN, an Inf, a zero or the
// amax decides what the others become.
Report prove_triples(const Dialect& dialect, const BlockFormat& format, int threads) {
    static constexpr std::array<std::uint32_t, 20> notable{
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000,
        0xBF800000, 0x40E00000, 0x43E00000, 0xC3E00001, 0x43F00000, 0x477FFFFF, 0x7F7FFFFF,
        0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001};
    constexpr std::uint32_t count = notable.size();
    const auto lanes_of = [](std::uint32_t index) {
        return std::array<std::uint32_t, 3>{notable[index % count], notable[index / count % count],
                                            notable[index / count / count]};
    };
    return compare_everywhere(
        count * count * count, threads,
        [&](std::uint32_t index) {
            std::vector<exact::Value> values;
            for (const std::uint32_t bits : lanes_of(index))
                values.push_back(exact::decode(formats::f32, Code{bits}));
            const exact::Block block = exact::quantize_block(dialect, format, values);
            std::array<std::uint8_t, 3> elements{};
            for (std::size_t lane = 0; lane < 3; ++lane)
                elements[lane] = static_cast<std::uint8_t>(block.elements[lane].bits);
            return folded(block.scale, elements);
        },
        [&](std::uint32_t index) {
            const auto lanes = lanes_of(index);
            std::array<std::uint8_t, 3> elements{};
            const Code scale = fast::quantize_block(dialect, format, formats::f32, lanes.data(), 3,
                                                    elements.data());
            return folded(scale, elements);
        });
}

Report prove_dequantize(const BlockFormat& format, const ElementFormat& output, int threads) {
    return compare_everywhere(
        1u << 16, threads,
        [&](std::uint32_t input) {
            return exact::dequantize(format, output, Code{input >> 8}, Code{input & 0xFF}).bits;
        },
        [&](std::uint32_t input) {
            return fast::dequantize(format, output, Code{input >> 8}, Code{input & 0xFF}).bits;
        });
}

}  // namespace

std::vector<Proof> block_proofs() {
    static_assert(block_formats.size() == 2 && input_types[1] == "bf16" && input_types[2] == "f16");
    std::vector<Proof> proofs{elements_proof<0, 1>(), elements_proof<0, 2>(),
                              elements_proof<1, 1>(), elements_proof<1, 2>()};
    for (const BlockFormat& format : block_formats) {
        const std::string name(format.name);
        proofs.push_back({"elements " + name + " f32 borders",
                          "both sides of every border and its neighbours x all 255 scales",
                          [format](int threads) {
                              std::vector<Report> scales(255);
                              parallel_for(scales.size(), threads, [&](std::size_t scale) {
                                  scales[scale] =
                                      prove_f32_borders(format, static_cast<std::uint32_t>(scale));
                              });
                              return joined(scales);
                          }});
        for (const Dialect& dialect : dialects)
            proofs.push_back({"blocks " + name + " " + std::string(dialect.name),
                              "all triples of 20 notable values", [format, &dialect](int threads) {
                                  return prove_triples(dialect, format, threads);
                              }});
        for (const std::string_view output : input_types)
            proofs.push_back({"dequantize " + name + " " + std::string(output),
                              "all 256 codes x all 256 scales", [format, output](int threads) {
                                  return prove_dequantize(format, *find_element_format(output),
                                                          threads);
                              }});
    }
    return proofs;
}

}  // namespace mx::proof
