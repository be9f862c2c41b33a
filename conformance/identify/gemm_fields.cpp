// See gemm_fields.hpp.
#include "conformance/identify/gemm_fields.hpp"

#include <algorithm>
#include <array>

#include "reference/spec/gemm_models.hpp"

namespace mx::identify {
namespace {

using Machines = std::vector<GemmMachine>;

// A copy for each value of a member of the machine or of its model.
template <typename Set, typename Values>
Machines each(const GemmMachine& base, const Values& values, Set set) {
    Machines all;
    for (const auto& value : values) {
        all.push_back(base);
        set(all.back(), value);
    }
    return all;
}
template <typename Member, typename... Values>
Machines of_model(const GemmMachine& base, Member member, Values... values) {
    return each(base, std::array{values...},
                [member](GemmMachine& machine, auto value) { machine.model.*member = value; });
}
template <typename Member, typename... Values>
Machines of_machine(const GemmMachine& base, Member member, Values... values) {
    return each(base, std::array{values...},
                [member](GemmMachine& machine, auto value) { machine.*member = value; });
}

std::vector<int> numbers(int first, int last, int step = 1) {
    std::vector<int> all;
    for (int number = first; number <= last; number += step) all.push_back(number);
    return all;
}

bool cuts_nothing(const GemmMachine& machine) {
    return machine.model.fraction_bits == all_bits;
}

// One product a step that is fused, or a row that is taken as it stands.
bool rounds_as_it_does(const GemmMachine& machine) {
    const bool is_chain = machine.model.products == 1 && machine.model.sum == StepSum::aligned;
    return cuts_nothing(machine) && (is_chain || !machine.is_searched);
}

Machines products_values(const GemmMachine& base, const GemmProblem&) {
    if (rounds_as_it_does(base)) return {base};
    const StepSum sum = base.model.sum;
    const bool are_many =
        is_divisible(base.model) || sum == StepSum::lanes_flushed || sum == StepSum::products_alone;
    const int most = base.model.exact_group > 1 ? 16 : are_many ? step_products_max : 32;
    const int least = cuts_nothing(base) && sum != StepSum::fused ? 2 : 1;
    return each(base, numbers(least, most),
                [](GemmMachine& m, int products) { m.model.products = products; });
}
std::string products_text(const GemmMachine& machine) {
    const std::string count = std::to_string(machine.model.products);
    if (machine.model.exact_group == 1) return count;
    return count + " groups of " + std::to_string(machine.model.exact_group);
}

Machines order_values(const GemmMachine& base, const GemmProblem&) {
    return of_model(base, &GemmModel::order, ProductOrder::along_k, ProductOrder::pairs_of_four);
}
std::string order_text(const GemmMachine& machine) {
    return machine.model.order == ProductOrder::along_k
               ? "neighbours along k"
               : "of every 32 those with k % 4 of 0 and 1, then those of 2 and 3";
}

// A machine that cuts nothing rounds every product it adds.
Machines fraction_values(const GemmMachine& base, const GemmProblem&) {
    Machines all =
        each(base, numbers(4, 40), [](GemmMachine& m, int bits) { m.model.fraction_bits = bits; });
    if (!cuts_nothing(base) && base.model.products > 1) return all;
    GemmMachine fused = base;
    fused.model.fraction_bits = all_bits;
    fused.model.products = 1;
    fused.model.accumulator = formats::f32;
    fused.model.rounding = Rounding::nearest_even;
    fused.model.cut = Rounding::toward_zero;
    all.push_back(fused);
    return all;
}
std::string fraction_text(const GemmMachine& machine) {
    return cuts_nothing(machine) ? "all" : std::to_string(machine.model.fraction_bits);
}

std::string rounding_text(Rounding rounding) {
    for (const auto& [name, value] : roundings)
        if (value == rounding) return std::string(name);
    return "";
}
constexpr std::array cuts{Rounding::toward_zero,     Rounding::toward_negative,
                          Rounding::toward_positive, Rounding::away_from_zero,
                          Rounding::nearest_even,    Rounding::nearest_away};

Machines cut_values(const GemmMachine& base, const GemmProblem&) {
    if (cuts_nothing(base)) return {base};
    return each(base, cuts, [](GemmMachine& m, Rounding cut) { m.model.cut = cut; });
}
std::string cut_text(const GemmMachine& machine) {
    return cuts_nothing(machine) ? "nothing is cut" : rounding_text(machine.model.cut);
}

constexpr std::array<std::string_view, 24> narrow_names{
    "e8m0",  "e8m1",  "e8m2",  "e8m3",  "e8m4",  "e8m5",  "e8m6",  "e8m7",
    "e8m8",  "e8m9",  "e8m10", "e8m11", "e8m12", "e8m13", "e8m14", "e8m15",
    "e8m16", "e8m17", "e8m18", "e8m19", "e8m20", "e8m21", "e8m22", "f32"};

// binary32 with its last mantissa bits left zero, and binary16.
Machines accumulator_values(const GemmMachine& base, const GemmProblem&) {
    if (rounds_as_it_does(base)) return {base};
    Machines all = each(base, numbers(4, 23), [](GemmMachine& m, int bits) {
        m.model.accumulator = e8m13;
        m.model.accumulator.name = narrow_names[static_cast<std::size_t>(bits)];
        m.model.accumulator.mantissa_bits = bits;
    });
    all.push_back(base);
    all.back().model.accumulator = formats::f16;
    return all;
}
std::string accumulator_text(const GemmMachine& machine) {
    return std::string(machine.model.accumulator.name);
}

Machines rounding_values(const GemmMachine& base, const GemmProblem&) {
    if (rounds_as_it_does(base)) return {base};
    return each(base, cuts, [](GemmMachine& m, Rounding rounding) { m.model.rounding = rounding; });
}
std::string sum_rounding_text(const GemmMachine& machine) {
    return rounding_text(machine.model.rounding);
}

Machines exponent_values(const GemmMachine& base, const GemmProblem&) {
    if (cuts_nothing(base)) return {base};
    Machines all =
        of_model(base, &GemmModel::exponents, FactorExponents::own, FactorExponents::f16);
    for (GemmMachine& machine : all) machine.product_exponent = ProductExponent::fields;
    all.push_back(base);
    all.back().product_exponent = ProductExponent::normalised;
    return all;
}
std::string exponent_text(const GemmMachine& machine) {
    if (machine.product_exponent == ProductExponent::normalised) return "of the product itself";
    return machine.model.exponents == FactorExponents::own ? "sum of the factors' fields"
                                                           : "sum of the factors' fields in f16";
}

Machines zero_values(const GemmMachine& base, const GemmProblem&) {
    if (cuts_nothing(base)) return {base};
    return of_model(base, &GemmModel::zero_products, ZeroProducts::left_out, ZeroProducts::counted);
}
std::string zero_text(const GemmMachine& machine) {
    return machine.model.zero_products == ZeroProducts::left_out ? "left out" : "counted";
}

Machines factor_values(const GemmMachine& base, const GemmProblem&) {
    return of_machine(base, &GemmMachine::factors, Subnormals::honoured,
                      Subnormals::inputs_flushed);
}
std::string factor_text(const GemmMachine& machine) {
    return machine.factors == Subnormals::honoured ? "honoured" : "flushed to zero";
}

Machines floor_values(const GemmMachine& base, const GemmProblem&) {
    if (cuts_nothing(base)) return {base};
    std::vector<int> floors{-all_bits};
    const bool is_half = base.model.accumulator == formats::f16;
    for (const int floor : is_half ? numbers(-40, -10) : numbers(-150, -100))
        floors.push_back(floor);
    return each(base, floors, [](GemmMachine& m, int floor) { m.model.exponent_floor = floor; });
}
std::string floor_text(const GemmMachine& machine) {
    const int floor = machine.model.exponent_floor;
    return floor == -all_bits ? "none" : std::to_string(floor);
}

// In binary32 it takes products below 2^-149, which no step of a test here has.
Machines to_zero_values(const GemmMachine& base, const GemmProblem&) {
    const bool is_half = base.model.accumulator == formats::f16;
    if (!is_half || !is_divisible(base.model) || base.is_searched) return {base};
    return of_machine(base, &GemmMachine::rounded_to_zero, RoundedToZero::positive,
                      RoundedToZero::keeps_sign);
}
std::string to_zero_text(const GemmMachine& machine) {
    return machine.rounded_to_zero == RoundedToZero::positive ? "+0" : "0 of its sign";
}

// Whole steps: a machine promotes between them.
Machines promotion_values(const GemmMachine& base, const GemmProblem&) {
    const int step = base.model.products * base.model.exact_group;
    std::vector<int> lengths = numbers(8, 512, 8);
    std::erase_if(lengths, [step, lanes = base.model.lanes](int length) {
        return length % step != 0 || length % lanes != 0;
    });
    if (!scales_at_promotion(base.model.scaling)) lengths.insert(lengths.begin(), 0);
    return each(base, lengths, [](GemmMachine& m, int length) { m.model.promotion = length; });
}
std::string promotion_text(const GemmMachine& machine) {
    return machine.model.promotion == 0 ? "none" : std::to_string(machine.model.promotion);
}

// A chain of fused multiply-adds without scales of blocks.
bool is_plain_chain(const GemmMachine& machine) {
    const GemmModel& model = machine.model;
    return cuts_nothing(machine) && model.products == 1 && model.sum == StepSum::aligned &&
           model.scaling == BlockScaling::none;
}

// Rows say it for themselves.
Machines lanes_values(const GemmMachine& base, const GemmProblem&) {
    if (!base.is_searched || !is_plain_chain(base)) return {base};
    std::vector<int> counts{1, 2, 4, 8, 16, 32, 64, 128};
    std::erase_if(counts, [&](int count) { return base.model.promotion % count != 0; });
    return each(base, counts, [](GemmMachine& m, int count) { m.model.lanes = count; });
}
std::string lanes_text(const GemmMachine& machine) {
    const int lanes = machine.model.lanes;
    return lanes == 1 ? "none" : std::to_string(lanes) + ", which products take in turn";
}

Machines outer_values(const GemmMachine& base, const GemmProblem&) {
    if (base.model.promotion == 0) return {base};
    return of_model(base, &GemmModel::promoted, formats::f32, formats::f16);
}
std::string outer_text(const GemmMachine& machine) {
    return machine.model.promotion == 0 ? "none" : std::string(machine.model.promoted.name);
}

// Tiles that whole steps fill, of machines that add their products along k and scale none of them.
// But for a search only where a row of the table has such tiles.
Machines residue_values(const GemmMachine& base, const GemmProblem& setting) {
    GemmModel model = base.model;
    model.residue_tile = model.products;
    if (!fault_of(model).empty() || (!base.is_searched && !may_sum_residue_first(setting)))
        return {base};
    std::vector<int> tiles{0};
    for (const int tile : {8, 16, 32, 64, 128, 256})
        if (tile % model.products == 0) tiles.push_back(tile);
    return each(base, tiles, [](GemmMachine& m, int tile) { m.model.residue_tile = tile; });
}
std::string residue_text(const GemmMachine& machine) {
    const int tile = machine.model.residue_tile;
    return tile == 0 ? "none" : "of tiles of " + std::to_string(tile);
}

Machines part_values(const GemmMachine& base, const GemmProblem&) {
    std::vector<int> lengths{0};
    for (const int length : numbers(32, 480, 32)) lengths.push_back(length);
    return each(base, lengths, [](GemmMachine& m, int length) { m.part = length; });
}
std::string part_text(const GemmMachine& machine) {
    return machine.part == 0 ? "no" : "parts of " + std::to_string(machine.part);
}

// Every way that there is, with what goes with it.
Machines searched_blocks(const GemmMachine& base, const GemmProblem& setting) {
    const auto block = static_cast<int>(row_of(setting.a.scaling).block);
    Machines all;
    for (const auto& [name, scaling] : block_scalings) {
        if (scaling == BlockScaling::none) continue;
        for (const int group : {1, 16, 32}) {
            if ((group == 1) == (scaling == BlockScaling::group) || group > block) continue;
            if (group > 1 && setting.a.element.code_bits() > 6) continue;
            all.push_back(base);
            GemmModel& model = all.back().model;
            model.scaling = scaling;
            if (model.exact_group != group) model.products = group > 1 ? 4 : 32;
            if (group > 1) model.fraction_bits = 35;
            model.exact_group = group;
            if (scales_at_promotion(scaling) && model.promotion == 0) model.promotion = block;
        }
    }
    return all;
}

Machines block_values(const GemmMachine& base, const GemmProblem& setting) {
    if (!has_block_scales(setting)) return {base};
    if (base.is_searched) return searched_blocks(base, setting);
    Machines all;
    for (const GemmModel* row : rows_for(setting)) {
        all.push_back(base);
        GemmModel& model = all.back().model;
        const bool regroups = model.exact_group != row->exact_group;
        model.scaling = row->scaling;
        model.exact_group = row->exact_group;
        if (regroups) model.products = row->products;
        const bool needs = row->promotion != 0 && model.promotion == 0;
        if (needs) model.promotion = row->promotion;
    }
    return all;
}
std::string block_text(const GemmMachine& machine) {
    switch (machine.model.scaling) {
        case BlockScaling::none:
            return "none";
        case BlockScaling::product_exponent:
            return "in the exponent of each product";
        case BlockScaling::group:
            return "on the exact sum of a group";
        case BlockScaling::promoted_a_first:
            return "at promotion: the sum times A's, then fused with B's";
        case BlockScaling::promoted_product:
            return "at promotion: the sum fused with their product";
        case BlockScaling::promoted_in_turn:
            return "at promotion: the sum times B's, times A's, and added";
        case BlockScaling::dequantised:
            return "on each factor, which becomes bf16";
    }
    return "";
}

Machines addend_values(const GemmMachine& base, const GemmProblem&) {
    return of_machine(base, &GemmMachine::addend, AddendPlace::after_sum,
                      AddendPlace::first_summand);
}
std::string addend_text(const GemmMachine& machine) {
    return machine.addend == AddendPlace::after_sum ? "added after the sum"
                                                    : "the sum begins with it";
}

Machines alpha_values(const GemmMachine& base, const GemmProblem& setting) {
    if (setting.a.scaling != FactorScaling::none || !is_plain_chain(base)) return {base};
    Machines all = of_model(base, &GemmModel::alpha, AlphaPlace::sum, AlphaPlace::factor_a);
    all.back() = with_steps_of_row(all.back());
    return all;
}
std::string alpha_text(const GemmMachine& machine) {
    return machine.model.alpha == AlphaPlace::sum ? "the sum" : "each element of A, rounded";
}

Machines addend_step_values(const GemmMachine& base, const GemmProblem&) {
    if (base.addend == AddendPlace::first_summand) return {base};
    using enum AddendStep;
    if (base.model.alpha == AlphaPlace::factor_a)
        return of_machine(base, &GemmMachine::addend_step, fused_beta, rounded_apart);
    return of_machine(base, &GemmMachine::addend_step, fused_alpha, fused_beta, rounded_apart,
                      rounded_once);
}
std::string addend_step_text(const GemmMachine& machine) {
    if (machine.addend == AddendPlace::first_summand) return "no addition at the end";
    switch (machine.addend_step) {
        case AddendStep::fused_alpha:
            return "fma(alpha, sum, beta*C)";
        case AddendStep::fused_beta:
            return "fma(beta, C, alpha*sum)";
        case AddendStep::rounded_apart:
            return "alpha*sum + beta*C, each rounded";
        case AddendStep::rounded_once:
            return "alpha*sum + beta*C, rounded once";
    }
    return "";
}

Machines no_addend_values(const GemmMachine& base, const GemmProblem&) {
    using enum NoAddend;
    return of_machine(base, &GemmMachine::no_addend, zero_added, zero_added_unless_alpha_is_one,
                      nothing_added);
}
std::string no_addend_text(const GemmMachine& machine) {
    if (machine.no_addend == NoAddend::zero_added) return "+0 is added";
    return machine.no_addend == NoAddend::nothing_added ? "nothing is added"
                                                        : "+0 is added where alpha is not 1";
}

Machines scale_values(const GemmMachine& base, const GemmProblem& setting) {
    if (setting.a.scaling == FactorScaling::none || has_block_scales(setting)) return {base};
    using enum ScaleStep;
    return of_machine(base, &GemmMachine::scale_step, alpha_b_a, alpha_a_b, alpha_product, sum_b_a,
                      sum_a_b, sum_product);
}
std::string scale_text(const GemmMachine& machine) {
    static constexpr std::array<std::string_view, 6> names{
        "(alpha*scale B)*scale A", "(alpha*scale A)*scale B", "alpha*(scale A*scale B)",
        "(sum*scale B)*scale A",   "(sum*scale A)*scale B",   "sum*(scale A*scale B)"};
    return std::string(names[static_cast<std::size_t>(machine.scale_step)]);
}

Machines result_values(const GemmMachine& base, const GemmProblem&) {
    return of_machine(base, &GemmMachine::results, Subnormals::honoured,
                      Subnormals::outputs_flushed);
}
std::string result_text(const GemmMachine& machine) {
    return machine.results == Subnormals::honoured ? "kept" : "flushed to zero";
}

constexpr std::array fields{
    GemmField{"block scales", "scales", block_values, block_text},
    GemmField{"products of a step", "products of a step", products_values, products_text},
    GemmField{"their order", "products of a step", order_values, order_text},
    GemmField{"fraction bits", "fraction bits", fraction_values, fraction_text},
    GemmField{"cut", "fraction bits", cut_values, cut_text},
    GemmField{"accumulator", "accumulator", accumulator_values, accumulator_text},
    GemmField{"its rounding", "accumulator", rounding_values, sum_rounding_text},
    GemmField{"product exponent", "product exponent", exponent_values, exponent_text},
    GemmField{"zero products", "zero products", zero_values, zero_text},
    GemmField{"subnormal factors", "subnormal factors", factor_values, factor_text},
    GemmField{"exponent floor", "exponent floor", floor_values, floor_text},
    GemmField{"what rounds to 0", "what rounds to 0", to_zero_values, to_zero_text},
    GemmField{"promotion", "promotion", promotion_values, promotion_text},
    GemmField{"outer accumulator", "", outer_values, outer_text},
    GemmField{"sums beside each other", "promotion", lanes_values, lanes_text},
    GemmField{residue_field, "", residue_values, residue_text},
    GemmField{"split along k", "promotion", part_values, part_text},
    GemmField{"C", "C", addend_values, addend_text},
    GemmField{"alpha multiplies", "alpha", alpha_values, alpha_text},
    GemmField{"alpha, beta and C", "alpha", addend_step_values, addend_step_text},
    GemmField{"without C", "alpha", no_addend_values, no_addend_text},
    GemmField{"alpha and scales", "scales", scale_values, scale_text},
    GemmField{"subnormal results", "C", result_values, result_text},
};

bool takes_scales(const GemmModel& row, FactorScaling scaling) {
    const FactorScalingRow& scales = row_of(scaling);
    return takes_block_scales(row, scales.scale.name, std::to_string(scales.block));
}

// Scales that a row can apply.
bool applies(const GemmModel& row, const GemmProblem& setting) {
    if (!has_block_scales(setting)) return row.scaling == BlockScaling::none;
    return takes_scales(row, setting.a.scaling) && takes_scales(row, setting.b.scaling);
}

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("-0123456789") == std::string::npos;
}

// Both are numbers, and no other value lies between them: lengths go in steps of 8 or 32.
bool follows(const std::string& value, const std::string& next) {
    if (!is_number(value) || !is_number(next)) return false;
    const int distance = std::stoi(next) - std::stoi(value);
    return distance == 1 || distance == 8;
}

}  // namespace

bool may_sum_residue_first(const GemmProblem& setting) {
    return std::ranges::any_of(rows_for(setting),
                               [](const GemmModel* row) { return row->residue_tile != 0; });
}

std::span<const GemmField> gemm_fields() {
    return fields;
}

std::string values_text(const std::vector<std::string>& values) {
    std::string text;
    for (std::size_t first = 0; first < values.size();) {
        std::size_t last = first;
        while (last + 1 < values.size() && follows(values[last], values[last + 1])) ++last;
        if (!text.empty()) text += " or ";
        text += values[first];
        if (last > first) text += " to " + values[last];
        first = last + 1;
    }
    return text;
}

std::vector<const GemmModel*> rows_for(const GemmProblem& setting) {
    std::vector<const GemmModel*> rows;
    for (const GemmModel& row : gemm_models)
        if (lists(row.operands, setting.a.element.name) &&
            lists(row.operands, setting.b.element.name) && applies(row, setting))
            rows.push_back(&row);
    return rows;
}

}  // namespace mx::identify
