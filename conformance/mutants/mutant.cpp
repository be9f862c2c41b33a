// The planted bugs of quantizers as one device: a plain quantizer in which each line of mutants.def
// is a switch. Bugs of arithmetic are in mutant_elements.hpp and mutant_scales.hpp, those of
// layouts in mutant_layout.hpp, those of walking here.
#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "conformance/mutants/mutant_blocks.hpp"
#include "conformance/mutants/mutant_layout.hpp"
#include "conformance/mutants/mutant_scales.hpp"
#include "conformance/mutants/planted_device.hpp"
#include "device/kit/plugin.hpp"

namespace mx::mutants {
namespace {

// A lane that the search for the amax passes over.
bool is_unseen(const Request& request, const Block& block, std::size_t lane) {
    const std::size_t lanes = block.cells.size();
    if (has(Bug::amax_ignores_lane_31)) return lane == 31;
    if (has(Bug::amax_ignores_short_vector)) return lane >= lanes - lanes % 8;
    if (has(Bug::tile_scale_of_first_row))
        return request.axis == Axis::tile && block.cells[lane].row != block.cells[0].row;
    return has(Bug::block_64_half_seen) && request.block == 64 && lane % 64 >= 32;
}

double block_amax(const Request& request, const Block& block) {
    const bool reads_on = has(Bug::partial_block_padding_read);
    const std::size_t end = reads_on ? block.values.size() : block.cells.size();
    bool skips_nan =
        (request.dialect == Dialect::nv && !has(Bug::nan_spreads)) || has(Bug::nan_ignored);
    if (has(Bug::nan_spreads_in_columns) && request.axis == Axis::column) skips_nan = false;
    double amax = 0;
    for (std::size_t lane = 0; lane < end; ++lane) {
        if (is_unseen(request, block, lane)) continue;
        const double value = block.values[lane];
        if (std::isnan(value) && skips_nan) continue;
        if (std::isnan(value)) return nan_value;
        amax = std::max(amax, has(Bug::amax_signed) ? value : std::fabs(value));
    }
    return amax;
}

Cell in_20_bits(const Tensor& tensor, Cell cell) {
    const std::int64_t index = (cell.row * tensor.columns + cell.column) % (1 << 20);
    return {index / tensor.columns, index % tensor.columns};
}

// Writes a code, unless this is the canary, which gets every single one wrong.
void store(const Tensor& tensor, Cell cell, std::uint32_t code) {
    if (has(Bug::element_index_in_20_bits)) cell = in_20_bits(tensor, cell);
    if (has(Bug::rows_beyond_65535_unwritten) && cell.row > 65535) return;
    write(tensor, cell, has(Bug::canary) ? code ^ (1u << (tensor.bits - 2)) : code);
}

// Where a cell lands when rows and columns are exchanged, folded back into the tensor.
Cell transposed(const Tensor& tensor, Cell cell) {
    const std::int64_t place = cell.column * tensor.rows + cell.row;
    return {place / tensor.columns, place % tensor.columns};
}

template <typename Action>
void for_each_cell(const Tensor& tensor, Action&& action) {
    for (std::int64_t row = 0; row < tensor.rows; ++row)
        for (std::int64_t column = 0; column < tensor.columns; ++column) action(Cell{row, column});
}

std::vector<std::uint32_t> contents(const Tensor& tensor) {
    std::vector<std::uint32_t> codes;
    for_each_cell(tensor, [&](Cell cell) { codes.push_back(read(tensor, cell)); });
    return codes;
}

// The random bits for the value of a cell, of the word that serves it.
std::uint32_t random_bits(const Request& request, Cell cell) {
    Tensor words = request.inputs[1];
    if (has(Bug::stochastic_words_taken_for_dense)) words.row_stride = words.columns;
    const auto [digits, values] = request.random;
    Cell place{cell.row, cell.column / values};
    if (has(Bug::stochastic_x4_words_run_on) && values > 1) {
        const std::int64_t word = (cell.row * request.inputs[0].columns + cell.column) / values;
        place = {word / words.columns, word % words.columns};
    }
    std::uint32_t word = read(words, place);
    const bool is_second_half = values > 1 && cell.column % values >= values / 2;
    if (is_second_half != (has(Bug::stochastic_x4_halves_exchanged) && values > 1)) word >>= 16;
    if (has(Bug::stochastic_high_bits) && values == 1) word >>= 32 - digits;
    return digits == 32 ? word : word & ((1u << digits) - 1);
}

std::uint32_t scale_of(const Request& request, const Walk& walk, Cell cell) {
    const Tensor& scales = request.inputs[1];
    Cell block = walk.block_of(cell);
    if (has(Bug::dequantize_block_16_as_32) && walk.size == 16)
        block = {request.axis == Axis::row ? block.row : block.row / 2,
                 request.axis == Axis::column ? block.column : block.column / 2};
    // Four bytes are loaded at once, and the last of them taken.
    const bool has_pad =
        scales.layout == Layout::te_padded && request.axis == Axis::row && scales.columns % 4 != 0;
    if (has(Bug::te_pads_read) && has_pad && block.column == scales.columns - 1) ++block.column;
    if (has(Bug::dequantize_tile_scales_transposed) && request.axis == Axis::tile)
        block = transposed(scales, block);
    return read(scales, block);
}

std::vector<Request> requests_of(const kit::Arguments& call, kit::Buffers buffers) {
    std::vector<Request> requests;
    for (const kit::Arguments& side : kit::Sides(call))
        requests.push_back(read_request(side, buffers));
    return requests;
}

class Device {
public:
    explicit Device(kit::Configuration& configuration)
        : bug_(chosen_bug(table, configuration)), facts_("mutants", table[bug_].name) {}

    std::span<const mx_fact> facts() const { return facts_.all(); }
    void supports(const kit::Arguments& call) { requests_of(call, kit::Buffers::absent); }
    void run(const kit::Arguments& call) {
        planted = static_cast<Bug>(bug_);
        run_all(requests_of(call, kit::Buffers::present));
    }

private:
    // The second request, if there is one, is for the columns of what the first does the rows of.
    void run_all(const std::vector<Request>& requests) {
        for (const Request& request : requests) {
            row_scales_ = &request == &requests[0] ? nullptr : &requests[0].outputs[1];
            answer(request);
        }
    }

    void answer(const Request& request) {
        switch (request.action) {
            case Action::convert:
                return convert(request);
            case Action::cast_to_scale:
                return cast(request);
            case Action::encode_scale:
                return encode_scales(request);
            case Action::quantize:
                return quantize(request);
            case Action::dequantize:
                return dequantize(request);
        }
    }

    static void convert(const Request& request) {
        const Tensor& input = request.inputs[0];
        Manner manner{request.rounding, request.overflow, request.subnormals, request.random.digits,
                      0};
        if (has(Bug::convert_always_saturates)) manner.overflow = Overflow::saturate;
        for_each_cell(input, [&](Cell cell) {
            const double value = input_value(read(input, cell), input.format, request.subnormals);
            if (manner.random_digits > 0) manner.random_bits = random_bits(request, cell);
            store(request.outputs[0], cell, encode_element(value, request.element, manner));
        });
    }

    static void cast(const Request& request) {
        const Tensor& input = request.inputs[0];
        for_each_cell(input, [&](Cell cell) {
            const double value = input_value(read(input, cell), input.format);
            store(request.outputs[0], cell, cast_to_scale(value, request.dialect));
        });
    }

    static void encode_scales(const Request& request) {
        const Tensor& input = request.inputs[0];
        for_each_cell(input, [&](Cell cell) {
            const double amax = input_value(read(input, cell), input.format);
            store(request.outputs[0], cell, encode_scale(amax, request.element, request.dialect));
        });
    }

    static void dequantize(const Request& request) {
        const Tensor& output = request.outputs[0];
        const Walk walk{request.axis, output.rows, output.columns, request.block};
        for_each_cell(output, [&](Cell cell) {
            const auto scale = static_cast<std::uint8_t>(scale_of(request, walk, cell));
            const std::uint32_t code = read(request.inputs[0], cell);
            const double value = element_value(code, request.element) * scale_value(scale);
            store(output, cell, output_code(value, output.format));
        });
    }

    void quantize(const Request& request) {
        Tensor input = request.inputs[0];
        if (has(Bug::input_taken_for_dense)) input.row_stride = input.columns;
        const Walk walk{request.axis, input.rows, input.columns, request.block};
        Block block;
        has_slept_ = false;
        for (const Tensor& output : request.outputs) clear_pads(output);
        for (std::int64_t line = 0; line < walk.lines(); ++line) {
            std::uint8_t neighbour = 0;
            for (std::int64_t index = 0; index < walk.blocks_of_a_line(); ++index) {
                block.scale_cell = walk.block(line, index);
                load(input, walk, block);
                std::uint8_t scale = choose_scale(request, walk, block);
                if (has(Bug::scale_from_previous_block) && index > 0)
                    std::swap(scale, neighbour);
                else
                    neighbour = scale;
                encode(request, scale, block);
                const bool is_last =
                    line == walk.lines() - 1 && index == walk.blocks_of_a_line() - 1;
                if (has(Bug::last_block_unwritten) && is_last) continue;
                if (!is_passed_over(request, block)) store_block(request, scale, block);
            }
        }
        misbehave_after(request);
    }

    // Is it one of the columns that are left over when whole tiles have been taken?
    bool is_passed_over(const Request& request, const Block& block) const {
        const std::int64_t columns = request.inputs[0].columns;
        return has(Bug::both_last_columns_unwritten) && row_scales_ != nullptr &&
               block.scale_cell.column >= columns - columns % request.block;
    }

    static void load(const Tensor& input, const Walk& walk, Block& block) {
        walk.list_cells(block.scale_cell, block.cells);
        const auto whole = static_cast<std::size_t>(walk.height() * walk.width());
        block.values.resize(whole);
        block.codes.resize(whole);
        for (std::size_t lane = 0; lane < block.cells.size(); ++lane) {
            block.values[lane] = input_value(read(input, block.cells[lane]), input.format);
            if (has(Bug::crash_on_nan) && std::isnan(block.values[lane])) std::raise(SIGSEGV);
        }
    }

    std::uint8_t choose_scale(const Request& request, const Walk& walk, const Block& block) {
        double amax = block_amax(request, block);
        if (has(Bug::both_columns_scaled_as_rows) && row_scales_ != nullptr) {
            const Cell first = block.cells[0];
            return static_cast<std::uint8_t>(
                read(*row_scales_, {first.row, first.column / request.block}));
        }
        if (has(Bug::block_16_as_32) && request.block == 16)
            amax = amax_of_32(request, walk, block);
        if (has(Bug::hang_on_zero_block) && amax == 0 && !has_slept_) {
            std::this_thread::sleep_for(std::chrono::seconds(5));
            has_slept_ = true;
        }
        return encode_scale(amax, request.element, request.dialect);
    }

    // The amax of the block of 32 in which a block of 16 lies.
    static double amax_of_32(const Request& request, const Walk& walk, const Block& block) {
        Walk wide = walk;
        wide.size = 32;
        Block around;
        around.scale_cell = wide.block_of(block.cells[0]);
        load(request.inputs[0], wide, around);
        return block_amax(request, around);
    }

    void encode(const Request& request, std::uint8_t scale, Block& block) {
        for (std::size_t lane = 0; lane < block.cells.size(); ++lane) {
            const double value = block.values[lane];
            // The product with a NaN scale forgets whose sign it was.
            const double scaled = std::copysign(value * scale_reciprocal(scale), value);
            block.codes[lane] = encode_element(scaled, request.element, {});
        }
        ++blocks_encoded_;
        if (has(Bug::random_flake) && blocks_encoded_ % 251 == 0) block.codes[0] ^= 1u;
    }

    static void store_block(const Request& request, std::uint8_t scale, const Block& block) {
        const Tensor& codes = request.outputs[0];
        for (std::size_t lane = 0; lane < block.cells.size(); ++lane) {
            Cell cell = block.cells[lane];
            if (has(Bug::col_strides_swapped) && request.axis == Axis::column)
                cell = transposed(codes, cell);
            store(codes, cell, block.codes[lane]);
        }
        store(request.outputs[1], block.scale_cell, scale);
    }

    void misbehave_after(const Request& request) {
        const Tensor& input = request.inputs[0];
        if (input.empty()) return;
        if (has(Bug::input_modified)) write(input, {0, 0}, read(input, {0, 0}) + 1);
        const Tensor& scales = request.outputs[1];
        if (has(Bug::scale_overwrites_red_zone) && scales.layout == Layout::strided)
            write(scales, {scales.rows - 1, scales.columns}, 0);
        if (has(Bug::stale_output)) repeat_last_answer(request);
    }

    // Puts the answer of the call before in place of this one, when the sizes agree.
    void repeat_last_answer(const Request& request) {
        for (std::size_t i = 0; i < last_answer_.size(); ++i) {
            const Tensor& output = request.outputs[i];
            std::vector<std::uint32_t> answer = contents(output);
            if (last_answer_[i].size() == answer.size()) {
                auto next = last_answer_[i].begin();
                for_each_cell(output, [&](Cell cell) { write(output, cell, *next++); });
            }
            last_answer_[i] = std::move(answer);
        }
    }

    std::size_t bug_;
    PlantedFacts facts_;
    const Tensor* row_scales_ = nullptr;  // of the same input, while its columns are quantized
    std::uint64_t blocks_encoded_ = 0;
    bool has_slept_ = false;  // in this call: the hang must end
    std::array<std::vector<std::uint32_t>, 2> last_answer_;
};

}  // namespace
}  // namespace mx::mutants

MX_KIT_PLUGIN(mx::mutants::Device)
