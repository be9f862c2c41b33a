// See gemm_beginnings.hpp.
#include "conformance/identify/gemm_beginnings.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "conformance/data/gemm_codes.hpp"
#include "conformance/identify/gemm_rows.hpp"

namespace mx::identify {
namespace {

// The names of blocks as rows list them.
std::string_view block_name(std::int64_t block) {
    return block == 16 ? "16" : block == 32 ? "32" : "128";
}

// Sums of processors' instructions, each with the fewest products that it can have.
std::vector<GemmModel> processor_models() {
    GemmModel exact{};
    exact.fraction_bits = all_bits;
    exact.rounding = Rounding::nearest_even;
    GemmModel fused = exact;
    fused.products = 4;
    fused.sum = StepSum::fused;
    GemmModel fused_half = fused;
    fused_half.accumulator = formats::f16;
    GemmModel chain = exact;
    chain.products = 2;
    chain.sum = StepSum::chain_flushed;
    GemmModel lanes = exact;
    lanes.products = 32;
    lanes.sum = StepSum::lanes_flushed;
    GemmModel alone{};
    alone.products = 16;
    alone.fraction_bits = 24;
    alone.cut = alone.rounding = Rounding::to_odd;
    alone.sum = StepSum::products_alone;
    std::vector<GemmModel> models{fused, fused_half, chain, lanes, alone};
    for (GemmModel converted : {chain, lanes}) {
        converted.exponents = FactorExponents::f16;
        models.push_back(converted);
    }
    return models;
}

// Plain machines in steps, fused multiply-adds, exact steps, and those that AMD's are like.
std::vector<GemmModel> plain_models() {
    GemmModel aligned{};
    aligned.products = 8;
    aligned.fraction_bits = 24;
    GemmModel narrow = aligned;
    narrow.products = 16;
    narrow.fraction_bits = 13;
    narrow.accumulator = e8m13;
    GemmModel wide = aligned;
    wide.products = 32;
    GemmModel half = aligned;
    half.accumulator = formats::f16;
    half.rounding = Rounding::nearest_even;
    GemmModel converted = aligned;
    converted.products = 16;
    converted.exponents = FactorExponents::f16;
    converted.order = ProductOrder::pairs_of_four;
    converted.promotion = 32;
    GemmModel fused{};
    fused.products = 1;
    fused.fraction_bits = all_bits;
    fused.rounding = Rounding::nearest_even;
    GemmModel exact = fused;
    exact.products = 4;
    GemmModel tree = exact;
    tree.sum = StepSum::pairs_flushed;
    GemmModel late = aligned;
    late.rounding = Rounding::nearest_even;
    late.sum = StepSum::products_first;
    GemmModel even_and_odd = late;
    even_and_odd.products = 16;
    even_and_odd.sum = StepSum::even_and_odd;
    std::vector<GemmModel> models = processor_models();
    models.insert(models.begin(),
                  {aligned, narrow, wide, half, converted, fused, exact, tree, late, even_and_odd});
    return models;
}

std::vector<GemmModel> with_scales(const GemmProblem& setting) {
    const FactorScalingRow& rule = row_of(setting.a.scaling);
    std::vector<GemmModel> models;
    for (const auto& [name, scaling] : block_scalings)
        for (GemmModel model : plain_models()) {
            const bool is_group = scaling == BlockScaling::group;
            if (scaling == BlockScaling::none || model.sum != StepSum::aligned) continue;
            if (is_group && setting.a.element.code_bits() > 6) continue;
            model.scaling = scaling;
            model.scales = rule.scale.name;
            model.blocks = block_name(rule.block);
            if (scales_at_promotion(scaling)) model.promotion = static_cast<int>(rule.block);
            if (is_group) model.products = 4, model.exact_group = 16, model.fraction_bits = 35;
            if (fault_of(model).empty()) models.push_back(model);
        }
    return models;
}

// Random numbers of one probe.
class Draw {
public:
    Draw(std::uint64_t seed, std::uint64_t probe) : place_{seed, 7, probe, 0} {}

    std::int64_t below(std::int64_t count) {
        ++place_.k;
        return static_cast<std::int64_t>((bits_of(place_) >> 16) %
                                         static_cast<std::uint64_t>(count));
    }
    template <std::size_t size>
    std::int64_t one_of(const std::array<std::int64_t, size>& numbers) {
        return numbers[static_cast<std::size_t>(below(size))];
    }

private:
    GemmPlace place_;
};

// Some products side by side or scattered, each with what takes it away again or not.
void add_adversary(Rows& rows, Draw& draw) {
    constexpr std::array<std::int64_t, 10> counts{2, 3, 4, 6, 9, 17, 33, 65, 129, 512};
    constexpr std::array<std::int64_t, 7> spreads{1, 3, 8, 14, 22, 30, 44};
    const std::int64_t depth = rows.depth(), count = std::min(draw.one_of(counts), depth);
    const int least = rows.setting().a.element.quantum_exponent_min() +
                      rows.setting().b.element.quantum_exponent_min();
    const int top = rows.largest() - 1 - static_cast<int>(draw.below(4) == 0 ? draw.below(40) : 0);
    const std::int64_t spread = draw.one_of(spreads), cancels = draw.below(4);
    const bool is_dense = draw.below(2) == 0;
    const std::int64_t first = draw.below(depth - count + 1);
    const std::int64_t bound = rows.setting().a.element.mantissa_bits >= 2 ? 4 : 1;
    Small last{0};
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t k = is_dense ? first + i : draw.below(depth);
        const bool takes_away = i % 2 == 1 && draw.below(4) < cancels;
        Small next{std::max(top - static_cast<int>(draw.below(spread)), least),
                   4 + static_cast<int>(draw.below(bound))};
        if (draw.below(2) == 0) next.quarters = -next.quarters;
        if (takes_away) next = {last.exponent, -last.quarters};
        rows.product(k, next);
        last = next;
    }
}

}  // namespace

std::vector<GemmMachine> beginnings_of(const GemmProblem& setting) {
    std::vector<GemmMachine> machines;
    for (const GemmModel& model :
         has_block_scales(setting) ? with_scales(setting) : plain_models()) {
        GemmMachine machine;
        machine.model = model;
        machine.is_searched = true;
        machines.push_back(machine);
    }
    return machines;
}

GemmProbes adversarial_probes(const GemmProblem& setting, std::int64_t depth, std::size_t count,
                              std::uint64_t seed) {
    Rows rows(setting, depth);
    for (std::size_t i = 0; i < count; ++i) {
        rows.probe("adversarial");
        Draw draw(seed, i);
        add_adversary(rows, draw);
    }
    return std::move(rows.all());
}

}  // namespace mx::identify
