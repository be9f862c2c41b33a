// See oracle_device.hpp.
#include "conformance/selftest/oracle_device.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "conformance/selftest/oracle_request.hpp"
#include "reference/fast/block.hpp"

namespace mx::selftest {
namespace {

constexpr std::int64_t lanes_max = 32;

template <typename Function>
void map_cells(const Request& request, const Function& function) {
    const View& input = request.inputs[0];
    for (std::int64_t row = 0; row < input.rows; ++row)
        for (std::int64_t column = 0; column < input.columns; ++column)
            request.outputs[0].write({row, column},
                                     function(Code{input.read({row, column})}).bits);
}

void convert(const Request& request) {
    map_cells(request, [&](Code code) {
        return fast::round_element(request.rules, request.format.element(),
                                   fast::unpack(request.values, code));
    });
}

void encode_scales(const Request& request) {
    map_cells(request, [&](Code code) {
        return fast::encode_scale(request.rules, request.format,
                                  fast::unpack(request.values, code));
    });
}

// Blocks lie along lines: rows, or columns.
struct Walk {
    Axis axis;
    std::int64_t lines, length;

    explicit Walk(const Request& request)
        : axis(request.axis),
          lines(axis == Axis::row ? request.inputs[0].rows : request.inputs[0].columns),
          length(axis == Axis::row ? request.inputs[0].columns : request.inputs[0].rows) {}
    Cell cell(std::int64_t line, std::int64_t place) const {
        return axis == Axis::row ? Cell{line, place} : Cell{place, line};
    }
};

void quantize(const Request& request) {
    const Walk walk(request);
    std::array<std::uint32_t, lanes_max> lanes{};
    std::array<std::uint8_t, lanes_max> codes{};
    for (std::int64_t line = 0; line < walk.lines; ++line)
        for (std::int64_t first = 0; first < walk.length; first += lanes_max) {
            const auto count =
                static_cast<std::size_t>(std::min(lanes_max, walk.length - first));
            for (std::size_t i = 0; i < count; ++i)
                lanes[i] = request.inputs[0].read(
                    walk.cell(line, first + static_cast<std::int64_t>(i)));
            const Code scale =
                fast::quantize_block(request.rules, request.format, request.values, lanes.data(),
                                     static_cast<int>(count), codes.data());
            for (std::size_t i = 0; i < count; ++i)
                request.outputs[0].write(walk.cell(line, first + static_cast<std::int64_t>(i)),
                                         codes[i]);
            request.outputs[1].write(walk.cell(line, first / lanes_max), scale.bits);
        }
}

void dequantize(const Request& request) {
    const Walk walk(request);
    for (std::int64_t line = 0; line < walk.lines; ++line)
        for (std::int64_t place = 0; place < walk.length; ++place) {
            const Code scale{request.inputs[1].read(walk.cell(line, place / lanes_max))};
            const Code code{request.inputs[0].read(walk.cell(line, place))};
            request.outputs[0].write(
                walk.cell(line, place),
                fast::dequantize(request.format, request.values, scale, code).bits);
        }
}

void answer(const Request& request) {
    switch (request.action) {
        case Action::convert:
            return convert(request);
        case Action::encode_scale:
            return encode_scales(request);
        case Action::quantize:
            return quantize(request);
        case Action::dequantize:
            return dequantize(request);
    }
}

mx_status open_device(void** device, mx_message*) {
    *device = nullptr;
    return MX_OK;
}

void close_device(void*) {}

std::size_t describe(void*, const mx_fact** facts) {
    static constexpr std::array known{
        mx_fact{"name", "oracle"}, mx_fact{"vendor", "mxcheck"},
        mx_fact{"notes", "the fast oracle as a device, to test the harness with"}};
    *facts = known.data();
    return known.size();
}

mx_status refuse(const Refusal& refusal, mx_message* message) {
    if (message != nullptr && message->text != nullptr && message->capacity > 0) {
        const std::size_t length = std::min(refusal.reason.size(), message->capacity - 1);
        std::memcpy(message->text, refusal.reason.data(), length);
        message->text[length] = '\0';
    }
    return refusal.status;
}

mx_status supports(void*, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) {
    const auto request = read_request({operation, inputs, input_count, outputs, output_count});
    const auto* refusal = std::get_if<Refusal>(&request);
    return refusal == nullptr ? MX_OK : refuse(*refusal, message);
}

mx_status run(void*, const mx_operation* operation, const mx_tensor* inputs,
              std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
              mx_message* message) {
    const auto request = read_request({operation, inputs, input_count, outputs, output_count});
    if (const auto* refusal = std::get_if<Refusal>(&request)) return refuse(*refusal, message);
    answer(std::get<Request>(request));
    return MX_OK;
}

constexpr mx_device_api table{sizeof(mx_device_api), MX_DEVICE_ABI_VERSION, open_device,
                              close_device,          describe,              supports,
                              run};

}  // namespace

const mx_device_api* oracle_device_api() { return &table; }

}  // namespace mx::selftest
