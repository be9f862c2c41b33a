// fast/block.hpp: elements under every scale, whole blocks where NaN, Inf and zeros meet, and
// dequantize for every element code under every scale.
#include <algorithm>
#include <array>
#include <utility>

#include "reference/exact/quantize.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/proof/e8m0_functions.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

// One function from an input code and a scale to an element code.
struct Elements {
    Quantizer dialect;
    BlockFormat format;
    ElementFormat input;
    RandomBits random = {};
};

std::uint32_t exact_element(const Elements& e, Code scale, std::uint32_t bits) {
    const exact::Value value = exact::read_input(e.dialect.subnormals, e.input, Code{bits});
    return exact::quantize_element(e.dialect, e.format, scale, value, e.random).bits;
}

std::uint32_t fast_element(const Elements& e, Code scale, std::uint32_t bits) {
    const fast::Unpacked value = fast::read_input(e.dialect.subnormals, e.input, Code{bits});
    return fast::quantize_element(e.dialect, e.format, scale, value, e.random).bits;
}

// Every 16-bit input under every scale.
Report prove_elements(const Elements& e, int threads) {
    std::vector<Report> scales(256);
    parallel_for(scales.size(), threads, [&](std::size_t index) {
        const Code scale{static_cast<std::uint32_t>(index)};
        const std::vector<exact::Run> runs = runs_of_codes(
            e.input, [&](std::uint32_t bits) { return exact_element(e, scale, bits); });
        scales[index] =
            sweep(runs, 1, [&](std::uint32_t bits) { return fast_element(e, scale, bits); });
    });
    return joined(scales);
}

// The f32 codes next to the border between element codes c and c+1 under a scale: the last at or
// below it, that one's neighbours, and both signs.
std::vector<std::uint32_t> codes_at_borders(const BlockFormat& format, Code scale) {
    const ElementFormat& element = format.element();
    const exact::Rational factor = exact::decode(format.scale(), scale).magnitude;
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
    return inputs;
}

// A row that changes the quotient first has its borders elsewhere: between each two of those above
// that the oracle gives different elements, the place where they change, and its neighbours.
void add_changes(const Elements& e, Code scale, std::vector<std::uint32_t>& inputs) {
    std::vector<std::uint32_t> places = inputs;
    std::ranges::sort(places);
    std::uint32_t element = exact_element(e, scale, places[0]);
    for (std::size_t i = 1; i < places.size(); ++i) {
        const std::uint32_t before = std::exchange(element, exact_element(e, scale, places[i]));
        if (element == before) continue;
        std::uint32_t low = places[i - 1], high = places[i];
        while (high - low > 1) {
            const std::uint32_t middle = low + (high - low) / 2;
            (exact_element(e, scale, middle) == before ? low : high) = middle;
        }
        for (const std::uint32_t bits : {low - 1, low, high, high + 1}) inputs.push_back(bits);
    }
}

Report prove_f32_borders(const Elements& e, int threads) {
    std::vector<Report> scales(255);
    parallel_for(scales.size(), threads, [&](std::size_t index) {
        const Code scale{static_cast<std::uint32_t>(index)};
        std::vector<std::uint32_t> inputs = codes_at_borders(e.format, scale);
        if (e.dialect.quotient != Quotient::exact) add_changes(e, scale, inputs);
        scales[index] = compare_everywhere(
            static_cast<std::uint32_t>(inputs.size()), 1,
            [&](std::uint32_t i) { return exact_element(e, scale, inputs[i]); },
            [&](std::uint32_t i) { return fast_element(e, scale, inputs[i]); });
    });
    return joined(scales);
}

// Under each scale the significands from 1 to 2 times it, which all formats round in their middle;
// under the smallest scale the subnormal ones. Row and format are template arguments so that the
// compiler can fold them into the loop.
template <std::size_t Format>
Report prove_f32_significands(int threads) {
    std::vector<Report> scales(255);
    parallel_for(scales.size(), threads, [&](std::size_t index) {
        const Code scale{static_cast<std::uint32_t>(index)};
        const Elements e{e8m0_quantizers[0], mx_block_formats[Format], formats::f32};
        const std::uint32_t first = scale.bits << formats::f32.mantissa_bits;
        const std::uint32_t last = first | formats::f32.code_mantissa_mask();
        const auto ask = [&](std::uint32_t bits) { return exact_element(e, scale, bits); };
        scales[index] = sweep(exact::runs_of(first, last, ask), 1, [scale](std::uint32_t bits) {
            constexpr Quantizer row = e8m0_quantizers[0];
            constexpr BlockFormat format = mx_block_formats[Format];
            constexpr ElementFormat f32 = formats::f32;
            const fast::Unpacked value = fast::read_input(row.subnormals, f32, Code{bits});
            return fast::quantize_element(row, format, scale, value).bits;
        });
    });
    return joined(scales);
}

template <std::size_t... Format>
void add_f32_significands(std::vector<Proof>& proofs, std::index_sequence<Format...>) {
    const auto add = [&](std::size_t format, Report (*run)(int)) {
        proofs.push_back({"elements " + std::string(mx_block_formats[format].name) + " " +
                              std::string(e8m0_quantizers[0].name) + " f32 significands",
                          "all 2^23 significands of the scale's binade x 255 scales", run,
                          format == 0 ? Effort::always : Effort::whole_set});
    };
    (add(Format, prove_f32_significands<Format>), ...);
}

Proof elements_proof(const Elements& e) {
    const bool is_large = e.input.code_bits() == 32;
    const std::string rounding = e.random.count == 0 ? "" : " random " + to_hex(e.random.bits);
    return {"elements " + std::string(e.format.name) + " " + std::string(e.dialect.name) +
                rounding + " " + std::string(e.input.name),
            is_large ? "both sides of every border and its neighbours x 255 scales"
                     : all_codes_of(e.input) + " x all 256 scales",
            [e, is_large](int threads) {
                return is_large ? prove_f32_borders(e, threads) : prove_elements(e, threads);
            }};
}

// A stochastic row is proved with the ends and the middle of eight given bits.
std::vector<RandomBits> random_cases(const Quantizer& dialect) {
    if (dialect.element_rounding != Rounding::stochastic) return {{}};
    return {{0x00, 8}, {0x7F, 8}, {0x80, 8}, {0xFF, 8}};
}

void add_elements(std::vector<Proof>& proofs, const Quantizer& dialect, const BlockFormat& format) {
    for (const std::string_view input : input_types)
        for (const RandomBits random : random_cases(dialect))
            proofs.push_back(
                elements_proof({dialect, format, *find_element_format(input), random}));
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
Report prove_triples(const Quantizer& dialect, const BlockFormat& format, int threads) {
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
                values.push_back(exact::read_input(dialect.subnormals, formats::f32, Code{bits}));
            const exact::Block block = exact::quantize({dialect, format, formats::f32, {}}, values);
            std::array<std::uint8_t, 3> elements{};
            for (std::size_t lane = 0; lane < 3; ++lane)
                elements[lane] = static_cast<std::uint8_t>(block.elements[lane].bits);
            return folded(block.scale, elements);
        },
        [&](std::uint32_t index) {
            const auto lanes = lanes_of(index);
            std::array<std::uint8_t, 3> elements{};
            const Code scale = fast::quantize({dialect, format, formats::f32, {}}, lanes.data(), 3,
                                              elements.data());
            return folded(scale, elements);
        });
}

Report prove_dequantize(const BlockFormat& format, const ElementFormat& output, int threads) {
    const std::uint32_t codes = std::uint32_t{1} << format.element().code_bits();
    return compare_everywhere(
        256 * codes, threads,
        [&](std::uint32_t input) {
            return exact::dequantize(format, output, Code{input / codes}, Code{input % codes}).bits;
        },
        [&](std::uint32_t input) {
            return fast::dequantize(format, output, Code{input / codes}, Code{input % codes}).bits;
        });
}

}  // namespace

std::vector<Proof> block_proofs() {
    std::vector<Proof> proofs;
    add_f32_significands(proofs, std::make_index_sequence<mx_block_formats.size()>{});
    for (const BlockFormat& format : mx_block_formats) {
        const std::string name(format.name);
        for (std::size_t row = 0; row < e8m0_quantizers.size(); ++row) {
            const Quantizer& dialect = e8m0_quantizers[row];
            if (is_first_with(element_rules, row, format)) add_elements(proofs, dialect, format);
            if (is_first_with(without_description, row, format))
                proofs.push_back({"blocks " + name + " " + std::string(dialect.name),
                                  "all triples of 20 notable f32 values",
                                  [&dialect, format](int threads) {
                                      return prove_triples(dialect, format, threads);
                                  }});
        }
        for (const std::string_view output : input_types)
            proofs.push_back({"dequantize " + name + " " + std::string(output),
                              "all element codes x all 256 scales", [format, output](int threads) {
                                  return prove_dequantize(format, *find_element_format(output),
                                                          threads);
                              }});
    }
    return proofs;
}

}  // namespace mx::proof
