// Families that ask the oracle where its answer changes: every border between element codes and
// between scales, with the input codes on both sides and one further.
#include <algorithm>

#include "conformance/data/converter.hpp"
#include "conformance/data/family.hpp"
#include "conformance/data/philox.hpp"
#include "reference/exact/preimage.hpp"

namespace mx {
namespace {

// Of a case with blocks or of encode_scale.
struct Tables {
    const ElementFormat& input;
    const BlockFormat& format;
    Quantizer dialect;

    fast::Unpacked read(std::uint32_t bits) const {
        return fast::read_input(dialect.subnormals, input, Code{bits});
    }
};

Tables tables_of(const Case& c) {
    return {c.type, *c.format, rules_of(c)};
}

// The codes on both sides of every change of result, and one beyond each, up to `last`.
std::vector<std::uint32_t> around_borders(const std::vector<exact::Run>& runs, std::uint32_t last) {
    std::vector<std::uint32_t> codes{0};
    for (const exact::Run& run : runs)
        for (const std::int64_t step : {-1, 0, 1, 2}) {
            const std::int64_t code = std::int64_t{run.last} + step;
            if (code >= 0 && code <= last) codes.push_back(static_cast<std::uint32_t>(code));
        }
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    return codes;
}

std::vector<std::uint32_t> with_both_signs(const std::vector<std::uint32_t>& magnitudes,
                                           const ElementFormat& input) {
    std::vector<std::uint32_t> codes;
    for (const std::uint32_t magnitude : magnitudes) {
        codes.push_back(magnitude);
        codes.push_back(magnitude | input.code_sign_mask());
    }
    return codes;
}

// The codes around every change of result up to `last`, with both signs. Where the format's
// negative range is the longer one, a border of its own lies there.
template <typename Function>
std::vector<std::uint32_t> border_codes(const ElementFormat& input, std::uint32_t last,
                                        const ElementFormat& output, const Function& result_of) {
    std::vector<exact::Run> runs = exact::runs_of(0, last, result_of);
    if (output.code_max_finite_negative() != output.code_max_finite()) {
        const auto negative = exact::runs_of(
            0, last, [&](std::uint32_t bits) { return result_of(bits | input.code_sign_mask()); });
        runs.insert(runs.end(), negative.begin(), negative.end());
    }
    return with_both_signs(around_borders(runs, last), input);
}

// Packs codes into blocks; `pinned`, if any, takes one lane of each, a different one every time.
void pack(const Case& c, std::vector<BlockData>& blocks, const std::vector<std::uint32_t>& codes,
          const std::uint32_t* pinned) {
    std::size_t next = 0;
    while (next < codes.size()) {
        BlockData data = block_of_zeros(c);
        const std::size_t pinned_lane = lane_in_turn(blocks.size(), data.lanes.size());
        for (std::size_t lane = 0; lane < data.lanes.size(); ++lane) {
            const bool is_pinned = pinned != nullptr && lane == pinned_lane;
            data.lanes[lane] = is_pinned ? *pinned : codes[next++ % codes.size()];
        }
        blocks.push_back(std::move(data));
    }
}

std::vector<exact::Run> scale_runs(const Tables& t) {
    return exact::runs_of(0, t.input.code_infinity(), [&t](std::uint32_t bits) {
        return fast::encode_scale(t.dialect, t.format, t.read(bits)).bits;
    });
}

std::unique_ptr<BlockSource> convert_ties(const Case& c) {
    const ElementFormat& input = c.type;
    const Converter convert = Converter::without_randomness(c);
    const auto codes =
        border_codes(input, input.code_infinity(), element_format_of(c),
                     [&convert](std::uint32_t bits) { return convert(Code{bits}).bits; });
    std::vector<BlockData> blocks;
    pack(c, blocks, codes, nullptr);
    return list_source(std::move(blocks));
}

// A value below the amax, from random bits: some binades lower, any mantissa.
std::uint32_t companion(const ElementFormat& input, std::uint32_t amax, std::uint32_t random) {
    const std::uint32_t field = amax >> input.mantissa_bits;
    const std::uint32_t drop = 1 + random % 12;
    const std::uint32_t sign = random >> 31 != 0 ? input.code_sign_mask() : 0;
    if (field < drop) return sign | (amax == 0 ? 0 : (random >> 4) % amax);
    return sign | ((field - drop) << input.mantissa_bits) |
           (random >> 4 & input.code_mantissa_mask());
}

// For encode_scale the amaxes themselves; for quantize a block for each, the amax in a lane that
// moves on and with a sign that changes, among smaller values.
std::unique_ptr<BlockSource> amax_blocks(const Case& c, const ElementFormat& input,
                                         const std::vector<std::uint32_t>& amaxes) {
    std::vector<BlockData> blocks;
    if (c.operation == OperationKind::encode_scale) {
        pack(c, blocks, amaxes, nullptr);
        return list_source(std::move(blocks));
    }
    for (std::size_t i = 0; i < amaxes.size(); ++i) {
        BlockData data = block_of_zeros(c);
        const std::size_t lanes = data.lanes.size();
        for (std::size_t lane = 0; lane < lanes; ++lane)
            data.lanes[lane] =
                companion(input, amaxes[i], philox({c.seed, 8, (i * lanes + lane) / 4})[lane % 4]);
        const std::uint32_t sign = i / lanes % 2 == 0 ? 0 : input.code_sign_mask();
        data.lanes[lane_in_turn(i, lanes)] = amaxes[i] | sign;
        blocks.push_back(std::move(data));
    }
    return list_source(std::move(blocks));
}

}  // namespace

// For every scale that a finite amax reaches: the largest amax of that scale pins it, the other
// lanes hold the codes around every element border that fits below.
std::unique_ptr<BlockSource> open_edge_tie(const Case& c) {
    if (c.operation == OperationKind::convert) return convert_ties(c);
    const Tables t = tables_of(c);
    std::vector<BlockData> blocks;
    for (const exact::Run& scale_run : scale_runs(t)) {
        const std::uint32_t amax = std::min(scale_run.last, t.input.code_max_finite());
        if (scale_run.first > amax) continue;
        const Code scale{static_cast<std::uint32_t>(scale_run.result)};
        const auto codes = border_codes(t.input, amax, t.format.element(), [&](std::uint32_t bits) {
            return fast::quantize_element(t.dialect, t.format, scale, t.read(bits)).bits;
        });
        const std::uint32_t pinned = amax | (blocks.size() % 2 == 0 ? 0 : t.input.code_sign_mask());
        pack(c, blocks, codes, &pinned);
    }
    return list_source(std::move(blocks));
}

std::unique_ptr<BlockSource> open_edge_scale(const Case& c) {
    const Tables t = tables_of(c);
    return amax_blocks(c, t.input, around_borders(scale_runs(t), t.input.code_infinity()));
}

// Each exponent of the input with the mantissas where scale rules turn: 0, the element's largest,
// and the halves next to it; each with one ulp below and above.
std::unique_ptr<BlockSource> open_edge_amax(const Case& c) {
    const Tables t = tables_of(c);
    const ElementFormat& element = t.format.element();
    // The largest value as 1 + n/128; all formats fit, and every input type has these seven bits.
    const std::uint64_t largest =
        fast::unpack(element, Code{element.code_max_finite()}).significand;
    const std::uint32_t largest_128th =
        static_cast<std::uint32_t>(largest << (8 - fast::bit_width(largest))) & 0x7F;
    std::vector<std::uint32_t> amaxes{0};
    const std::uint32_t fields = t.input.code_infinity() >> t.input.mantissa_bits;
    for (std::uint32_t field = 0; field < fields; ++field)
        for (const std::uint32_t part : {0u, largest_128th, 112u, 120u, 128u})
            for (const std::int64_t step : {-1, 0, 1}) {
                const std::uint32_t mantissa = part << (t.input.mantissa_bits - 7);
                const std::int64_t code =
                    std::int64_t{field << t.input.mantissa_bits} + mantissa + step;
                if (code >= 0 && code <= t.input.code_max_finite())
                    amaxes.push_back(static_cast<std::uint32_t>(code));
            }
    std::sort(amaxes.begin(), amaxes.end());
    amaxes.erase(std::unique(amaxes.begin(), amaxes.end()), amaxes.end());
    return amax_blocks(c, t.input, amaxes);
}

}  // namespace mx
