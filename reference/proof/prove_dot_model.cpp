// fast/dot_model.hpp, and with it gemm/model_sum.hpp and fast/dot_factor.hpp: for every model,
// every product of two codes beside an accumulator, every pair of products, and rows that reach
// over several steps. A step cuts its summands one by one and adds what is left, so that two of
// them show every alignment; the rows show the order and the promotion.
#include <array>

#include "reference/exact/arithmetic.hpp"
#include "reference/exact/dot_model.hpp"
#include "reference/fast/dot_factor.hpp"
#include "reference/fast/dot_model.hpp"
#include "reference/gemm/model_sum.hpp"
#include "reference/proof/gemm_rows.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::proof {
namespace {

struct Rows {
    CodeRow a, b;
    std::uint32_t c = 0;
};

const ElementFormat& result_format(const GemmModel& model) {
    return model.accumulator.exponent_bits == 5 ? model.accumulator : formats::f32;
}

std::uint64_t exact_code(const GemmModel& model, const Rows& rows) {
    const ElementFormat& format = result_format(model);
    return exact::round(format, Rounding::nearest_even, Overflow::overflow,
                        exact::accumulate(model, rows.a.row(), rows.b.row(), rows.a.depth(),
                                          exact::decode(format, Code{rows.c})))
        .bits;
}

bool are_same(const fast::Unpacked& left, const fast::Unpacked& right) {
    return left.kind == right.kind && left.negative == right.negative &&
           left.exponent == right.exponent && left.significand == right.significand;
}

// No code: what fast/dot_model.hpp and those of gemm/ do not agree on.
constexpr std::uint64_t two_answers = ~std::uint64_t{0};

// Factors as a GPU has them, those of a row apart from each other.
struct Factored {
    std::vector<fast::Factor> factors;
    fast::FactoredRow row;
};
Factored factored(const GemmModel& model, const ScaledRow& codes, std::int64_t depth) {
    constexpr std::int64_t stride = 3;
    Factored made{std::vector<fast::Factor>(static_cast<std::size_t>(stride * depth)), {codes, {}}};
    for (std::int64_t k = 0; k < depth; ++k)
        made.factors[static_cast<std::size_t>(k * stride)] = fast::factor_at(model, codes, k);
    made.row.factors = {made.factors.data(), stride};
    return made;
}

// From factors, where the model's steps read them; else `otherwise`.
fast::Unpacked by_factors(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                          std::int64_t depth, std::int64_t part, const fast::Unpacked& otherwise) {
    if (!fast::has_factors(model)) return otherwise;
    return fast::accumulate_factors_in_parts(model, factored(model, a, depth).row,
                                             factored(model, b, depth).row, depth, part);
}

std::uint64_t fast_code(const GemmModel& model, const Rows& rows) {
    const ElementFormat& format = result_format(model);
    const fast::Unpacked c = fast::unpack(format, Code{rows.c});
    const auto sum = fast::accumulate(model, rows.a.row(), rows.b.row(), rows.a.depth(), c);
    if (!are_same(sum, gemm::accumulate(model, rows.a.row(), rows.b.row(), rows.a.depth(), c)))
        return two_answers;
    // Those start from nothing.
    if (rows.c == 0 &&
        !are_same(sum, by_factors(model, rows.a.row(), rows.b.row(), rows.a.depth(), 0, sum)))
        return two_answers;
    return fast::round(format, Rounding::nearest_even, Overflow::overflow, sum).bits;
}

Report compare_rows(const GemmModel& model, std::uint32_t count, int threads,
                    const std::function<Rows(std::uint32_t)>& rows_of) {
    return compare_everywhere(
        count, threads, [&](std::uint32_t i) { return exact_code(model, rows_of(i)); },
        [&](std::uint32_t i) { return fast_code(model, rows_of(i)); });
}

// One of the kinds of scales that a model has for blocks; block 0: none.
struct BlockScales {
    ElementFormat scale = formats::e8m0;
    std::int64_t block = 0;
};

// Every format of scales that the row names with every size of blocks.
std::vector<BlockScales> scales_of(const GemmModel& model) {
    if (model.scaling == BlockScaling::none) return {{}};
    std::vector<BlockScales> all;
    for (const ElementFormat& scale : {formats::e8m0, ue4m3, formats::f32})
        for (const std::int64_t block : {16, 32, 128})
            if (lists(model.scales, scale.name) && lists(model.blocks, std::to_string(block)))
                all.push_back({scale, block});
    MX_ASSERT(!all.empty());
    return all;
}

// A model with one of its kinds of scales.
struct ScaledModel {
    const GemmModel& model;
    BlockScales scales;
};

// A row of `element` with scales that differ from block to block.
CodeRow row_of(const ScaledModel& scaled, const ElementFormat& element,
               std::vector<std::uint32_t> codes, std::uint32_t first_scale) {
    CodeRow row{element, std::move(codes)};
    row.block = scaled.scales.block;
    if (row.block == 0) return row;
    row.scale = scaled.scales.scale;
    const bool is_f32 = row.scale.name == formats::f32.name;
    for (std::int64_t k = 0; k < row.depth(); k += row.block) {
        const std::uint32_t scale = first_scale + static_cast<std::uint32_t>(k / row.block) * 3;
        // A scale of binary32 has this sign and exponent, and a mantissa of its own.
        row.scales.push_back(is_f32 ? scale << 24 | (scale * 2654435761u >> 8) : scale & 255);
    }
    return row;
}

// The codes of an element format that stand for all: every one, or of 16 bits and more those with
// few mantissa bits set, at either end.
std::vector<std::uint32_t> codes_of(const ElementFormat& format) {
    std::vector<std::uint32_t> codes;
    const int spare = format.code_bits() - 8;
    for (std::uint32_t i = 0; i < (1u << std::min(8, format.code_bits())); ++i) {
        codes.push_back(spare <= 0 ? i : i << spare);
        if (spare > 0) codes.push_back(i << spare | ((1u << spare) - 1 - i % 2));
    }
    return codes;
}

constexpr std::array<std::uint32_t, 6> accumulators{0,          0x80000001, 0x3F801FFF,
                                                    0xC2FFFFFF, 0x7F7FFFFF, 0x35A3D70A};

std::uint32_t accumulator_of(const GemmModel& model, std::uint32_t which) {
    const std::uint32_t code = accumulators[which % accumulators.size()];
    return result_format(model).code_bits() == 16 ? code >> 16 : code;
}

// One product and C. The scales run over all bytes with the codes.
Report prove_products(const ScaledModel& scaled, const ElementFormat& element, int threads) {
    const GemmModel& model = scaled.model;
    const auto codes = codes_of(element);
    const auto count = static_cast<std::uint32_t>(codes.size());
    return compare_rows(model, count * count, threads, [&](std::uint32_t i) {
        return Rows{row_of(scaled, element, {codes[i / count]}, i & 255),
                    row_of(scaled, element, {codes[i % count]}, i >> 8 & 255),
                    accumulator_of(model, i / 7)};
    });
}

// Two products of one step: every code times the largest odd one, beside every code times one.
Report prove_pairs(const ScaledModel& scaled, const ElementFormat& element, int threads) {
    const GemmModel& model = scaled.model;
    const auto codes = codes_of(element);
    const auto count = static_cast<std::uint32_t>(codes.size());
    const std::uint32_t largest = element.code_max_finite();
    const std::uint32_t one = static_cast<std::uint32_t>(element.exponent_bias)
                              << element.mantissa_bits;
    return compare_rows(model, count * count, threads, [&](std::uint32_t i) {
        return Rows{row_of(scaled, element, {codes[i / count], codes[i % count]}, 127),
                    row_of(scaled, element, {largest, one}, 120),
                    i % 3 == 0 ? 0 : accumulator_of(model, i / 5)};
    });
}

// A code of few binades, so that no summand drowns the others; now and then a zero.
std::uint32_t near_one(const ElementFormat& element, std::uint32_t seed) {
    const std::uint32_t bits = seed * 1664525u + 1013904223u;
    const std::uint32_t sign = bits >> 31 != 0 ? element.code_sign_mask() : 0;
    if ((bits >> 24) % 16 == 0) return sign;
    const std::uint32_t middle = static_cast<std::uint32_t>(element.exponent_bias)
                                 << element.mantissa_bits;
    const std::uint32_t spread = 3u << element.mantissa_bits;
    const std::uint32_t code = middle - spread / 2 + (bits >> 8) % spread;
    return (code & element.code_magnitude_mask()) | sign;
}

// Rows of every length up to four steps and one product, past two promotions and two tiles; rarely
// with one far larger than the rest. The kinds of scales take turns: each has rows of every length.
Report prove_rows(const GemmModel& model, const ElementFormat& element, int threads) {
    const std::vector<BlockScales> scales = scales_of(model);
    const int steps = 4 * model.products * model.exact_group + 1;
    const int longest = std::max({steps, 2 * model.promotion + 1, 2 * model.residue_tile + 1});
    const auto count = static_cast<std::uint32_t>(longest) * 8;
    return compare_rows(model, count, threads, [&](std::uint32_t i) {
        const std::uint32_t depth = i / 8 + 1;
        const ScaledModel scaled{model, scales[(i / 2 + depth) % scales.size()]};
        std::vector<std::uint32_t> left, right;
        for (std::uint32_t k = 0; k < depth; ++k) {
            left.push_back(near_one(element, i * 2654435761u + k * 40503u));
            right.push_back(near_one(element, i * 97u + k * 2246822519u));
        }
        if (i % 8 == 7) left[depth / 2] = element.code_max_finite();
        return Rows{row_of(scaled, element, left, 0x38), row_of(scaled, element, right, 0x3A),
                    i % 2 == 0 ? 0 : accumulator_of(model, i / 3)};
    });
}

// Rows of 40 to 300 products split in parts of 32, 64, 128 and 256; where each begins with a
// residue, of 40, 72, 136 and 264.
Report prove_parts(const ScaledModel& scaled, const ElementFormat& element, int threads) {
    const GemmModel& model = scaled.model;
    const ElementFormat f32 = formats::f32;
    const auto rows_of = [&](std::uint32_t i) {
        std::vector<std::uint32_t> left, right;
        for (std::uint32_t k = 0; k < 40 + i / 4 * 4; ++k) {
            left.push_back(near_one(element, k * 2654435761u + i));
            right.push_back(near_one(element, k * 40503u + i * 97));
        }
        return Rows{row_of(scaled, element, left, 0x38), row_of(scaled, element, right, 0x3A)};
    };
    const auto part_of = [&](std::uint32_t i) {
        const std::int64_t part = (32 << i % 4) + (model.residue_tile != 0 ? 8 : 0);
        return model.promotion > part ? model.promotion : part;
    };
    return compare_everywhere(
        260, threads,
        [&](std::uint32_t i) {
            const Rows rows = rows_of(i);
            return exact::round(f32, Rounding::nearest_even, Overflow::overflow,
                                exact::accumulate_in_parts(model, rows.a.row(), rows.b.row(),
                                                           rows.a.depth(), part_of(i)))
                .bits;
        },
        [&](std::uint32_t i) {
            const Rows rows = rows_of(i);
            const ScaledRow a = rows.a.row(), b = rows.b.row();
            const std::int64_t depth = rows.a.depth(), part = part_of(i);
            const auto sum = fast::accumulate_in_parts(model, a, b, depth, part);
            if (!are_same(sum, gemm::accumulate_in_parts(model, a, b, depth, part)) ||
                !are_same(sum, by_factors(model, a, b, depth, part, sum)))
                return two_answers;
            return std::uint64_t{
                fast::round(f32, Rounding::nearest_even, Overflow::overflow, sum).bits};
        });
}

// Splitting K has nothing to do with the kind of scales.
Report prove_model(const GemmModel& model, const ElementFormat& element, int threads) {
    std::vector<Report> reports;
    for (const BlockScales& scales : scales_of(model)) {
        const ScaledModel scaled{model, scales};
        reports.push_back(prove_products(scaled, element, threads));
        reports.push_back(prove_pairs(scaled, element, threads));
    }
    reports.push_back(prove_rows(model, element, threads));
    if (result_format(model).name == "f32")
        reports.push_back(prove_parts({model, scales_of(model)[0]}, element, threads));
    return joined(reports);
}

// What rounds up and down, what leaves binary32 at either end, and what is no number.
constexpr std::array<std::uint32_t, 8> alphas{0x3EAAAAAB, 0xC0490FDB, 0x006CE3EE, 0x7F7FFFFF,
                                              0x00000100, 0x80000000, 0x7F800000, 0x7FC00000};

Report prove_times_alpha(int threads) {
    constexpr std::uint32_t codes = 1 << 16, count = 2 * codes * alphas.size();
    const auto element_of = [](std::uint32_t i) {
        return i / codes % 2 == 0 ? formats::bf16 : formats::f16;
    };
    const auto alpha_of = [](std::uint32_t i) { return Code{alphas[i / (2 * codes)]}; };
    return compare_everywhere(
        count, threads,
        [&](std::uint32_t i) {
            const CodeRow row{element_of(i), {i % codes}};
            const exact::TimesAlpha times(row.row(), 1, exact::decode(formats::f32, alpha_of(i)));
            return std::uint64_t{times.row().codes.at(0).bits};
        },
        [&](std::uint32_t i) {
            const CodeRow row{element_of(i), {i % codes}};
            const gemm::TimesAlpha times(row.row(), 1, fast::unpack(formats::f32, alpha_of(i)));
            return std::uint64_t{times.row().codes.at(0).bits};
        });
}

std::vector<ElementFormat> operands_of(const GemmModel& model) {
    std::vector<ElementFormat> formats;
    for (const ElementFormat& format : element_formats)
        if (lists(model.operands, format.name)) formats.push_back(format);
    return formats;
}

// What a user's row may have and no row of the table has: every cut that is no truncation.
constexpr GemmModel with_cut(std::string_view name, Rounding cut) {
    GemmModel row = *find_gemm_model("hopper-fp8");
    row.name = name;
    row.operands = "e4m3";
    row.cut = cut;
    return row;
}
constexpr std::array users_rows{with_cut("cut nearest_even", Rounding::nearest_even),
                                with_cut("cut nearest_away", Rounding::nearest_away),
                                with_cut("cut toward_positive", Rounding::toward_positive),
                                with_cut("cut toward_negative", Rounding::toward_negative),
                                with_cut("cut away_from_zero", Rounding::away_from_zero)};

// The rows that devices are judged by are proved with every change, and one of each other kind.
bool is_central(const GemmModel& model, const ElementFormat& element) {
    if (model.residue_tile != 0) return model.residue_tile == 32 && element.name == "bf16";
    if (model.name == "hopper-f16-f16") return true;
    if (model.standing == Standing::verified_here)
        return element.name == "e4m3" || element.name == "bf16";
    const bool is_amd = model.name == "cdna1-bf16" || model.name == "cdna2-bf16-pairs" ||
                        (model.name == "cdna3-fp8" && element.name == "e4m3fnuz");
    const bool is_simulated =
        model.name == "amx-half" || model.name == "arm-fp8-dot4" || model.name == "rvv-fp8-vlen128";
    if (is_simulated) return element.name == "e4m3" || element.name == "bf16";
    if (model.name == "amx-fp8" || model.name == "arm-fp8-mlal-f16") return element.name == "e5m2";
    return is_amd || model.name == "blackwell-fp4" ||
           (model.name == "blackwell-mx" && element.name == "e4m3") ||
           (model.name == "mma-sync-fp8" && element.name == "e5m2");
}

}  // namespace

std::vector<Proof> dot_model_proofs() {
    std::vector<Proof> proofs;
    const auto add = [&proofs](const GemmModel& model, const ElementFormat& element,
                               Effort effort) {
        proofs.push_back(
            {"gemm model " + std::string(model.name) + " " + std::string(element.name),
             "every product beside C and every pair of products with every kind of scales of the "
             "row, rows of all lengths up to four steps",
             [&model, element](int threads) { return prove_model(model, element, threads); },
             effort});
    };
    for (const GemmModel& model : gemm_models)
        for (const ElementFormat& element : operands_of(model))
            add(model, element, is_central(model, element) ? Effort::always : Effort::whole_set);
    for (const GemmModel& model : users_rows) add(model, formats::e4m3, Effort::always);
    proofs.push_back({"gemm alpha on A", "every code of bf16 and f16 times 8 numbers of binary32",
                      prove_times_alpha, Effort::always});
    return proofs;
}

}  // namespace mx::proof
