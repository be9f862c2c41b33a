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

std::string names_of_rules() {
    std::string names;
    for (std::size_t i = 0; i < dialects.size(); ++i)
        if (is_first_with_its_rule(i))
            names += (names.empty() ? "" : ", ") + std::string(dialects[i].name);
    return names;
}

// The scale bytes of all dialects side by side, dialect 0 lowest: one table of runs serves them
// all.
std::uint64_t exact_scales(const BlockFormat& format, const ElementFormat& input,
                           std::uint32_t bits) {
    const exact::Value amax = exact::decode(input, Code{bits});
    std::uint64_t packed = 0;
    for (std::size_t i = dialects.size(); i-- > 0;)
        packed = packed << 8 | exact::encode_scale(dialects[i], format, amax).bits;
    return packed;
}
static_assert(dialects.size() <= 8, "the scales of all dialects are packed into 64 bits");

std::vector<exact::Run> exact_runs(const BlockFormat& format, const ElementFormat& input) {
    const auto ask = [&](std::uint32_t bits) { return exact_scales(format, input, bits); };
    std::vector<exact::Run> runs;
    append_runs(runs, exact::runs_of(0, input.code_infinity(), ask));
    append_runs(runs, exact::runs_of(input.code_infinity() + 1, input.code_magnitude_mask(), ask));
    return runs;
}

constexpr bool is_first_with_its_scale_rule(std::size_t index) {
    for (std::size_t earlier = 0; earlier < index; ++earlier)
        if (dialects[earlier].scale_rule == dialects[index].scale_rule) return false;
    return true;
}

// encode_scale is round_scale of scale_argument. Dialects that differ only in the overflow of the
// scale share the argument, so one sweep serves all with the rule of `Of`.
constexpr bool swept_with(std::size_t index, std::size_t of) {
    return is_first_with_its_rule(index) && dialects[index].scale_rule == dialects[of].scale_rule;
}

constexpr std::uint64_t bytes_swept_with(std::size_t of) {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < dialects.size(); ++i)
        if (swept_with(i, of)) mask |= std::uint64_t{0xFF} << (8 * i);
    return mask;
}

std::vector<exact::Run> masked_runs(const std::vector<exact::Run>& packed, std::uint64_t mask) {
    std::vector<exact::Run> runs;
    for (exact::Run run : packed) {
        run.result &= mask;
        append_runs(runs, {run});
    }
    return runs;
}

template <std::size_t Of, std::size_t DialectIndex>
MX_FOLDED constexpr std::uint64_t fast_scale(const ElementFormat& scale_format,
                                             const fast::ScaleArgument& argument) {
    if constexpr (!swept_with(DialectIndex, Of)) return 0;
    constexpr ScaleOverflow overflow = dialects[DialectIndex].scale_overflow;
    const std::uint64_t scale = fast::round_scale(overflow, scale_format, argument).bits;
    return scale << (8 * DialectIndex);
}

// All are template arguments only so that the compiler can fold them into the loop.
template <std::size_t FormatIndex, std::size_t InputIndex, std::size_t Of,
          std::size_t... DialectIndex>
void add_sweep(std::vector<Report>& reports, const std::vector<exact::Run>& packed, int threads,
               std::index_sequence<DialectIndex...>) {
    if constexpr (is_first_with_its_scale_rule(Of))
        reports.push_back(
            sweep(masked_runs(packed, bytes_swept_with(Of)), threads, [](std::uint32_t bits) {
                constexpr BlockFormat format = block_formats[FormatIndex];
                constexpr ElementFormat input = *find_element_format(input_types[InputIndex]);
                constexpr ElementFormat scale = format.scale_format;
                constexpr ElementFormat element = format.element_format;
                constexpr ScaleRule rule = dialects[Of].scale_rule;
                const fast::ScaleArgument argument =
                    fast::scale_argument(rule, element, fast::unpack(input, Code{bits}));
                return (fast_scale<Of, DialectIndex>(scale, argument) | ...);
            }));
}

template <std::size_t FormatIndex, std::size_t InputIndex, std::size_t... DialectIndex>
Report sweep_dialects(int threads, std::index_sequence<DialectIndex...>) {
    constexpr ElementFormat input = *find_element_format(input_types[InputIndex]);
    const std::vector<exact::Run> runs = exact_runs(block_formats[FormatIndex], input);
    std::vector<Report> reports;
    (add_sweep<FormatIndex, InputIndex, DialectIndex>(reports, runs, threads,
                                                      std::make_index_sequence<dialects.size()>{}),
     ...);
    return joined(reports);
}

template <std::size_t FormatIndex, std::size_t InputIndex>
Report sweep_scales(int threads) {
    return sweep_dialects<FormatIndex, InputIndex>(threads,
                                                   std::make_index_sequence<dialects.size()>{});
}

template <std::size_t FormatIndex, std::size_t InputIndex>
Proof scale_proof() {
    const ElementFormat& input = *find_element_format(input_types[InputIndex]);
    return {"scale " + std::string(block_formats[FormatIndex].name) + " " + std::string(input.name),
            "all 2^" + std::to_string(input.code_bits() - 1) + " non-negative codes of " +
                std::string(input.name) + " x the rules of " + names_of_rules(),
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
