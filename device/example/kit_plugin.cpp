// The device of minimal_plugin.c in C++, on the kit: copy it and put a call of your own quantizer
// into quantize_block. Build: c++ -std=c++20 -shared -fPIC -I<include folder> kit_plugin.cpp
#include <bit>
#include <cmath>

#include "device/kit/blocks.hpp"
#include "device/kit/plugin.hpp"

using namespace mx::kit;

struct Request {
    Strided values, codes, scales;
};

// To nearest, ties to even, clamped to 448. Below 2^-6 the unit stays that of 2^-6.
static std::uint32_t encode_e4m3(float value) {
    const int exponent = std::max(std::ilogb(value), -6);
    const float units = std::nearbyint(std::ldexp(std::fabs(value), 3 - exponent));
    const int code = std::min((exponent + 6) * 8 + static_cast<int>(units), 0x7E);
    return static_cast<std::uint32_t>(code) | (std::signbit(value) ? 0x80u : 0u);
}

static void quantize_block(const Request& request, Cell block) {
    const auto [values, codes, scales] = request;
    const std::int64_t first = block.column * 32, end = std::min(first + 32, values.columns);
    std::uint32_t amax = 0;  // as bits: infinity and NaN are the largest
    for (Cell lane{block.row, first}; lane.column < end; ++lane.column)
        amax = std::max(amax, values.read(lane) & 0x7FFFFFFF);
    const int scale = amax >> 23 == 255 ? 255 : std::max(static_cast<int>(amax >> 23) - 8, 0);
    scales.write(block, static_cast<std::uint32_t>(scale));
    for (Cell lane{block.row, first}; lane.column < end; ++lane.column) {
        const float scaled = std::ldexp(std::bit_cast<float>(values.read(lane)), 127 - scale);
        codes.write(lane, scale == 255 ? 0x7F : encode_e4m3(scaled));
    }
}

struct Device {
    static constexpr mx_fact known_facts[] = {{"name", "kit example"}, {"version", "1"}};

    std::span<const mx_fact> facts() { return known_facts; }
    void supports(const Arguments& arguments) { read({arguments, Buffers::absent}); }
    void run(const Arguments& arguments) {
        const Request request = read({arguments, Buffers::present});
        for_each_cell(request.scales.shape(), [&](Cell block) { quantize_block(request, block); });
    }
    static Request read(Call call) {
        call.expect_host();
        call.expect_strided();
        call.expect_names("quantize", "mxfp8-e4m3", "ocp");
        const Blocks blocks = blocks_of(call.operation());
        if (blocks.axis != Axis::row || blocks.size != 32) not_supported("only blocks of 1x32");
        const Tensor in = call.input("the values"), codes = call.output("the codes");
        const Tensor scales = call.output("the scales");
        call.expect_no_more();
        return {in.chosen("f32", in.shape()), codes.implied("e4m3", in.shape()),
                scales.implied("e8m0", blocks.grid(in.shape()))};
    }
};
MX_KIT_PLUGIN(Device)
