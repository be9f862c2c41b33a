// fast/scale.hpp: the scale of every non-negative amax code of f32, bf16 and f16, under every scale
// rule and scale overflow that a dialect uses, for every block format.
#include "reference/exact/block.hpp"
#include "reference/fast/scale.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/dialects.hpp"

namespace mx::proof {
namespace {

std::vector<exact::Run> exact_runs(const Dialect& dialect, const BlockFormat& format,
                                   const ElementFormat& input) {
    const auto ask = [&](std::uint32_t bits) {
        return exact::encode_scale(dialect, format, exact::decode(input, Code{bits})).bits;
    };
    std::vector<exact::Run> runs;
    append_runs(runs, exact::runs_of(0, input.code_infinity(), ask));
    append_runs(runs, exact::runs_of(input.code_infinity() + 1, input.code_magnitude_mask(), ask));
    return runs;
}

// Dialect, format and input are template arguments only so that the compiler can fold them.
template <std::size_t DialectIndex, std::size_t FormatIndex, std::size_t InputIndex>
Report sweep_scale(int threads) {
    static constexpr Dialect dialect = dialects[DialectIndex];
    static constexpr BlockFormat format = block_formats[FormatIndex];
    static constexpr ElementFormat input = *find_element_format(input_types[InputIndex]);
    return sweep(exact_runs(dialect, format, input), threads, [](std::uint32_t bits) {
        return fast::encode_scale(dialect, format, fast::unpack(input, Code{bits})).bits;
    });
}

// True for the first dialect of the table with this rule and overflow: the others give the same
// function, and its proof is theirs.
constexpr bool is_first_with_its_rule(std::size_t index) {
    for (std::size_t earlier = 0; earlier < index; ++earlier)
        if (dialects[earlier].scale_rule == dialects[index].scale_rule &&
            dialects[earlier].scale_overflow == dialects[index].scale_overflow)
            return false;
    return true;
}

template <std::size_t DialectIndex, std::size_t FormatIndex, std::size_t InputIndex>
void add_proof(std::vector<Proof>& proofs) {
    if constexpr (is_first_with_its_rule(DialectIndex)) {
        const ElementFormat& input = *find_element_format(input_types[InputIndex]);
        proofs.push_back({"scale " + std::string(block_formats[FormatIndex].name) + " " +
                              std::string(dialects[DialectIndex].name) + " " +
                              std::string(input.name),
                          "all 2^" + std::to_string(input.code_bits() - 1) +
                              " non-negative codes of " + std::string(input.name),
                          sweep_scale<DialectIndex, FormatIndex, InputIndex>});
    }
}

template <std::size_t DialectIndex, std::size_t... Rest>
void add_dialect(std::vector<Proof>& proofs, std::index_sequence<Rest...>) {
    (add_proof<DialectIndex, Rest / input_types.size(), Rest % input_types.size()>(proofs), ...);
}

template <std::size_t... DialectIndex>
void add_all(std::vector<Proof>& proofs, std::index_sequence<DialectIndex...>) {
    constexpr std::size_t combinations = block_formats.size() * input_types.size();
    (add_dialect<DialectIndex>(proofs, std::make_index_sequence<combinations>{}), ...);
}

}  // namespace

std::vector<Proof> scale_proofs() {
    std::vector<Proof> proofs;
    add_all(proofs, std::make_index_sequence<dialects.size()>{});
    return proofs;
}

}  // namespace mx::proof
