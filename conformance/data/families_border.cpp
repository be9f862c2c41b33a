// Families that ask the oracle where its answer changes: every border between element codes and
// between scales, with the input codes on both sides and one further.
#include <algorithm>

#include "conformance/case/rules.hpp"
#include "conformance/data/family.hpp"
#include "conformance/data/philox.hpp"
#include "reference/exact/preimage.hpp"
#include "reference/fast/block.hpp"

namespace mx {
namespace {

struct Tables {
    const ElementFormat& input;
    const BlockFormat& format;
    Dialect dialect;
};

Tables tables_of(const Case& c) {
    return {value_format_of(c), block_format_of(c), rules_of(c)};
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

// Packs codes into blocks; `pinned`, if any, takes one lane of each, a different one every time.
void pack(std::vector<BlockData>& blocks, const std::vector<std::uint32_t>& codes,
          const std::uint32_t* pinned) {
    std::size_t next = 0;
    while (next < codes.size()) {
        BlockData data;
        const std::size_t pinned_lane = blocks.size() % data.lanes.size();
        for (std::size_t lane = 0; lane < data.lanes.size(); ++lane) {
            const bool is_pinned = pinned != nullptr && lane == pinned_lane;
            data.lanes[lane] = is_pinned ? *pinned : codes[next++ % codes.size()];
        }
        blocks.push_back(data);
    }
}

std::vector<exact::Run> scale_runs(const Tables& t) {
    return exact::runs_of(0, t.input.code_infinity(), [&t](std::uint32_t bits) {
        return fast::encode_scale(t.dialect, t.format, fast::unpack(t.input, Code{bits})).bits;
    });
}

std::unique_ptr<BlockSource> convert_ties(const Tables& t) {
    const auto runs = exact::runs_of(0, t.input.code_infinity(), [&](std::uint32_t bits) {
        return fast::round_element(t.dialect, t.format.element(), fast::unpack(t.input, Code{bits}))
            .bits;
    });
    std::vector<BlockData> blocks;
    pack(blocks, with_both_signs(around_borders(runs, t.input.code_infinity()), t.input), nullptr);
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
    if (c.operation == "encode_scale") {
        pack(blocks, amaxes, nullptr);
        return list_source(std::move(blocks));
    }
    for (std::size_t i = 0; i < amaxes.size(); ++i) {
        BlockData data;
        for (std::size_t lane = 0; lane < data.lanes.size(); ++lane)
            data.lanes[lane] =
                companion(input, amaxes[i], philox({c.seed, 8, i * 8 + lane / 4})[lane % 4]);
        const std::uint32_t sign = i / 32 % 2 == 0 ? 0 : input.code_sign_mask();
        data.lanes[i % data.lanes.size()] = amaxes[i] | sign;
        blocks.push_back(data);
    }
    return list_source(std::move(blocks));
}

}  // namespace

// For every scale that a finite amax reaches: the largest amax of that scale pins it, the other
// lanes hold the codes around every element border that fits below.
std::unique_ptr<BlockSource> open_edge_tie(const Case& c) {
    const Tables t = tables_of(c);
    if (c.operation == "convert") return convert_ties(t);
    std::vector<BlockData> blocks;
    for (const exact::Run& scale_run : scale_runs(t)) {
        const std::uint32_t amax = std::min(scale_run.last, t.input.code_max_finite());
        if (scale_run.first > amax) continue;
        const auto runs = exact::runs_of(0, amax, [&](std::uint32_t bits) {
            return fast::quantize_element(t.dialect, t.format,
                                          Code{static_cast<std::uint32_t>(scale_run.result)},
                                          fast::unpack(t.input, Code{bits}))
                .bits;
        });
        const std::uint32_t pinned = amax | (blocks.size() % 2 == 0 ? 0 : t.input.code_sign_mask());
        pack(blocks, with_both_signs(around_borders(runs, amax), t.input), &pinned);
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
    const std::uint32_t largest = element.code_max_finite() & element.code_mantissa_mask();
    std::vector<std::uint32_t> amaxes{0};
    const std::uint32_t fields = t.input.code_infinity() >> t.input.mantissa_bits;
    for (std::uint32_t field = 0; field < fields; ++field)
        for (const std::uint32_t sixteenth :
             {0u, largest << (4 - element.mantissa_bits), 14u, 15u, 16u})
            for (const std::int64_t step : {-1, 0, 1}) {
                const std::uint32_t mantissa = sixteenth << (t.input.mantissa_bits - 4);
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
