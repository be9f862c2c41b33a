// The one source of every mutant: a plain quantizer behind the C ABI, compiled once for each line
// of mutants.def. Bugs of arithmetic are in mutant_numbers.hpp, those of walking and writing here.
#include <array>
#include <chrono>
#include <csignal>
#include <new>
#include <thread>
#include <vector>

#include "conformance/mutants/mutant_numbers.hpp"

namespace mx::mutants {
namespace {

constexpr int block_lanes = 32;

// Lines of blocks along the axis: rows, or columns.
struct Walk {
    Axis axis;
    std::int64_t lines, length;

    Walk(const Tensor& tensor, Axis along)
        : axis(along),
          lines(along == Axis::row ? tensor.rows : tensor.columns),
          length(along == Axis::row ? tensor.columns : tensor.rows) {}

    std::int64_t blocks() const { return length / block_lanes + (length % block_lanes != 0); }
    // Place `position` of line `line`, in the element tensor (lanes) or the scale tensor (blocks).
    Cell cell(std::int64_t line, std::int64_t position) const {
        return axis == Axis::row ? Cell{line, position} : Cell{position, line};
    }
};

struct Block {
    std::int64_t line = 0, index = 0;
    int lanes = 0;
    // Places beyond `lanes` keep what an earlier block left there.
    std::array<double, block_lanes> values{};
    std::array<std::uint32_t, block_lanes> codes{};
};

double block_amax(const Block& block, Dialect dialect) {
    const int end = has(Bug::partial_block_padding_read) ? block_lanes : block.lanes;
    const bool skips_nan = (dialect == Dialect::nv && !has(Bug::nan_spreads)) ||
                           has(Bug::nan_ignored);
    double amax = 0;
    for (int lane = 0; lane < end; ++lane) {
        if (has(Bug::amax_ignores_lane_31) && lane == 31) continue;
        const double value = block.values[static_cast<std::size_t>(lane)];
        if (std::isnan(value) && skips_nan) continue;
        if (std::isnan(value)) return nan_value;
        amax = std::max(amax, has(Bug::amax_signed) ? value : std::fabs(value));
    }
    return amax;
}

// Writes a code, unless this is the canary, which gets every single one wrong.
void store(const Tensor& tensor, Cell cell, std::uint32_t code) {
    tensor.write(cell, has(Bug::canary) ? code ^ (1u << (tensor.bytes * 8 - 2)) : code);
}

// Where axis col puts an element when its two strides are exchanged, folded back into the tensor.
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
    for_each_cell(tensor, [&](Cell cell) { codes.push_back(tensor.read(cell)); });
    return codes;
}

class Device {
public:
    void run(const Request& request) {
        switch (request.action) {
            case Action::convert: return convert(request);
            case Action::encode_scale: return encode_scales(request);
            case Action::quantize: return quantize(request);
            case Action::dequantize: return dequantize(request);
        }
    }

private:
    static void convert(const Request& request) {
        const Overflow overflow =
            has(Bug::convert_always_saturates) ? Overflow::saturate : request.overflow;
        const Tensor& input = request.inputs[0];
        for_each_cell(input, [&](Cell cell) {
            const double value = input_value(input.read(cell), input.format);
            store(request.outputs[0], cell, encode_element(value, request.element, overflow));
        });
    }

    static void encode_scales(const Request& request) {
        const Tensor& input = request.inputs[0];
        for_each_cell(input, [&](Cell cell) {
            const double amax = input_value(input.read(cell), input.format);
            store(request.outputs[0], cell, encode_scale(amax, request.element, request.dialect));
        });
    }

    static void dequantize(const Request& request) {
        const Tensor& output = request.outputs[0];
        const Walk walk(output, request.axis);
        for_each_cell(output, [&](Cell cell) {
            const Cell block = walk.axis == Axis::row ? Cell{cell.row, cell.column / block_lanes}
                                                      : Cell{cell.row / block_lanes, cell.column};
            const auto scale = static_cast<std::uint8_t>(request.inputs[1].read(block));
            double value = element_value(request.inputs[0].read(cell), request.element);
            value *= scale_value(scale);
            const double smallest = std::ldexp(1.0, output.format.exponent_min);
            if (has(Bug::dequantize_flushes_subnormals) && std::fabs(value) < smallest)
                value = std::copysign(0.0, value);
            store(output, cell, encode_value(value, output.format));
        });
    }

    void quantize(const Request& request) {
        const Walk walk(request.inputs[0], request.axis);
        Block block;
        has_slept_ = false;
        for (block.line = 0; block.line < walk.lines; ++block.line) {
            std::uint8_t neighbour = 0;
            for (block.index = 0; block.index < walk.blocks(); ++block.index) {
                load(request, walk, block);
                std::uint8_t scale = choose_scale(request, block);
                if (has(Bug::scale_from_previous_block) && block.index > 0)
                    std::swap(scale, neighbour);
                else
                    neighbour = scale;
                encode(request, scale, block);
                store_block(request, walk, block, scale);
            }
        }
        misbehave_after(request);
    }

    static void load(const Request& request, const Walk& walk, Block& block) {
        const Tensor& input = request.inputs[0];
        const std::int64_t first = block.index * block_lanes;
        block.lanes = static_cast<int>(std::min<std::int64_t>(walk.length - first, block_lanes));
        for (int lane = 0; lane < block.lanes; ++lane) {
            const std::uint32_t code = input.read(walk.cell(block.line, first + lane));
            const double value = input_value(code, input.format);
            if (has(Bug::crash_on_nan) && std::isnan(value)) std::raise(SIGSEGV);
            block.values[static_cast<std::size_t>(lane)] = value;
        }
    }

    std::uint8_t choose_scale(const Request& request, const Block& block) {
        const double amax = block_amax(block, request.dialect);
        if (has(Bug::hang_on_zero_block) && amax == 0 && !has_slept_) {
            std::this_thread::sleep_for(std::chrono::seconds(5));
            has_slept_ = true;
        }
        return encode_scale(amax, request.element, request.dialect);
    }

    void encode(const Request& request, std::uint8_t scale, Block& block) {
        for (int lane = 0; lane < block.lanes; ++lane) {
            const auto place = static_cast<std::size_t>(lane);
            const double value = block.values[place];
            // The product with a NaN scale forgets whose sign it was.
            const double scaled = std::copysign(value * scale_reciprocal(scale), value);
            block.codes[place] = encode_element(scaled, request.element, Overflow::saturate);
        }
        ++blocks_encoded_;
        if (has(Bug::random_flake) && blocks_encoded_ % 251 == 0) block.codes[0] ^= 1u;
    }

    static void store_block(const Request& request, const Walk& walk, const Block& block,
                            std::uint8_t scale) {
        const bool is_last = block.line == walk.lines - 1 && block.index == walk.blocks() - 1;
        if (has(Bug::last_block_unwritten) && is_last) return;
        const Tensor& codes = request.outputs[0];
        for (int lane = 0; lane < block.lanes; ++lane) {
            Cell cell = walk.cell(block.line, block.index * block_lanes + lane);
            if (has(Bug::col_strides_swapped) && walk.axis == Axis::col)
                cell = transposed(codes, cell);
            store(codes, cell, block.codes[static_cast<std::size_t>(lane)]);
        }
        store(request.outputs[1], walk.cell(block.line, block.index), scale);
    }

    void misbehave_after(const Request& request) {
        const Tensor& input = request.inputs[0];
        if (input.empty()) return;
        if (has(Bug::input_modified)) input.write({0, 0}, input.read({0, 0}) + 1);
        const Tensor& scales = request.outputs[1];
        if (has(Bug::scale_overwrites_red_zone))
            scales.at({scales.rows - 1, scales.columns - 1})[1] = 0;
        if (has(Bug::stale_output)) repeat_last_answer(request);
    }

    // Puts the answer of the call before in place of this one, when the sizes agree.
    void repeat_last_answer(const Request& request) {
        for (std::size_t i = 0; i < last_answer_.size(); ++i) {
            const Tensor& output = request.outputs[i];
            std::vector<std::uint32_t> answer = contents(output);
            if (last_answer_[i].size() == answer.size()) {
                auto next = last_answer_[i].begin();
                for_each_cell(output, [&](Cell cell) { output.write(cell, *next++); });
            }
            last_answer_[i] = std::move(answer);
        }
    }

    std::uint64_t blocks_encoded_ = 0;
    bool has_slept_ = false;  // in this call: the hang must end
    std::array<std::vector<std::uint32_t>, 2> last_answer_;
};

mx_status open_device(void** device, mx_message*) {
    *device = new (std::nothrow) Device;
    return *device == nullptr ? MX_OUT_OF_MEMORY : MX_OK;
}

void close_device(void* device) { delete static_cast<Device*>(device); }

std::size_t describe(void*, const mx_fact** facts) {
    static constexpr std::array known{mx_fact{"name", MX_MUTANT_FILE},
                                      mx_fact{"vendor", "mxcheck"},
                                      mx_fact{"notes", "a planted bug, to test the harness with"}};
    *facts = known.data();
    return known.size();
}

mx_status supports(void*, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) {
    Request request;
    return read_request({operation, inputs, input_count, outputs, output_count, message}, request);
}

mx_status run(void* device, const mx_operation* operation, const mx_tensor* inputs,
              std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
              mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count, message};
    Request request;
    mx_status status = read_request(call, request);
    if (status == MX_OK) status = check_data(call);
    if (status != MX_OK) return status;
    try {
        static_cast<Device*>(device)->run(request);
    } catch (const std::bad_alloc&) {
        return MX_OUT_OF_MEMORY;
    }
    return MX_OK;
}

constexpr mx_device_api api{sizeof(mx_device_api), MX_DEVICE_ABI_VERSION, open_device,
                            close_device,          describe,              supports,
                            run};

}  // namespace
}  // namespace mx::mutants

const mx_device_api* mx_device_get_api(uint32_t host_abi_version) {
    return host_abi_version == MX_DEVICE_ABI_VERSION ? &mx::mutants::api : nullptr;
}
