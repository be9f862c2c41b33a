// fast/real_scale.hpp, quantize.hpp, hadamard.hpp and delayed_scaling.hpp where lanes meet: whole
// blocks with NaN, Inf and zeros, the choice between two candidates, the transform of 16 lanes, the
// way back, and the history of delayed scaling.
#include "reference/exact/delayed_scaling.hpp"
#include "reference/exact/quantize.hpp"
#include "reference/fast/delayed_scaling.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/proof/prove_real_scale.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/delayed_scaling.hpp"
#include "reference/spec/hadamard.hpp"

namespace mx::proof {
namespace {

constexpr std::array<std::uint32_t, 11> notable{0x00000000, 0x80000000, 0x00000001, 0x3F800000,
                                                0xBF7FFFFF, 0x3FD55555, 0x40C00001, 0xC3E00000,
                                                0x7F7FFFFF, 0xFF800000, 0xFFC00001};
constexpr std::uint32_t notable_count = notable.size();

std::array<std::uint32_t, 3> triple(std::uint32_t index) {
    return {notable[index % notable_count], notable[index / notable_count % notable_count],
            notable[index / notable_count / notable_count]};
}

// Random bits for lane 0, 1, 2 where the recipe wants them.
constexpr std::array<RandomBits, 3> three_random{{{17, 8}, {255, 8}, {128, 8}}};

std::uint32_t exact_block(const Quantizer& recipe, const BlockFormat& format, std::uint32_t index) {
    std::vector<exact::Value> lanes;
    for (const std::uint32_t bits : triple(index)) lanes.push_back(exact::f32_of_code(bits));
    const exact::TensorNumbers tensor = exact::tensor_numbers(
        recipe, format, exact::amax_of(rules_of_tensor_amax(recipe), lanes), exact::number(3));
    const exact::Block block =
        exact::quantize({recipe, format, formats::f32, tensor}, lanes, three_random);
    std::uint32_t hash = block.scale.bits;
    for (const Code element : block.elements) hash = hashed(hash, element.bits);
    return hash;
}

std::uint32_t fast_block(const Quantizer& recipe, const BlockFormat& format, std::uint32_t index) {
    const auto lanes = triple(index);
    const fast::Unpacked amax =
        fast::amax_of(rules_of_tensor_amax(recipe), formats::f32, lanes.data(), 3);
    const fast::BlockQuestion question{recipe, format, formats::f32,
                                       fast::tensor_numbers(recipe, format, amax, fast::whole(3))};
    std::array<std::uint8_t, 3> elements{};
    const Code scale =
        fast::quantize(question, lanes.data(), 3, elements.data(), three_random.data());
    std::uint32_t hash = scale.bits;
    for (const std::uint8_t element : elements) hash = hashed(hash, element);
    return hash;
}

// Sixteen lanes of bfloat16, all zero but two: which two, and what they hold.
struct SparseLanes {
    std::array<std::uint32_t, 16> codes{};
};
constexpr std::array<std::uint32_t, 10> notable_bf16{0x8000, 0x0001, 0x807F, 0x3F80, 0xBF81,
                                                     0x3C00, 0x4000, 0x7F7F, 0x7F80, 0xFFC0};
SparseLanes sparse(std::uint32_t index) {
    SparseLanes lanes;
    const std::uint32_t first = index % 16, second = index / 16 % 16;
    const std::uint32_t values = index / 256;
    lanes.codes[first] = notable_bf16[values % notable_bf16.size()];
    lanes.codes[second] = notable_bf16[values / notable_bf16.size()];
    return lanes;
}

Report prove_transform(const Quantizer& recipe, int threads) {
    return compare_everywhere(
        256 * notable_bf16.size() * notable_bf16.size(), threads,
        [&](std::uint32_t index) {
            std::vector<exact::Value> lanes;
            for (const std::uint32_t bits : sparse(index).codes)
                lanes.push_back(exact::decode(formats::bf16, Code{bits}));
            std::uint32_t hash = 0;
            for (const exact::Value& value : exact::transformed(recipe, lanes))
                hash = hashed(hash, exact::round(formats::bf16, Rounding::nearest_even,
                                                 Overflow::overflow, value)
                                        .bits);
            return hash;
        },
        [&](std::uint32_t index) {
            std::array<fast::Unpacked, 16> lanes;
            const SparseLanes codes = sparse(index);
            for (std::size_t lane = 0; lane < 16; ++lane)
                lanes[lane] = fast::unpack(formats::bf16, Code{codes.codes[lane]});
            std::uint32_t hash = 0;
            for (int to = 0; to < hadamard_size; ++to)
                hash = hashed(hash,
                              fast::round(formats::bf16, Rounding::nearest_even, Overflow::overflow,
                                          fast::rotated_lane(lanes.data(), to))
                                  .bits);
            return hash;
        });
}

// Every element under every E4M3 scale, or under notable binary32 scales, beside notable numbers of
// the tensor.
Report prove_way_back(const Quantizer& recipe, const BlockFormat& format, int threads) {
    const bool is_small = format.scale().code_bits() == 8;
    const std::uint32_t scales = is_small ? 256 : notable_count;
    const std::uint32_t elements = std::uint32_t{1} << format.element().code_bits();
    const auto split = [=](std::uint32_t index) {
        const std::uint32_t scale = index / elements % scales;
        return std::pair{
            notable[index / elements / scales],
            fast::StoredElement{Code{is_small ? scale : notable[scale]}, Code{index % elements}}};
    };
    return compare_everywhere(
        elements * scales * notable_count, threads,
        [&](std::uint32_t index) {
            const auto [kept, stored] = split(index);
            const exact::Value number = exact::f32_of_code(kept);
            return exact::dequantize({recipe, format, formats::f32, number},
                                     {stored.scale, stored.element})
                .bits;
        },
        [&](std::uint32_t index) {
            const auto [kept, stored] = split(index);
            return fast::dequantize(
                       {recipe, format, formats::f32, fast::unpack(formats::f32, Code{kept})},
                       stored)
                .bits;
        });
}

// A NaN of any payload as the one that rounding gives.
std::uint32_t canonical(std::uint32_t bits) {
    return formats::f32.is_nan(Code{bits}) ? formats::f32.code_nan() : bits;
}

std::uint32_t exact_history(const DelayedScaling& rules, std::uint32_t index) {
    exact::ScaleHistory history;
    for (const std::uint32_t bits : triple(index)) history.amax.push_back(exact::f32_of_code(bits));
    history.scale = exact::number(3);
    const exact::ScaleHistory next = exact::next_history(rules, formats::e4m3, history);
    const auto code_of = [](const exact::Value& value) {
        return exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value).bits;
    };
    std::uint32_t hash = code_of(next.scale);
    for (const exact::Value& amax : next.amax) hash = hashed(hash, code_of(amax));
    return hash;
}

std::uint32_t fast_history(const DelayedScaling& rules, std::uint32_t index) {
    auto history = triple(index);
    std::uint32_t hash = canonical(
        fast::next_history(rules, formats::e4m3, history.data(), 3, Code{0x40400000}).bits);
    for (const std::uint32_t amax : history) hash = hashed(hash, canonical(amax));
    return hash;
}

Report prove_history(int threads) {
    std::vector<Report> parts;
    for (const AmaxAlgorithm algorithm : {AmaxAlgorithm::max, AmaxAlgorithm::most_recent})
        for (const ZeroAmaxHistory on_zero : {ZeroAmaxHistory::rolls, ZeroAmaxHistory::stays})
            for (const int margin : {-margin_limit, 0, 1, margin_limit}) {
                const DelayedScaling rules{algorithm, margin, on_zero};
                parts.push_back(compare_everywhere(
                    notable_count * notable_count * notable_count, threads,
                    [&](std::uint32_t index) { return exact_history(rules, index); },
                    [&](std::uint32_t index) { return fast_history(rules, index); }));
            }
    return joined(parts);
}

}  // namespace

std::vector<Proof> recipe_block_proofs() {
    std::vector<Proof> proofs;
    for (const Quantizer& recipe : real_scale_quantizers)
        for (const BlockFormat& format : real_scale_formats) {
            if (!recipe.quantizes(format)) continue;
            const std::string name = std::string(recipe.name) + " " + std::string(format.name);
            proofs.push_back(
                {"recipe blocks " + name, "all triples of 11 notable values",
                 [&recipe, &format](int threads) {
                     return compare_everywhere(
                         notable_count * notable_count * notable_count, threads,
                         [&](std::uint32_t index) { return exact_block(recipe, format, index); },
                         [&](std::uint32_t index) { return fast_block(recipe, format, index); });
                 }});
        }
    for (const Quantizer& recipe : real_scale_quantizers)
        for (const BlockFormat& format : real_scale_formats)
            if (recipe.quantizes(format) && format.block_columns != 128)
                proofs.push_back(
                    {"recipe way back " + std::string(recipe.name) + " " + std::string(format.name),
                     "all elements x all or 11 scales x 11 numbers of the tensor",
                     [&recipe, &format](int threads) {
                         return prove_way_back(recipe, format, threads);
                     }});
    proofs.push_back(
        {"recipe transform", "16 lanes, two of them of 10 notable values, any places",
         [](int threads) { return prove_transform(*find_quantizer("te-nvfp4-rht"), threads); }});
    proofs.push_back(
        {"recipe history", "all triples of 11 notable amax x 16 rules", prove_history});
    return proofs;
}

}  // namespace mx::proof
