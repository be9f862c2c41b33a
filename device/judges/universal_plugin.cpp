// Universal's MX blocks and its e8m0 as a device: a plug-in, for the library is headers alone.
// Bytes go in, mxblock::quantize or e8m0's constructor is called, bits come out; nothing is
// computed here.
//
//     c++ -std=c++20 -shared -fPIC -I. -I LIBRARY/include/sw universal_plugin.cpp -o universal.so
//
//     mxcheck run --device ./universal.so --suite-file device/judges/universal.suite
#include <bit>

#include <universal/number/microfloat/microfloat.hpp>
#include <universal/number/mxfloat/mxfloat.hpp>

#include "device/kit/blocks.hpp"
#include "device/kit/plugin.hpp"

using namespace mx::kit;

struct Answer {
    std::uint32_t scale;
    std::uint32_t elements[32];
};

template <typename Block>
static Answer quantized(const float* lanes) {
    Block block;
    block.quantize(lanes, 32);
    Answer answer{block.scale().bits(), {}};
    for (std::size_t i = 0; i < 32; ++i) answer.elements[i] = block.element(i).bits();
    return answer;
}

struct Format {
    const char* element;
    Answer (*quantize)(const float* lanes);
};

constexpr Named<Format> formats[] = {
    {"mxfp8-e4m3", {"e4m3", quantized<sw::universal::mxfp8>}},
    {"mxfp8-e5m2", {"e5m2", quantized<sw::universal::mxfp8e5m2>}},
    {"mxfp6-e3m2", {"e3m2", quantized<sw::universal::mxfp6>}},
    {"mxfp6-e2m3", {"e2m3", quantized<sw::universal::mxfp6e2m3>}},
    {"mxfp4-e2m1", {"e2m1", quantized<sw::universal::mxfp4>}},
};

struct Device {
    static constexpr mx_fact known_facts[] = {{"name", "Universal"},
                                              {"vendor", "Stillwater Supercomputing"}};

    std::span<const mx_fact> facts() { return known_facts; }
    void supports(const Arguments& arguments) { answer({arguments, Buffers::absent}, false); }
    void run(const Arguments& arguments) { answer({arguments, Buffers::present}, true); }

    static void answer(Call call, bool is_asked) {
        call.expect_host();
        call.expect_strided();
        if (std::string_view(call.operation().name) == "convert")
            cast(call, is_asked);
        else
            quantize(call, is_asked);
    }

    static void cast(Call& call, bool is_asked) {
        call.expect_names("convert", "e8m0", "universal-e8m0");
        const Tensor in = call.input("the values"), out = call.output("the codes");
        call.expect_no_more();
        const Strided values = in.chosen("f32", in.shape());
        const Strided codes = out.implied("e8m0", in.shape());
        if (!is_asked) return;
        for_each_cell(in.shape(), [&](Cell cell) {
            const sw::universal::e8m0 scale(std::bit_cast<float>(values.read(cell)));
            codes.write(cell, scale.bits());
        });
    }

    static void quantize(Call& call, bool is_asked) {
        const Format format = choose(formats, call.operation().format, "format");
        call.expect_names("quantize", call.operation().format, "universal");
        const Blocks blocks = blocks_of(call.operation());
        if (blocks.axis != Axis::row || blocks.size != 32) not_supported("only blocks of 1x32");
        const Tensor in = call.input("the values"), out = call.output("the codes");
        const Tensor scales_out = call.output("the scales");
        call.expect_no_more();
        if (in.shape().columns % 32 != 0) not_supported("whole blocks only");
        const Strided values = in.chosen("f32", in.shape());
        const Strided codes = out.implied(format.element, in.shape());
        const Strided scales = scales_out.implied("e8m0", blocks.grid(in.shape()));
        if (!is_asked) return;
        for_each_cell(scales.shape(), [&](Cell block) {
            float lanes[32];
            const std::int64_t first = block.column * 32;
            for (std::int64_t i = 0; i < 32; ++i)
                lanes[i] = std::bit_cast<float>(values.read({block.row, first + i}));
            const Answer made = format.quantize(lanes);
            scales.write(block, made.scale);
            for (std::int64_t i = 0; i < 32; ++i)
                codes.write({block.row, first + i}, made.elements[i]);
        });
    }
};
MX_KIT_PLUGIN(Device)
