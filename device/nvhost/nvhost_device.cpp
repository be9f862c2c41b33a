// The four operations from NVIDIA's conversions, and the C table around them; see the header.
#include "device/nvhost/nvhost_device.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "device/kit/plugin.hpp"
#include "device/nvhost/request.hpp"

namespace mx::nvhost {
namespace {

using kit::Axis;
using kit::Cell;

// TransformerEngine multiplies by the float32 nearest to 1 / largest; it does not divide.
float reciprocal_of_largest(Element element) {
    switch (element) {
        case Element::e4m3:
            return 1.0f / 448.0f;
        case Element::e5m2:
            return 1.0f / 57344.0f;
        case Element::e3m2:
            return 1.0f / 28.0f;
        case Element::e2m3:
            return 1.0f / 7.5f;
        case Element::e2m1:
            break;
    }
    return 1.0f / 6.0f;
}

std::uint8_t scale_of(float amax, const Request& request) {
    return encode_e8m0(amax * reciprocal_of_largest(request.element), request.scales_cast);
}

// 2^(127 - scale) from bits: the exponent field counts down while the scale counts up, except that
// 2^-127 is below the normal range and 255 is NaN.
float reciprocal_of_scale(std::uint8_t scale) {
    const std::uint32_t field = 254u - scale;
    std::uint32_t bits = field << 23;
    if (scale == 254) bits = 0x00400000;
    if (scale == 255) bits = 0x7FFFFFFF;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

void convert_all(const Request& request) {
    kit::for_each_cell(request.values.shape(), [&](Cell cell) {
        const Value value{request.value_type, request.values.read(cell)};
        request.codes.write(cell, convert(value, request.element, request.elements));
    });
}

void cast_to_scales(const Request& request) {
    kit::for_each_cell(request.values.shape(), [&](Cell cell) {
        const float value = to_float({request.value_type, request.values.read(cell)});
        request.scales.write(cell, encode_e8m0(value, request.scales_cast));
    });
}

void encode_scales(const Request& request) {
    kit::for_each_cell(request.values.shape(), [&](Cell cell) {
        const float amax = to_float({request.value_type, request.values.read(cell)});
        request.scales.write(cell, scale_of(amax, request));
    });
}

// Lanes first..end of one block along the request's axis; line is its row, or its column.
struct Block {
    Axis axis;
    std::int64_t line, first, end;
    std::int64_t place;  // among the blocks of the line

    Cell lane(std::int64_t place) const {
        return axis == Axis::row ? Cell{line, place} : Cell{place, line};
    }
    Cell scale() const { return lane(place); }
};

template <typename Action>
void for_each_block(const Request& request, Action&& action) {
    const bool by_row = request.blocks.axis == Axis::row;
    const std::int64_t lines = by_row ? request.values.rows : request.values.columns;
    const std::int64_t length = by_row ? request.values.columns : request.values.rows;
    const std::int64_t size = request.blocks.size;
    for (std::int64_t line = 0; line < lines; ++line) {
        std::int64_t left = length;
        for (std::int64_t place = 0; left > 0; ++place) {
            const std::int64_t first = length - left;
            const std::int64_t lanes = left < size ? left : size;
            action(Block{request.blocks.axis, line, first, first + lanes, place});
            left -= lanes;
        }
    }
}

void quantize(const Request& request) {
    const auto value_at = [&](Cell cell) {
        return to_float({request.value_type, request.values.read(cell)});
    };
    for_each_block(request, [&](const Block& block) {
        // Not fmax: it may answer NaN to a signalling NaN, where the vendor's maximum never does.
        float amax = 0.0f;
        for (std::int64_t place = block.first; place < block.end; ++place) {
            const float magnitude = std::fabs(value_at(block.lane(place)));
            if (magnitude > amax) amax = magnitude;
        }
        const std::uint8_t scale = scale_of(amax, request);
        const float reciprocal = reciprocal_of_scale(scale);
        for (std::int64_t place = block.first; place < block.end; ++place) {
            const Cell cell = block.lane(place);
            const Value scaled = from_float(value_at(cell) * reciprocal, ValueType::f32);
            request.codes.write(cell, convert(scaled, request.element, Conversion{}));
        }
        request.scales.write(block.scale(), scale);
    });
}

void dequantize(const Request& request) {
    for_each_block(request, [&](const Block& block) {
        const auto code = static_cast<std::uint8_t>(request.scales.read(block.scale()));
        const float scale = e8m0_to_float(code);
        for (std::int64_t place = block.first; place < block.end; ++place) {
            const Cell cell = block.lane(place);
            const auto element = static_cast<std::uint8_t>(request.codes.read(cell));
            const float value = element_to_float({request.element, element}) * scale;
            request.values.write(cell, from_float(value, request.value_type).bits);
        }
    });
}

class Nvhost {
public:
    static std::span<const mx_fact> facts() {
        static const std::array known{
            mx_fact{"name", "nvhost"}, mx_fact{"vendor", "NVIDIA"},
            mx_fact{"version", header_version()},
            mx_fact{"notes",
                    "cuda_fp8.h, cuda_fp6.h and cuda_fp4.h compiled for the host; no GPU computes"
                    " anything"}};
        return known;
    }
    static void supports(const kit::Arguments& call) { read_request(call, kit::Buffers::absent); }
    static void run(const kit::Arguments& call) {
        const Request request = read_request(call, kit::Buffers::present);
        switch (request.action) {
            case Action::convert:
                return convert_all(request);
            case Action::cast_to_scale:
                return cast_to_scales(request);
            case Action::encode_scale:
                return encode_scales(request);
            case Action::quantize:
                return quantize(request);
            case Action::dequantize:
                return dequantize(request);
        }
    }
};

}  // namespace
}  // namespace mx::nvhost

const mx_device_api* mx_nvhost_device_api(void) {
    return &mx::kit::Plugin<mx::nvhost::Nvhost>::table;
}
