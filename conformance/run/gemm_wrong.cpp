// See gemm_wrong.hpp.
#include "conformance/run/gemm_wrong.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "conformance/data/gemm_codes.hpp"

namespace mx {
namespace {

static_assert(std::endian::native == std::endian::little, "codes are read as little-endian words");

CodeView view_of(const std::vector<std::uint32_t>& codes) {
    return {reinterpret_cast<const std::uint8_t*>(codes.data()), 4, 1};
}

AlteredOutput::Row copy_of(const ScaledRow& row, std::int64_t depth) {
    AlteredOutput::Row copy;
    copy.element = row.element;
    copy.scale_format = row.scale;
    copy.block = row.block;
    for (std::int64_t k = 0; k < depth; ++k) copy.codes.push_back(row.codes.at(k).bits);
    if (row.block == 0) return copy;
    for (std::int64_t k = 0; k < depth; k += row.block) copy.scales.push_back(row.scale_at(k).bits);
    return copy;
}

std::uint32_t one_of(const ElementFormat& scale) {
    return code_of_one(scale);
}

using Row = AlteredOutput::Row;
using PlainAlter = void (*)(AlteredOutput& output);

template <PlainAlter alter>
std::optional<Code> altered(const GemmScene& scene) {
    AlteredOutput output(scene.problem.output(scene.place));
    alter(output);
    return expected_result(scene.problem, output.output());
}

std::optional<Code> result_at(const GemmScene& scene, const gemm::OutputPlace& place) {
    return expected_result(scene.problem, scene.problem.output(place));
}

void shift_scales(AlteredOutput& output, Row& row) {
    std::vector<std::uint32_t> shifted = row.scales;
    for (std::size_t block = 1; block < shifted.size(); ++block)
        shifted[block] = row.scales[block - 1];
    output.set_scales(row, shifted);
}

void ignore_scales(AlteredOutput& output, Row& row) {
    output.set_scales(row, std::vector<std::uint32_t>(row.scales.size(), one_of(row.scale_format)));
}

// With an alpha of 0 nothing of A and B is left to be wrong about.
bool has_products(const gemm::ProblemView& problem) {
    return problem.alpha.bits << 1 != 0;
}
bool has_blocks(const gemm::Factor& factor) {
    return factor.scaling == gemm::Scaling::blocks && factor.depth > factor.block;
}
bool has_blocks_a(const gemm::ProblemView& problem) {
    return has_products(problem) && has_blocks(problem.a);
}
bool has_blocks_b(const gemm::ProblemView& problem) {
    return has_products(problem) && has_blocks(problem.b);
}
bool has_scales_a(const gemm::ProblemView& problem) {
    return has_products(problem) && problem.a.scaling != gemm::Scaling::none;
}
bool has_scales_b(const gemm::ProblemView& problem) {
    return has_products(problem) && problem.b.scaling != gemm::Scaling::none;
}
// Rows of both factors have scales of the same shape.
bool may_swap_scales(const gemm::ProblemView& problem) {
    const gemm::Factor &a = problem.a, &b = problem.b;
    return has_products(problem) && a.scaling == gemm::Scaling::blocks && b.scaling == a.scaling &&
           b.block == a.block && b.block_rows == a.block_rows && problem.m == problem.n &&
           problem.m > 1 && !problem.is_grouped();
}

std::optional<Code> with_swapped_scales(const GemmScene& scene) {
    const std::int64_t m = scene.problem.m, batch = scene.place.row / m * m;
    const AlteredOutput mirrored(
        scene.problem.output({batch + scene.place.column, scene.place.row - batch}));
    AlteredOutput output(scene.problem.output(scene.place));
    output.set_scales(output.a, mirrored.b.scales);
    output.set_scales(output.b, mirrored.a.scales);
    return expected_result(scene.problem, output.output());
}

std::optional<Code> of_row_before(const GemmScene& scene) {
    if (scene.place.row % scene.problem.m == 0) return std::nullopt;
    return result_at(scene, {scene.place.row - 1, scene.place.column});
}
std::optional<Code> of_column_before(const GemmScene& scene) {
    if (scene.place.column == 0) return std::nullopt;
    return result_at(scene, {scene.place.row, scene.place.column - 1});
}
std::optional<Code> of_first_batch(const GemmScene& scene) {
    const std::int64_t m = scene.problem.m;
    if (scene.place.row < m) return std::nullopt;
    return result_at(scene, {scene.place.row % m, scene.place.column});
}

// Of a grouped product: the group of a row, and what a device takes it for.
using OtherGroup = std::int64_t (*)(const gemm::ProblemView& problem, std::int64_t group);
template <OtherGroup other>
std::optional<Code> of_other_group(const GemmScene& scene) {
    const std::int64_t group = other(scene.problem, scene.problem.group_of(scene.place.row));
    return expected_result(scene.problem, scene.problem.output(scene.place, group));
}
template <OtherGroup other>
bool may_take_group(const gemm::ProblemView& problem) {
    if (!problem.is_grouped() || !has_products(problem)) return false;
    for (std::int64_t group = 0; group < problem.group_count(); ++group)
        if (problem.rows_of_group(group).count() > 0 && other(problem, group) != group) return true;
    return false;
}

std::int64_t first_group(const gemm::ProblemView&, std::int64_t) {
    return 0;
}
std::int64_t group_before(const gemm::ProblemView&, std::int64_t group) {
    return std::max<std::int64_t>(group - 1, 0);
}
std::int64_t next_group(const gemm::ProblemView& problem, std::int64_t group) {
    return std::min(group + 1, problem.group_count() - 1);
}
std::int64_t among_those_with_rows(const gemm::ProblemView& problem, std::int64_t group) {
    std::int64_t before = 0;
    for (std::int64_t each = 0; each < group; ++each)
        before += problem.rows_of_group(each).count() > 0 ? 1 : 0;
    return before;
}

constexpr std::array table{
    WrongGemm{"the last k is not counted", false, has_products,
              altered<[](AlteredOutput& o) { o.a.codes.back() = 0; }>},
    WrongGemm{"blocks of A take the scale of the block before", true, has_blocks_a,
              altered<[](AlteredOutput& o) { shift_scales(o, o.a); }>},
    WrongGemm{"blocks of B take the scale of the block before", true, has_blocks_b,
              altered<[](AlteredOutput& o) { shift_scales(o, o.b); }>},
    WrongGemm{"the scales of A are taken as 1", true, has_scales_a,
              altered<[](AlteredOutput& o) { ignore_scales(o, o.a); }>},
    WrongGemm{"the scales of B are taken as 1", true, has_scales_b,
              altered<[](AlteredOutput& o) { ignore_scales(o, o.b); }>},
    WrongGemm{"A takes the scales of B, and B those of A", true, may_swap_scales,
              with_swapped_scales},
    WrongGemm{"alpha is taken as 1", true,
              [](const gemm::ProblemView& problem) { return problem.alpha.bits != one_of_f32; },
              altered<[](AlteredOutput& o) { o.operands().alpha = Code{one_of_f32}; }>},
    WrongGemm{"C is not added", false,
              [](const gemm::ProblemView& problem) { return problem.beta.bits << 1 != 0; },
              altered<[](AlteredOutput& o) { o.operands().beta = Code{0}; }>},
    WrongGemm{"C is added without beta", false,
              [](const gemm::ProblemView& problem) {
                  return problem.beta.bits << 1 != 0 && problem.beta.bits != one_of_f32;
              },
              altered<[](AlteredOutput& o) { o.operands().beta = Code{one_of_f32}; }>},
    WrongGemm{"the bias is not added", false,
              [](const gemm::ProblemView& problem) { return problem.epilogue.adds_bias; },
              altered<[](AlteredOutput& o) { o.operands().bias = Code{0}; }>},
    WrongGemm{"the scale of D is taken as 1", true,
              [](const gemm::ProblemView& problem) { return problem.epilogue.scales_output; },
              altered<[](AlteredOutput& o) { o.operands().scale_out = Code{one_of_f32}; }>},
    WrongGemm{"a row of D is that of the row before", true,
              [](const gemm::ProblemView& problem) { return problem.m > 1; }, of_row_before},
    WrongGemm{"a column of D is that of the column before", true,
              [](const gemm::ProblemView& problem) { return problem.n > 1; }, of_column_before},
    WrongGemm{"a later batch is the first one again", true,
              [](const gemm::ProblemView& problem) { return problem.batches > 1; }, of_first_batch},
    WrongGemm{"every group takes B of the first", true, may_take_group<first_group>,
              of_other_group<first_group>},
    WrongGemm{"a group takes B of the group before", true, may_take_group<group_before>,
              of_other_group<group_before>},
    WrongGemm{"a group takes B of the next", true, may_take_group<next_group>,
              of_other_group<next_group>},
    WrongGemm{"groups without rows are passed over, and later ones take B of those before", true,
              may_take_group<among_those_with_rows>, of_other_group<among_those_with_rows>},
};

}  // namespace

AlteredOutput::AlteredOutput(const gemm::Output& output)
    : a(copy_of(output.a, output.depth)), b(copy_of(output.b, output.depth)), output_(output) {
    look_at_rows();
}

void AlteredOutput::look_at_rows() {
    const auto look = [](ScaledRow& view, const Row& row) {
        view.element = row.element;
        view.codes = view_of(row.codes);
        view.scale = row.scale_format;
        view.scales = view_of(row.scales);
        view.block = row.block;
    };
    look(output_.a, a);
    look(output_.b, b);
    output_.depth = static_cast<std::int64_t>(a.codes.size());
}

void AlteredOutput::read_as(Row& row, const ElementFormat& element) {
    row.element = element;
    look_at_rows();
}

void AlteredOutput::move_to(const Places& places) {
    for (Row* row : {&a, &b}) {
        std::vector<std::uint32_t> moved(places.count);
        for (std::size_t k = 0; k < row->codes.size(); ++k) moved[places.of_k[k]] = row->codes[k];
        row->codes = std::move(moved);
        row->block = row->block == 0 ? 0 : static_cast<std::int64_t>(places.count);
    }
    look_at_rows();
}

// It stands in a block of its own, after zeros that end the last one in both rows.
void AlteredOutput::count_again(std::size_t k) {
    const auto whole_block = [](const Row& row) {
        const bool has_one_scale = row.scales.size() <= 1;
        return has_one_scale ? std::int64_t{1} : row.block;
    };
    const auto unit = static_cast<std::size_t>(std::max(whole_block(a), whole_block(b)));
    const std::size_t at = (a.codes.size() + unit - 1) / unit * unit;
    for (Row* row : {&a, &b}) {
        row->codes.resize(at + 1);
        row->codes[at] = row->codes[k];
        if (row->scales.size() <= 1) {
            row->block = row->block == 0 ? 0 : static_cast<std::int64_t>(at) + 1;
            continue;
        }
        const auto block = static_cast<std::size_t>(row->block);
        row->scales.resize(at / block + 1, row->scales.back());
        row->scales[at / block] = row->scales[k / block];
    }
    look_at_rows();
}

void AlteredOutput::set_scales(Row& row, std::span<const std::uint32_t> scales) {
    std::copy(scales.begin(), scales.end(), row.scales.begin());
    const bool is_whole = row.scales.size() == 1 && row.scale_format.name == formats::f32.name;
    if (!is_whole) return;
    Code& operand = &row == &a ? output_.operands.scale_a : output_.operands.scale_b;
    operand = Code{row.scales[0]};
}

std::span<const WrongGemm> wrong_gemms() {
    return table;
}

}  // namespace mx
