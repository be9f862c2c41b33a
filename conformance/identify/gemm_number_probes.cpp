// See gemm_probes.hpp: probes with C, alpha, beta and scales.
#include "conformance/identify/gemm_probes.hpp"
#include "conformance/identify/gemm_rows.hpp"

namespace mx::identify {
namespace {

// Where a large product, what takes it away again, and a third one lie, in halves of blocks: the
// third after both, in a step of its own or not; between them; and after a pair in one block.
struct Trio {
    std::int64_t large, minus, third;
};

// As add_step_mates and add_fractions, with one product in a block and its size in the scales:
// elements of 4 and 6 bits have no room for it.
void add_blocks(Rows& rows) {
    const GemmProblem& setting = rows.setting();
    const FactorScalingRow& rule = row_of(setting.a.scaling);
    if (rule.block == 0 || setting.b.scaling != setting.a.scaling) return;
    const auto count = static_cast<std::size_t>((rows.depth() + rule.block - 1) / rule.block);
    const auto scaled = [&](const Trio& trio, int exponent, Small size) {
        const auto place = [&](std::int64_t halves) { return halves * rule.block / 2; };
        rows.probe("blocks").product(place(trio.large), {2}).product(place(trio.minus), {2, -4});
        rows.product(place(trio.third), size);
        GemmProbe& probe = rows.all().back();
        probe.scales_a = probe.scales_b = std::vector<Code>(count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto block = static_cast<std::int64_t>(i);
            const bool is_of_pair = block == trio.large / 2 || block == trio.minus / 2;
            set_scales(setting, probe, i, is_of_pair ? 16 : exponent);
        }
    };
    for (std::int64_t third = 2;
         third < std::min<std::int64_t>(static_cast<std::int64_t>(count), 16); ++third)
        for (const int exponent : {-8, -16, -18}) scaled({0, 2, 2 * third}, exponent, {0});
    // What E8M0 and binary32 reach, and UE4M3.
    const int least = rule.scale.has_zero() && rule.scale.code_bits() <= 8 ? -18 : -30;
    for (const Trio& trio : {Trio{0, 2, 4}, Trio{0, 4, 2}, Trio{0, 1, 2}})
        for (int exponent = 16; exponent >= least; --exponent)
            for (const int quarters : {4, -4, 6, -6}) scaled(trio, exponent, {0, quarters});
}

Code random_f32(GemmData data, std::uint64_t seed, std::uint64_t row) {
    return gemm_number(data, formats::f32, {seed, 9, row, 0}, 20);
}

// Scales of A as large as those of B are small, and the other way round: what is multiplied first
// overflows or underflows.
GemmProbes opposed_scales(const GemmProblem& setting, std::int64_t depth) {
    GemmProbes all;
    for (const int distance : {-120, -100, 100, 120}) {
        GemmProbes probes = random_probes(setting, depth, 4, GemmData::middle, 60);
        add_scales(setting, 60, probes);
        for (GemmProbe& probe : probes) {
            probe.about = "scales";
            const auto opposed = [](FactorScaling scaling, int exponent,
                                    std::vector<Code>& scales) {
                const ElementFormat& format = row_of(scaling).scale;
                const int most = format.exponent_max() - 1, least = format.exponent_min();
                const int power = std::clamp(exponent, least, most);
                for (Code& scale : scales)
                    scale = Code{static_cast<std::uint32_t>(power + format.exponent_bias)
                                     << format.mantissa_bits |
                                 (scale.bits & format.code_mantissa_mask())};
            };
            opposed(setting.a.scaling, distance, probe.scales_a);
            opposed(setting.b.scaling, -distance, probe.scales_b);
        }
        append(all, std::move(probes));
    }
    return all;
}
}  // namespace

GemmProbes addend_probes(const GemmProblem& setting, std::int64_t depth) {
    Rows rows(setting, depth);
    const auto power = [](int exponent, std::uint32_t mantissa) {
        return Code{static_cast<std::uint32_t>(exponent + 127) << 23 | mantissa};
    };
    for (int exponent = 16; exponent >= -30; --exponent) {
        rows.probe("C")
            .product(0, {large_of(rows)})
            .product(1, {large_of(rows), -4})
            .addend(power(exponent, 0x2AAAAA));
        rows.probe("C").product(0, {0}).addend(power(exponent, 0x400000));
        rows.probe("C").product(0, {0}).addend(Code{power(exponent, 0x555555).bits | 1u << 31});
    }
    for (const std::uint32_t c : {0x80000000u, 0x00000001u, 0x807FFFFFu, 0x7F800000u, 0xFF800000u,
                                  0x7FC00000u, 0x7F7FFFFFu, 0x3F800001u}) {
        rows.probe("C").addend(Code{c});
        rows.probe("C").product(0, {0}).addend(Code{c});
    }
    // A quarter of the smallest number of binary16, in the last step, for a later one would make +0
    // of it, and so would a C of +0.
    rows.probe("what rounds to 0").product(depth - 1, {-26, -4}).addend(Code{0x80000000u});
    add_random(rows, 4, 2);
    for (std::size_t row = 0; row < rows.all().size(); ++row) {
        GemmProbe& probe = rows.all()[row];
        if (probe.beta == one_f32) continue;
        probe.beta = one_f32;
        probe.c = random_f32(GemmData::uniform, 2, row);
    }
    return std::move(rows.all());
}

GemmProbes factor_probes(const GemmProblem& setting, std::int64_t depth) {
    struct Numbers {
        std::uint32_t alpha, beta;
    };
    // Two odd ones of ordinary size, one that leads to subnormals, signs.
    static constexpr std::array list{
        Numbers{0x3FB504F3, 0}, Numbers{0x3FB504F3, 0x3F3504F3}, Numbers{0xBF8CCCCD, 0xC0490FDB},
        Numbers{0x01234567, 0}, Numbers{0xBF800000, 0},          Numbers{0xBF800000, 0xBF800000}};
    GemmProbes all;
    for (std::size_t i = 0; i < list.size(); ++i) {
        Rows rows(setting, depth);
        rows.probe("alpha");
        rows.probe("alpha").product(0, {0});
        rows.probe("alpha").product(0, {0}).product(1, {0, -4});
        add_random(rows, 3, 3 + i);
        for (std::size_t row = 0; row < rows.all().size(); ++row) {
            GemmProbe& probe = rows.all()[row];
            probe.about = "alpha";
            probe.alpha = Code{list[i].alpha};
            probe.beta = Code{list[i].beta};
            if (row >= 3) probe.c = random_f32(GemmData::uniform, 3 + i, row);
        }
        append(all, std::move(rows.all()));
    }
    return all;
}

GemmProbes scale_probes(const GemmProblem& setting, std::int64_t depth) {
    const bool has_scales_a = setting.a.scaling != FactorScaling::none;
    if (!has_scales_a && setting.b.scaling == FactorScaling::none) return {};
    static constexpr std::array<std::uint32_t, 4> alphas{0x3F800000, 0x3FB504F3, 0xBF800000,
                                                         0x3FB504F3};
    Rows blocks(setting, depth);
    if (has_scales_a) add_blocks(blocks);
    GemmProbes all = std::move(blocks.all());
    for (std::size_t i = 0; i < alphas.size(); ++i) {
        GemmProbes probes;
        for (const GemmData data : finite_families)
            append(probes, random_probes(setting, depth, 4, data, 20 + i));
        add_scales(setting, 30 + i, probes);
        for (std::size_t row = 0; row < probes.size(); ++row) {
            probes[row].about = "scales";
            probes[row].alpha = Code{alphas[i]};
            if (i == 3) probes[row].beta = Code{0x3F3504F3};
            probes[row].c = random_f32(GemmData::uniform, 40, row);
        }
        append(all, std::move(probes));
    }
    append(all, opposed_scales(setting, depth));
    return all;
}

void add_scales(const GemmProblem& setting, std::uint64_t seed, GemmProbes& probes) {
    const auto scales = [&](FactorScaling scaling, std::uint32_t tensor, std::size_t row) {
        const FactorScalingRow& rule = row_of(scaling);
        std::vector<Code> all;
        if (scaling == FactorScaling::none) return all;
        const std::int64_t depth = probes[row].depth();
        const std::int64_t count = rule.block == 0 ? 1 : (depth + rule.block - 1) / rule.block;
        for (std::int64_t block = 0; block < count; ++block) {
            // What whole tensors share is the same in all probes.
            const GemmPlace place{seed, tensor, rule.rows == 1 ? row : 0,
                                  static_cast<std::uint64_t>(block)};
            all.push_back(Code{code_near_one(rule.scale, bits_of(place), 8)});
        }
        return all;
    };
    for (std::size_t row = 0; row < probes.size(); ++row) {
        probes[row].scales_a = scales(setting.a.scaling, 2, row);
        probes[row].scales_b = scales(setting.b.scaling, 3, row);
    }
}

}  // namespace mx::identify
