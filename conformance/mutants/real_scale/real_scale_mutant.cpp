// The planted bugs of blocks whose scale has a mantissa as one device: a plain quantizer of a whole
// tensor in memory, in which each line of real_scale_mutants.def is a switch. Those of arithmetic
// are in real_scale_numbers.hpp and real_scale_rotation.hpp, those of walking and of layouts here.
#include "conformance/mutants/mutant_layout.hpp"
#include "conformance/mutants/planted_device.hpp"
#include "conformance/mutants/real_scale/real_scale_mutants.hpp"
#include "conformance/mutants/real_scale/real_scale_numbers.hpp"
#include "conformance/mutants/real_scale/real_scale_rotation.hpp"
#include "device/kit/plugin.hpp"

namespace mx::mutants::real_scale {
namespace {

struct Area {
    std::int64_t first_row, end_row, first_column, end_column;
};

template <typename Action>
void for_each_cell(const Area& area, Action&& action) {
    for (std::int64_t row = area.first_row; row < area.end_row; ++row)
        for (std::int64_t column = area.first_column; column < area.end_column; ++column)
            action(Cell{row, column});
}

struct Matrix {
    std::int64_t rows, columns;
    std::vector<float> numbers;

    Matrix(std::int64_t rows_, std::int64_t columns_)
        : rows(rows_), columns(columns_), numbers(static_cast<std::size_t>(rows_ * columns_)) {}
    Area whole() const { return {0, rows, 0, columns}; }
    float& at(Cell cell) {
        return numbers[static_cast<std::size_t>(cell.row * columns + cell.column)];
    }
    float at(Cell cell) const {
        return numbers[static_cast<std::size_t>(cell.row * columns + cell.column)];
    }
};

float read_number(const Tensor& tensor, Cell cell) {
    const std::uint32_t code = read(tensor, cell);
    return tensor.bits == 32 ? std::bit_cast<float>(code) : element_number(code, tensor.format);
}

// Writes a code, unless this is the canary, which gets every single one wrong.
void store(const Tensor& tensor, Cell cell, std::uint32_t code) {
    write(tensor, cell, has(Bug::canary) ? code ^ (1u << (tensor.bits - 2)) : code);
}

void store_number(const Tensor& tensor, Cell cell, float number) {
    store(tensor, cell,
          tensor.bits == 32 ? std::bit_cast<std::uint32_t>(number)
                            : encode_value(static_cast<double>(number), tensor.format));
}

Matrix values_of(const RealScaleRequest& request) {
    Matrix values(request.values.rows, request.values.columns);
    for_each_cell(values.whole(),
                  [&](Cell cell) { values.at(cell) = read_number(request.values, cell); });
    return values;
}

// The elements of a block.
Area area_of(const RealScaleRequest& request, Cell block) {
    const Tensor& codes = request.codes;
    if (request.blocks.axis == kit::Axis::tensor) return {0, codes.rows, 0, codes.columns};
    const std::int64_t height = request.blocks.rows(), width = request.blocks.columns();
    return {block.row * height, std::min((block.row + 1) * height, codes.rows),
            block.column * width, std::min((block.column + 1) * width, codes.columns)};
}

template <typename Action>
void for_each_block(const RealScaleRequest& request, Action&& action) {
    for_each_cell({0, request.scales.rows, 0, request.scales.columns},
                  [&](Cell block) { action(block, area_of(request, block)); });
}

// Where a scale lands when rows and columns are exchanged, folded back into the grid.
Cell transposed(const Tensor& tensor, Cell cell) {
    const std::int64_t place = cell.column * tensor.rows + cell.row;
    return {place / tensor.columns, place % tensor.columns};
}

Matrix decoded(const RealScaleRequest& request) {
    Matrix values(request.codes.rows, request.codes.columns);
    const float kept = request.rules.has_number ? read_number(request.kept, {0, 0}) : 1;
    for_each_block(request, [&](Cell block, const Area& area) {
        if (has(Bug::dequantize_tiles_transposed) && request.blocks.axis == kit::Axis::tile)
            block = transposed(request.scales, block);
        float scale = read_number(request.scales, block);
        if (has(Bug::dequantize_nan_scale_as_480) && std::isnan(scale) && request.element == e2m1)
            scale = 480;
        const float factor = factor_back(request, scale, kept);
        for_each_cell(area, [&](Cell cell) {
            values.at(cell) = element_number(read(request.codes, cell), request.element) * factor;
        });
    });
    return values;
}

void dequantize(const RealScaleRequest& request) {
    const Matrix values = decoded(request);
    for_each_cell(values.whole(),
                  [&](Cell cell) { store_number(request.values, cell, values.at(cell)); });
}

void rotate_blocks(const RealScaleRequest& request, Matrix& values) {
    for_each_block(request, [&](Cell, const Area& area) {
        Lanes lanes{};
        std::size_t next = 0;
        for_each_cell(area, [&](Cell cell) { lanes[next++] = values.at(cell); });
        rotate(lanes);
        next = 0;
        for_each_cell(area, [&](Cell cell) { values.at(cell) = lanes[next++]; });
    });
}

// As if the scales' bytes were a matrix of their own, yet to be swizzled.
void swizzle_again(const Tensor& scales) {
    if (scales.layout != Layout::tiles_128x4 || scales.empty()) return;
    const bool is_across = scales.axis == kit::Axis::column;
    Tensor padded = scales;
    padded.rows = rounded_up(scales.rows, is_across ? 4 : 128);
    padded.columns = rounded_up(scales.columns, is_across ? 128 : 4);
    const std::vector<unsigned char> bytes(scales.data, scales.data + grid_bytes(scales));
    for_each_cell({0, padded.rows, 0, padded.columns}, [&](Cell cell) {
        write(padded, cell, bytes[static_cast<std::size_t>(Grid(padded, cell).linear())]);
    });
}

class Quantizing {
public:
    Quantizing(const RealScaleRequest& request, Matrix values, bool is_second)
        : request_(request), values_(std::move(values)), is_second_(is_second) {}

    void run() {
        clear_pads(request_.codes);
        clear_pads(request_.scales);
        float amax = has(Bug::tensor_amax_before_rotation) ? tensor_amax() : 0;
        if (request_.rules.rotates) rotate_blocks(request_, values_);
        TensorNumber tensor;
        if (request_.rules.has_number) {
            if (!has(Bug::tensor_amax_before_rotation)) amax = tensor_amax();
            if (request_.given.data != nullptr) amax = read_number(request_.given, {0, 0});
            tensor = tensor_number(request_, amax);
            if (!(has(Bug::number_of_columns_missing) && is_second_))
                store_number(request_.kept, {0, 0}, kept_number(request_, tensor));
        }
        const BlockMaker maker(request_, tensor);
        for_each_block(request_,
                       [&](Cell block, const Area& area) { quantize(maker, block, area); });
        if (has(Bug::swizzled_twice)) swizzle_again(request_.scales);
    }

private:
    float tensor_amax() const {
        Area area = values_.whole();
        if (has(Bug::tensor_amax_misses_last_row))
            area.end_row = std::max(area.end_row - 1, area.first_row);
        if (has(Bug::tensor_amax_misses_tail)) area.end_column -= area.end_column % 16;
        float amax = 0;
        for_each_cell(area, [&](Cell cell) {
            float lane = values_.at(cell);
            if (has(Bug::tensor_amax_signed) && lane < 0) lane = 0;
            amax = larger_amax(request_, amax, lane);
        });
        return amax;
    }

    // The elements among which the amax of a block is looked for.
    Area searched(Area area) const {
        const kit::Axis axis = request_.blocks.axis;
        if (has(Bug::tile_scale_of_first_row) && axis == kit::Axis::tile)
            area.end_row = area.first_row + 1;
        if (has(Bug::tile_amax_misses_last_column) && axis == kit::Axis::tile) --area.end_column;
        if (has(Bug::columns_scaled_as_rows) && axis == kit::Axis::column) {
            const std::int64_t size = request_.blocks.size;
            const std::int64_t first = area.first_column / size * size;
            return {area.first_row, area.first_row + 1, first,
                    std::min(first + size, values_.columns)};
        }
        return area;
    }

    float block_amax(const Area& block) const {
        const Area area = searched(block);
        float amax = 0;
        for_each_cell(area,
                      [&](Cell cell) { amax = larger_amax(request_, amax, values_.at(cell)); });
        const bool reads_on =
            has(Bug::short_block_reads_on) && request_.blocks.axis == kit::Axis::row;
        if (!reads_on || block.first_row + 1 == values_.rows) return amax;
        const std::int64_t missing = request_.blocks.size - (block.end_column - block.first_column);
        const std::int64_t row = block.first_row + 1;
        for_each_cell({row, row + 1, 0, std::min(missing, values_.columns)},
                      [&](Cell cell) { amax = larger_amax(request_, amax, values_.at(cell)); });
        return amax;
    }

    void quantize(const BlockMaker& maker, Cell block, const Area& area) {
        lanes_.clear();
        for_each_cell(area, [&](Cell cell) { lanes_.push_back(values_.at(cell)); });
        const float amax = block_amax(area);
        const BlockScale scale = maker.scale_of(amax, lanes_);
        store_scale(block, scale, amax);
        for_each_cell(area, [&](Cell cell) {
            const Tensor& codes = request_.codes;
            const bool is_odd_one = cell.column % 2 == 0 && cell.column + 1 == codes.columns;
            if (has(Bug::odd_nibble_lost) && is_packed(codes) && is_odd_one) return;
            store(codes, cell, maker.code_of(scale, values_.at(cell), random_at(cell)));
        });
    }

    void store_scale(Cell block, const BlockScale& scale, float amax) const {
        const bool is_negative =
            has(Bug::scale_has_sign) && std::ranges::find(lanes_, -amax) != lanes_.end();
        const float number = is_negative && amax != 0 ? -scale.number : scale.number;
        if (request_.scales.bits == 32) return store_number(request_.scales, block, number);
        store(request_.scales, block, encode_element(static_cast<double>(number), e4m3, {}));
    }

    std::uint32_t random_at(Cell cell) const {
        if (!request_.rules.is_stochastic) return 0;
        if (has(Bug::random_word_of_pairs)) cell.column -= cell.column % 2;
        const std::uint32_t word = read(request_.random, cell);
        return has(Bug::random_high_byte) ? word >> 24 : word & 0xFF;
    }

    const RealScaleRequest& request_;
    Matrix values_;
    bool is_second_;
    std::vector<float> lanes_;
};

// The layouts are those of the other mutants, and so are their bugs.
mutants::Bug bug_of_layout() {
    if (has(Bug::nibbles_exchanged)) return mutants::Bug::nibbles_exchanged;
    if (has(Bug::tiles_exchanged)) return mutants::Bug::swizzle_tiles_exchanged;
    if (has(Bug::pads_not_written)) return mutants::Bug::swizzle_pads_unwritten;
    return mutants::Bug::none;
}

// The second request, if there is one, is for the columns of what the first does the rows of.
std::vector<RealScaleRequest> requests_of(const kit::Arguments& call, kit::Buffers buffers) {
    std::vector<RealScaleRequest> requests;
    for (const kit::Arguments& side : kit::Sides(call))
        requests.push_back(read_real_scale(side, buffers));
    return requests;
}

class Device {
public:
    explicit Device(kit::Configuration& configuration)
        : bug_(chosen_bug(table, configuration)), facts_("real_scale_mutants", table[bug_].name) {}

    std::span<const mx_fact> facts() const { return facts_.all(); }
    void supports(const kit::Arguments& call) { requests_of(call, kit::Buffers::absent); }
    void run(const kit::Arguments& call) {
        planted = static_cast<Bug>(bug_);
        mutants::planted = bug_of_layout();
        const std::vector<RealScaleRequest> requests = requests_of(call, kit::Buffers::present);
        for (const RealScaleRequest& request : requests) {
            if (!request.quantizes) return dequantize(request);
            const bool is_second = &request != &requests[0];
            const bool is_of_rows = is_second && has(Bug::columns_of_quantized_rows);
            Quantizing(request, is_of_rows ? decoded(requests[0]) : values_of(request), is_second)
                .run();
        }
    }

private:
    std::size_t bug_;
    PlantedFacts facts_;
};

}  // namespace
}  // namespace mx::mutants::real_scale

MX_KIT_PLUGIN(mx::mutants::real_scale::Device)
