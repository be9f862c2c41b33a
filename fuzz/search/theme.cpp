// See theme.hpp.
#include "fuzz/search/theme.hpp"

#include <algorithm>
#include <array>

#include "conformance/case/names.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::fuzz {
namespace {

constexpr std::array searched_operations{OperationKind::quantize, OperationKind::encode_scale,
                                         OperationKind::dequantize, OperationKind::convert};

bool is_wanted(const std::vector<std::string>& globs, std::string_view name) {
    return globs.empty() || std::ranges::any_of(globs, [name](const std::string& glob) {
               return matches_glob(glob, name);
           });
}

// What dequantize and convert to elements give hangs on no field of a dialect but a few, so one
// dialect in four stands for the others there.
bool is_spared(const Case& c, std::size_t dialect) {
    const bool has_few_rules = c.operation == OperationKind::dequantize ||
                               (c.operation == OperationKind::convert && has_element_rules(c));
    return has_few_rules && dialect % 4 != 0 && c.dialect->name != "nv";
}

Case plain(OperationKind operation, const BlockFormat* format) {
    Case c;
    c.operation = operation;
    c.format = format;
    c.dialect = &e8m0_quantizers.front();
    c.rows = c.columns = 1;
    c.data = "bits:0";
    if (has_element_rules(c)) c.rules = ElementRules{};
    return c;
}

// An amax of a tensor, or an earlier one's S, under which scales of every size are met.
constexpr std::uint32_t usual_number = 0x45280000;  // 6 * 448

// Rows whose blocks stand alone once the number of the tensor is given: no rotation, which takes
// whole groups, and no block that is the tensor.
bool has_lone_blocks(const Quantizer& row, const BlockFormat& format) {
    return row.quantizes(format) && row.transform == LaneTransform::none &&
           !format.is_whole_tensor();
}

Case plain_real_scales(OperationKind operation, const BlockFormat& format, const Quantizer& row) {
    Case c = plain(operation, &format);
    c.dialect = &row;
    c.block = format.block_columns;
    if (format.block_rows != 1) c.axis = BlockAxis::tile;
    if (has_tensor_number(c)) c.tensor_number = usual_number;
    return c;
}

// Those that the operation has: convert also casts to scales, which are of no block format.
std::vector<const BlockFormat*> formats_of(OperationKind operation) {
    std::vector<const BlockFormat*> formats;
    for (const BlockFormat& format : mx_block_formats) formats.push_back(&format);
    if (operation == OperationKind::convert) formats.push_back(nullptr);
    return formats;
}

// Every combination that is sound is as likely as every other, so each is met soon; `draw` fills
// the fields.
template <typename Draw>
void draw_sound(Case& c, const Draw& draw) {
    constexpr int attempts = 64;
    const Case before = c;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        draw(c);
        if (check_combination(c)) return;
    }
    c = before;
}

void draw_rules(Case& c, Random& random) {
    if (!has_element_rules(c)) return;
    const bool is_stochastic = random.once_in(4);
    draw_sound(c, [&random, is_stochastic](Case& drawn) {
        drawn.rules = ElementRules{};
        ElementRules& rules = *drawn.rules;
        // As many as there are names: the modes without the one that takes bits, and its forms.
        constexpr std::size_t modes = roundings.size() - 1, forms = stochastic_forms.size();
        const std::size_t at = is_stochastic
                                   ? modes + random.below(forms)
                                   : static_cast<std::size_t>(random.below(modes + forms));
        rules.form = at < modes ? nullptr : &stochastic_forms[at - modes];
        rules.rounding = at < modes ? roundings[at].second : Rounding::stochastic;
        rules.overflow = random.one_of(overflows).second;
        rules.subnormals = random.one_of(subnormal_rules).second;
    });
}

void draw_layout(Case& c, Random& random) {
    if (random.once_in(4)) return;
    if (!has_blocks(c)) {
        c.layout = random.one_of(row_layouts).second;
        return;
    }
    draw_sound(c, [&random](Case& drawn) {
        drawn.layout = random.one_of(row_layouts).second;
        drawn.axis = random.one_of(block_axes).second;
        drawn.scales = random.one_of(scale_storages).second;
        drawn.packing = &random.one_of(packings);
        if (!drawn.format->has_e8m0_scales()) return;
        drawn.block = std::array<std::int64_t, 3>{16, 32, 64}[random.below(3)];
    });
}

// Mostly a number that blocks of many sizes go with; else any, and what is none.
void draw_tensor_number(Case& c, Random& random) {
    if (!has_tensor_number(c)) return;
    constexpr std::array<std::uint32_t, 8> specials{0,          1,          0x007FFFFF, 0x00800000,
                                                    0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x3F800000};
    const std::uint32_t any = random.bits() & 0x7FFFFFFF;
    c.tensor_number = random.once_in(8)   ? specials[random.below(specials.size())]
                      : random.once_in(4) ? any
                                          : 0x3F800000 + (any >> 4);  // from 1 on, to 2^17
}

struct Sides {
    std::int64_t along, across;  // the direction in which blocks lie, and the other
};

// Every manner of shape that a kernel has a path of its own for.
Sides draw_sides(const Case& c, std::int64_t elements, Random& random) {
    const std::int64_t block = c.block;
    const auto up_to = [&random](std::int64_t limit) {
        return 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(limit)));
    };
    switch (random.below(64)) {
        case 0:
            return {up_to(3), 65537 + up_to(64)};  // beyond what a 16-bit counter can number
        case 1:
            return {0, up_to(4)};
        case 2:
            return {up_to(3), up_to(3)};
        default:
            break;
    }
    // Swizzles come in tiles of up to 128 by 8 scales: two of them and a piece, each way.
    if (c.scales != ScaleStorage::linear && random.once_in(2))
        return {block * up_to(18) - (random.once_in(2) ? block / 2 : 0), up_to(300)};
    const std::int64_t along = std::array<std::int64_t, 4>{
        block,                                // a block a row
        block * up_to(8),                     // whole blocks
        block * up_to(6) - up_to(block - 1),  // a short last block
        std::max<std::int64_t>(elements / up_to(8), 1)}[random.below(4)];
    return {along, std::max<std::int64_t>(elements / along, 1)};
}

void add_real_scales(OperationKind operation, const Filter& filter, std::vector<Case>& themes) {
    if (operation != OperationKind::quantize && operation != OperationKind::dequantize) return;
    for (const BlockFormat& format : real_scale_formats)
        for (const Quantizer& row : real_scale_quantizers) {
            if (!has_lone_blocks(row, format) || !row.is_known()) continue;
            Case c = plain_real_scales(operation, format, row);
            if (!is_wanted(filter.formats, format.name) || !is_wanted(filter.dialects, row.name))
                continue;
            for (const ElementFormat& type : {formats::f32, formats::bf16, formats::f16}) {
                c.type = type;
                if (is_wanted(filter.types, type.name) && check_combination(c)) themes.push_back(c);
            }
        }
}

}  // namespace

std::vector<Case> list_themes(const Filter& filter) {
    std::vector<Case> themes;
    for (const OperationKind operation : searched_operations) {
        if (!is_wanted(filter.operations, name_of(operation))) continue;
        for (const BlockFormat* format : formats_of(operation)) {
            Case c = plain(operation, format);
            if (!is_wanted(filter.formats, format_name(c))) continue;
            for (std::size_t i = 0; i < e8m0_quantizers.size(); ++i) {
                c.dialect = &e8m0_quantizers[i];
                if (!is_wanted(filter.dialects, c.dialect->name)) continue;
                if (filter.dialects.empty() && is_spared(c, i)) continue;
                for (const ElementFormat& type : {formats::f32, formats::bf16, formats::f16}) {
                    c.type = type;
                    if (!is_wanted(filter.types, type.name) || !check_combination(c)) continue;
                    if (unknown_scale(c).empty()) themes.push_back(c);
                }
            }
        }
        add_real_scales(operation, filter, themes);
    }
    return themes;
}

std::string name_of_theme(const Case& c) {
    return std::string(name_of(c.operation)) + " " + format_name(c) + " " + dialect_name(c) + " " +
           type_name(c);
}

Case draw_case(const Case& theme, std::int64_t elements, Random& random) {
    Case c = theme;
    draw_rules(c, random);
    draw_layout(c, random);
    draw_tensor_number(c, random);
    // The random words of a rounding cost far more than its values.
    if (stochastic_form_of(c) != nullptr) elements = std::min<std::int64_t>(elements, 2048);
    const Sides sides = draw_sides(c, elements, random);
    const bool is_tall = sides.across > 65536;
    c.columns = c.axis == BlockAxis::col && !is_tall ? sides.across : sides.along;
    c.rows = c.axis == BlockAxis::col && !is_tall ? sides.along : sides.across;
    return c;
}

Case plain_case(const Case& drawn) {
    Case c = drawn;
    const bool has_own_blocks = has_blocks(c) && !c.format->has_e8m0_scales();
    if (!has_own_blocks) c.block = block_size;
    if (c.axis != BlockAxis::tile || !has_own_blocks) c.axis = BlockAxis::row;
    c.layout = RowLayout::dense;
    c.scales = ScaleStorage::linear;
    c.packing = &packing_rows::bytes;
    return c;
}

}  // namespace mx::fuzz
