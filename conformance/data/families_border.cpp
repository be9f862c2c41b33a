// Families that ask the oracle where its answer changes: every border between element codes and
// between scales, with the input codes on both sides and one further.
#include <algorithm>
#include <functional>

#include "conformance/data/converter.hpp"
#include "conformance/data/family.hpp"
#include "conformance/data/philox.hpp"
#include "conformance/data/tensor_number.hpp"
#include "reference/exact/preimage.hpp"
#include "reference/fast/quantize.hpp"

namespace mx {
namespace {

// A case with blocks, or of encode_scale, as a function of an amax and of one lane. Where the
// rounding hangs on random bits, every tie is a border; where quantize finds the tensor's number
// itself, it is taken to be that of a tensor whose scale is 1.
class Steps {
public:
    explicit Steps(const Case& c)
        : question_{rules_of(c), *c.format, c.type,
                    numbers_of(c, c.tensor_number.value_or(six_times_448))} {
        Rounding& rounding = question_.quantizer.element_rounding;
        if (rounding == Rounding::stochastic) rounding = Rounding::nearest_even;
    }

    const ElementFormat& input() const { return question_.input; }
    const ElementFormat& element() const { return question_.format.element(); }
    bool has_e8m0_scales() const { return question_.format.has_e8m0_scales(); }
    // Scales too many to look at each.
    bool has_wide_scales() const { return question_.format.scale().code_bytes() > 1; }
    bool has_two_candidates() const {
        return question_.quantizer.candidate_error != CandidateError::none;
    }

    // The row, and beside one that changes its quotients the same with exact ones: a device that
    // does not change them has its borders there.
    std::vector<Steps> with_and_without_quotient() const {
        std::vector<Steps> steps{*this};
        if (question_.quantizer.quotient == Quotient::exact) return steps;
        steps.push_back(*this);
        steps.back().question_.quantizer.quotient = Quotient::exact;
        return steps;
    }

    Code scale(std::uint32_t amax) const {
        if (has_e8m0_scales())
            return fast::encode_scale(question_.quantizer, question_.format, read(amax));
        return fast::block_scale(question_, read(amax)).stored;
    }
    // Of lanes under the scale of an amax.
    std::function<Code(std::uint32_t)> elements(std::uint32_t amax,
                                                fast::Candidate candidate) const {
        if (has_e8m0_scales())
            return [this, scale = scale(amax)](std::uint32_t lane) {
                return fast::quantize_element(question_.quantizer, question_.format, scale,
                                              read(lane));
            };
        return [this,
                scale = fast::block_scale(question_, read(amax), candidate)](std::uint32_t lane) {
            return fast::quantize_lane(question_, scale, read(lane));
        };
    }

private:
    static constexpr std::uint32_t six_times_448 = 0x45280000;

    fast::Unpacked read(std::uint32_t bits) const {
        return fast::read_input(question_.quantizer.subnormals, question_.input, Code{bits});
    }

    fast::BlockQuestion question_;
};

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

std::vector<exact::Run> scale_runs(const Steps& steps) {
    return exact::runs_of(0, steps.input().code_infinity(),
                          [&steps](std::uint32_t bits) { return steps.scale(bits).bits; });
}

// For every scale that a finite amax reaches the largest amax of that scale. Of scales of binary32
// each amax has its own: then one of every binade, its mantissa another each time, and the ends.
std::vector<std::uint32_t> amax_of_every_scale(const Case& c, const Steps& steps) {
    const ElementFormat& input = steps.input();
    std::vector<std::uint32_t> amaxes;
    if (steps.has_wide_scales()) {
        const std::uint32_t fields = input.code_infinity() >> input.mantissa_bits;
        amaxes = {1};
        for (std::uint32_t field = 0; field < fields; ++field)
            amaxes.push_back(field << input.mantissa_bits |
                             (philox({c.seed, 9, field})[0] & input.code_mantissa_mask()));
        amaxes.push_back(input.code_max_finite());
        return amaxes;
    }
    for (const exact::Run& run : scale_runs(steps)) {
        const std::uint32_t amax = std::min(run.last, input.code_max_finite());
        if (run.first <= amax) amaxes.push_back(amax);
    }
    return amaxes;
}

std::unique_ptr<BlockSource> convert_ties(const Case& c) {
    const ElementFormat& input = c.type;
    const Converter convert = Converter::without_randomness(c);
    const auto codes =
        border_codes(input, input.code_infinity(), element_format_of(c),
                     [&convert](std::uint32_t bits) { return convert(Code{bits}).bits; });
    std::vector<BlockData> blocks;
    pack(c, blocks, codes, nullptr);
    return list_source(blocks);
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
        return list_source(blocks);
    }
    for (std::size_t i = 0; i < amaxes.size(); ++i) {
        BlockData data = block_of_zeros(c);
        const std::size_t lanes = data.lanes.size();
        auto four = philox({c.seed, 8, i * lanes / 4});
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::size_t number = i * lanes + lane;
            if (number % 4 == 0) four = philox({c.seed, 8, number / 4});
            data.lanes[lane] = companion(input, amaxes[i], four[lane % 4]);
        }
        const std::uint32_t sign = i / lanes % 2 == 0 ? 0 : input.code_sign_mask();
        data.lanes[lane_in_turn(i, lanes)] = amaxes[i] | sign;
        blocks.push_back(std::move(data));
    }
    return list_source(blocks);
}

}  // namespace

// The largest amax of every scale pins it, the other lanes hold the codes around every element
// border that fits below.
std::unique_ptr<BlockSource> open_edge_tie(const Case& c) {
    if (c.operation == OperationKind::convert) return convert_ties(c);
    const Steps steps(c);
    const std::vector<Steps> ways = steps.with_and_without_quotient();
    std::vector<fast::Candidate> candidates{fast::Candidate::maps_to_largest};
    if (steps.has_two_candidates()) candidates.push_back(fast::Candidate::maps_to_two_thirds);
    std::vector<BlockData> blocks;
    for (const std::uint32_t amax : amax_of_every_scale(c, steps))
        for (const fast::Candidate candidate : candidates)
            for (const Steps& way : ways) {
                const auto element = way.elements(amax, candidate);
                const auto codes =
                    border_codes(steps.input(), amax, steps.element(),
                                 [&element](std::uint32_t bits) { return element(bits).bits; });
                const std::uint32_t pinned =
                    amax | (blocks.size() % 2 == 0 ? 0 : steps.input().code_sign_mask());
                pack(c, blocks, codes, &pinned);
            }
    return list_source(blocks);
}

std::unique_ptr<BlockSource> open_edge_scale(const Case& c) {
    const Steps steps(c);
    const ElementFormat& input = steps.input();
    if (!steps.has_wide_scales())
        return amax_blocks(c, input, around_borders(scale_runs(steps), input.code_infinity()));
    std::vector<std::uint32_t> amaxes{0, input.code_infinity()};
    for (const std::uint32_t amax : amax_of_every_scale(c, steps))
        for (const std::uint32_t code : {amax == 0 ? 0 : amax - 1, amax, amax + 1})
            amaxes.push_back(code);
    return amax_blocks(c, input, amaxes);
}

// Each exponent of the input with the mantissas where scale rules turn: 0, the element's largest,
// and the halves next to it; each with one ulp below and above.
std::unique_ptr<BlockSource> open_edge_amax(const Case& c) {
    const Steps steps(c);
    const ElementFormat& element = steps.element();
    const ElementFormat& input = steps.input();
    // The largest value as 1 + n/128; all formats fit, and every input type has these seven bits.
    const std::uint64_t largest =
        fast::unpack(element, Code{element.code_max_finite()}).significand;
    const std::uint32_t largest_128th =
        static_cast<std::uint32_t>(largest << (8 - fast::bit_width(largest))) & 0x7F;
    std::vector<std::uint32_t> amaxes{0};
    const std::uint32_t fields = input.code_infinity() >> input.mantissa_bits;
    for (std::uint32_t field = 0; field < fields; ++field)
        for (const std::uint32_t part : {0u, largest_128th, 112u, 120u, 128u})
            for (const std::int64_t step : {-1, 0, 1}) {
                const std::uint32_t mantissa = part << (input.mantissa_bits - 7);
                const std::int64_t code =
                    std::int64_t{field << input.mantissa_bits} + mantissa + step;
                if (code >= 0 && code <= input.code_max_finite())
                    amaxes.push_back(static_cast<std::uint32_t>(code));
            }
    std::sort(amaxes.begin(), amaxes.end());
    amaxes.erase(std::unique(amaxes.begin(), amaxes.end()), amaxes.end());
    return amax_blocks(c, input, amaxes);
}

}  // namespace mx
