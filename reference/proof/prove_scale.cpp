// fast/scale.hpp: the scale of every non-negative amax code of f32, bf16 and f16, under every scale
// rule and scale overflow that a dialect uses, for every block format.
#include "reference/exact/block.hpp"
#include "reference/fast/scale.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/dialects.hpp"

namespace mx::proof {
namespace {

// True for the first dialect of the table with this rule and overflow: the others are the same
// function of the amax.
constexpr bool is_first_with_its_rule(std::size_t index) {
    for (std::size_t earlier = 0; earlier < index; ++earlier)
        if (dialects[earlier].scale_rule == dialects[index].scale_rule &&
            dialects[earlier].scale_overflow == dialects[index].scale_overflow)
            return false;
    return true;
}

constexpr std::size_t distinct_rules() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < dialects.size(); ++i) count += is_first_with_its_rule(i) ? 1 : 0;
    return count;
}
static_assert(distinct_rules() <= 8, "the scales of all rules are packed into 64 bits");

std::string names_of_rules() {
    std::string names;
    for (std::size_t i = 0; i < dialects.size(); ++i)
        if (is_first_with_its_rule(i))
            names += (names.empty() ? "" : ", ") + std::string(dialects[i].name);
    return names;
}

// The scale bytes of all distinct rules side by side, so that one sweep proves them all.
std::uint64_t exact_scales(const BlockFormat& format, const ElementFormat& input,
                           std::uint32_t bits) {
    const exact::Value amax = exact::decode(input, Code{bits});
    std::uint64_t packed = 0;
    for (std::size_t i = 0; i < dialects.size(); ++i)
        if (is_first_with_its_rule(i))
            packed = packed << 8 | exact::encode_scale(dialects[i], format, amax).bits;
    return packed;
}

template <std::size_t DialectIndex>
MX_FOLDED constexpr std::uint64_t append_scale(std::uint64_t packed, const BlockFormat& format,
                                               const fast::Unpacked& amax) {
    if constexpr (!is_first_with_its_rule(DialectIndex)) return packed;
    constexpr Dialect dialect = dialects[DialectIndex];
    return packed << 8 | fast::encode_scale(dialect, format, amax).bits;
}

template <std::size_t... DialectIndex>
MX_FOLDED constexpr std::uint64_t fast_scales(const BlockFormat& format, const fast::Unpacked& amax,
                                              std::index_sequence<DialectIndex...>) {
    std::uint64_t packed = 0;
    ((packed = append_scale<DialectIndex>(packed, format, amax)), ...);
    return packed;
}

std::vector<exact::Run> exact_runs(const BlockFormat& format, const ElementFormat& input) {
    const auto ask = [&](std::uint32_t bits) { return exact_scales(format, input, bits); };
    std::vector<exact::Run> runs;
    append_runs(runs, exact::runs_of(0, input.code_infinity(), ask));
    append_runs(runs, exact::runs_of(input.code_infinity() + 1, input.code_magnitude_mask(), ask));
    return runs;
}

// Format and input are template arguments only so that the compiler can fold them into the loop.
template <std::size_t FormatIndex, std::size_t InputIndex>
Report sweep_scales(int threads) {
    constexpr ElementFormat values = *find_element_format(input_types[InputIndex]);
    return sweep(exact_runs(block_formats[FormatIndex], values), threads, [](std::uint32_t bits) {
        constexpr BlockFormat format = block_formats[FormatIndex];
        constexpr ElementFormat input = *find_element_format(input_types[InputIndex]);
        return fast_scales(format, fast::unpack(input, Code{bits}),
                           std::make_index_sequence<dialects.size()>{});
    });
}

template <std::size_t FormatIndex, std::size_t InputIndex>
Proof scale_proof() {
    const ElementFormat& input = *find_element_format(input_types[InputIndex]);
    return {"scale " + std::string(block_formats[FormatIndex].name) + " " + std::string(input.name),
            "all 2^" + std::to_string(input.code_bits() - 1) + " non-negative codes of " +
                std::string(input.name) + " under the rules of " + names_of_rules(),
            sweep_scales<FormatIndex, InputIndex>};
}

template <std::size_t... Combination>
std::vector<Proof> proofs_of(std::index_sequence<Combination...>) {
    return {scale_proof<Combination / input_types.size(), Combination % input_types.size()>()...};
}

}  // namespace

std::vector<Proof> scale_proofs() {
    return proofs_of(std::make_index_sequence<block_formats.size() * input_types.size()>{});
}

}  // namespace mx::proof
