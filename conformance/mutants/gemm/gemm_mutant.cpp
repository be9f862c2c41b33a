// The planted bugs of a GEMM as one device: a plain product in which each line of gemm_mutants.def
// is a switch. Bugs of reading are in gemm_operands.hpp, of summing in gemm_dot.hpp, of the rest of
// an output in gemm_epilogue.hpp, of writing here.
#include "conformance/mutants/gemm/gemm_blocks.hpp"
#include "conformance/mutants/gemm/gemm_epilogue.hpp"
#include "conformance/mutants/gemm/gemm_mutants.hpp"
#include "conformance/mutants/gemm/gemm_operands.hpp"
#include "conformance/mutants/gemm/gemm_sum.hpp"
#include "conformance/mutants/planted_device.hpp"
#include "device/kit/plugin.hpp"

namespace mx::mutants::gemm {
namespace {

class Product {
public:
    explicit Product(const GemmRequest& request)
        : request_(request), machine_(machine_of(request)) {
        for (std::int64_t row = 0; row < request.b.codes.rows; ++row)
            b_.push_back(numbers_of(request, {Side::b, row}));
    }

    void run() {
        const bool writes_all =
            request_.is_grouped && request_.rows > 0 && has(Bug::rows_of_no_group_written);
        const std::int64_t rows = writes_all ? request_.d.rows : request_.batches * request_.rows;
        if (quantizes_d(request_)) clear_pads(request_.d);
        if (quantizes_d(request_) && !has(Bug::d_scales_untouched)) clear_pads(request_.scales_d);
        for (std::int64_t row = 0; row < rows; ++row) {
            if (has(Bug::last_row_missing) && row == rows - 1) return;
            if (has(Bug::second_batch_untouched) && row >= request_.rows) return;
            if (has(Bug::last_group_tail_dropped) && is_in_tail(row)) continue;
            const bool is_late = has(Bug::second_wave);
            const Numbers a =
                numbers_of(request_, {Side::a, is_late ? row_of_first_wave(request_, row) : row});
            if (quantizes_d(request_)) {
                write_row_of_blocks(row, a);
                continue;
            }
            for (std::int64_t column = 0; column < request_.columns; ++column)
                store({row, column}, code_of(output({row, column}, a), request_.d.format));
        }
    }

private:
    // Beyond the last group its rows go on.
    std::int64_t group_of(std::int64_t row) const {
        const kit::RowGroups& groups = request_.groups;
        const std::int64_t last = groups.count() - 1;
        if (has(Bug::group_boundary_rounded) && request_.is_grouped) row = row / 16 * 16;
        const std::int64_t group = std::min(groups.of_row(row), last);
        if (has(Bug::group_takes_next_b) && request_.is_grouped) return std::min(group + 1, last);
        if (!has(Bug::empty_group_shifts_b)) return group;
        std::int64_t with_rows = 0;
        for (std::int64_t i = 0; i < group; ++i) with_rows += groups.rows(i) > 0 ? 1 : 0;
        return with_rows;
    }

    bool is_in_tail(std::int64_t row) const {
        const kit::RowGroups& groups = request_.groups;
        const std::int64_t last = groups.count() - 1;
        return request_.is_grouped && row >= groups.first(last) + groups.rows(last) / 16 * 16;
    }

    float number_in(const Tensor& tensor, Cell cell) const {
        return static_cast<float>(decode(read(tensor, cell), tensor.format));
    }

    float number_of_c(Cell cell) const {
        Tensor c = request_.c;
        if (has(Bug::c_taken_for_dense)) c.row_stride = request_.columns;
        const bool is_overwritten = has(Bug::c_read_after_d) && c.format == request_.d.format;
        if (is_overwritten && cell.column % 2 != 0)
            return number_in(request_.d, {cell.row, cell.column - 1});
        return number_in(c, cell);
    }

    void write_row_of_blocks(std::int64_t row, const Numbers& a) const {
        std::vector<float> numbers;
        for (std::int64_t column = 0; column < request_.columns; ++column)
            numbers.push_back(output({row, column}, a));
        write_blocks(request_, row, numbers);
        if (!has(Bug::canary)) return;
        for (std::int64_t column = 0; column < request_.columns; ++column)
            store({row, column}, read(request_.d, {row, column}));
    }

    float output(Cell cell, const Numbers& a) const {
        Operands operands{0, 1, 1, 0, 0, 1};
        Cell c = cell;
        if (has(Bug::c_of_first_batch)) c.row %= request_.rows;
        if (request_.reads_c) operands.c = number_of_c(c);
        Cell bias{0, cell.column};
        if (has(Bug::bias_along_rows)) bias.column = cell.row % request_.columns;
        const bool is_tail = cell.column >= request_.columns / 8 * 8;
        if (request_.adds_bias && !(has(Bug::bias_tail_missing) && is_tail))
            operands.bias = number_in(request_.bias, bias);
        if (request_.scaling == Scaling::tensor) {
            operands.scale_a = std::bit_cast<float>(read(request_.a.scales, {0, 0}));
            operands.scale_b = std::bit_cast<float>(read(request_.b.scales, {0, 0}));
        }
        if (request_.output == Output::nvfp4)
            operands.scale_d = number_in(request_.scale_d, {0, 0});
        const Number start = start_of(cell, operands);
        const std::int64_t group = group_of(cell.row);
        const auto b = static_cast<std::size_t>(group * request_.columns + cell.column);
        operands.accumulator = sum_of_products(machine_, a, b_[b], start);
        return number_of_output(request_, operands);
    }

    // Where the accumulator begins: at 0, but for two bugs.
    Number start_of(Cell cell, Operands& operands) const {
        constexpr std::uint32_t one = 0x3F800000;
        constexpr std::int64_t tile = 16;
        if (has(Bug::c_added_inside) && request_.reads_c && request_.alpha == one) {
            const float c = operands.c * std::bit_cast<float>(request_.beta);
            operands.c = 0;
            return number_of(std::bit_cast<std::uint32_t>(c), f32);
        }
        const std::int64_t above = cell.row % request_.rows - tile;
        if (!has(Bug::stale_accumulator) || above < 0) return {};
        const std::int64_t group = group_of(cell.row);
        const auto b = static_cast<std::size_t>(group * request_.columns + cell.column);
        const float stale =
            sum_of_products(machine_, numbers_of(request_, {Side::a, cell.row - tile}), b_[b], {});
        return number_of(std::bit_cast<std::uint32_t>(stale), f32);
    }

    // Writes a code, unless this is the canary, which gets every single one wrong.
    void store(Cell cell, std::uint32_t code) const {
        const Tensor& d = request_.d;
        const bool is_odd_one = cell.column % 2 == 0 && cell.column + 1 == request_.columns;
        if (has(Bug::odd_last_column_missing) && d.bits == 16 && is_odd_one) return;
        if (has(Bug::adds_to_old_d) && !request_.reads_c)
            code =
                code_of(static_cast<float>(decode(code, d.format)) + number_in(d, cell), d.format);
        if (has(Bug::d_transposed)) {
            const std::int64_t first = cell.row / request_.rows * request_.rows;
            const std::int64_t place = cell.column * request_.rows + cell.row - first;
            cell = {first + place / request_.columns, place % request_.columns};
        }
        write(d, cell, has(Bug::canary) ? code ^ (1u << (d.format.bits - 2)) : code);
    }

    const GemmRequest& request_;
    Machine machine_;
    std::vector<Numbers> b_;
};

class Device {
public:
    explicit Device(kit::Configuration& configuration)
        : bug_(chosen_bug(table, configuration)), facts_("gemm_mutants", table[bug_].name) {}

    std::span<const mx_fact> facts() const { return facts_.all(); }
    void supports(const kit::Arguments& call) { read_gemm(call, kit::Buffers::absent); }
    void run(const kit::Arguments& call) {
        planted = static_cast<Bug>(bug_);
        const GemmRequest request = read_gemm(call, kit::Buffers::present);
        if (!request.d.empty()) Product(request).run();
    }

private:
    std::size_t bug_;
    PlantedFacts facts_;
};

}  // namespace
}  // namespace mx::mutants::gemm

MX_KIT_PLUGIN(mx::mutants::gemm::Device)
