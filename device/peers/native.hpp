// Functions of a library in C or C++ as a device: tables of casts, of scales of an amax, of block
// quantizers. Used by the plug-ins beside it, which call the library and compute nothing.
//
//     c++ -std=c++20 -shared -fPIC -I. -I LIBRARY/include NAME_plugin.cpp -o NAME.so
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "device/kit/blocks.hpp"
#include "device/peers/plugin.hpp"

namespace mx::peers {

struct Cast {
    std::string_view format, rounding, overflow;  // rounding and overflow "" for E8M0
    std::string_view dialect;
    std::uint32_t (*code)(float);
};

// A cast by codes, for inputs other than binary32 and for bits that no float should pass through.
// Where the rounding is stochastic, `random` has the word of the value, of which it takes its bits.
struct CodeCast {
    std::string_view format, input, rounding, overflow, dialect;
    std::uint32_t (*code)(std::uint32_t value, std::uint32_t random);
};

struct Scale {
    std::string_view format, dialect;
    std::uint32_t (*byte)(float amax);
};

struct Answer {
    std::uint32_t scale;
    std::uint32_t elements[32];
};

struct Quantize {
    std::string_view format, element, dialect;
    Answer (*block)(const float* lanes);
};

struct Library {
    const char *name, *vendor;
    std::span<const Cast> casts;
    std::span<const Scale> scales;
    std::span<const Quantize> quantizers;
    std::span<const CodeCast> code_casts = {};
};

// Writes function(value) for each value.
template <typename Function>
void map(Call& call, std::string_view type, Function function, bool is_asked) {
    const Tensor in = call.input("the values"), out = call.output("the codes");
    call.expect_no_more();
    const Strided values = in.chosen("f32", in.shape());
    const Strided codes = out.implied(type, in.shape());
    if (!is_asked) return;
    for_each_cell(in.shape(), [&](Cell cell) {
        codes.write(cell, function(std::bit_cast<float>(values.read(cell))));
    });
}

inline void map_codes(Call& call, const CodeCast& row, bool is_asked) {
    const Tensor in = call.input("the values");
    const bool has_words = row.rounding.starts_with("stochastic");
    const Strided words =
        has_words ? call.input("the random bits").chosen("u32", in.shape()) : Strided{};
    const Tensor out = call.output("the codes");
    call.expect_no_more();
    const Strided values = in.chosen(row.input, in.shape());
    const Strided codes = out.implied(row.format, in.shape());
    if (!is_asked) return;
    for_each_cell(in.shape(), [&](Cell cell) {
        codes.write(cell, row.code(values.read(cell), has_words ? words.read(cell) : 0));
    });
}

inline void quantize(Call& call, const Quantize& row, bool is_asked) {
    const Blocks blocks = blocks_of(call.operation());
    const bool is_row = blocks.axis == Axis::row;
    if (blocks.axis == Axis::tile || blocks.size != 32)
        not_supported("only blocks of 32 in a line");
    const Tensor in = call.input("the values"), out = call.output("the codes");
    const Tensor scales_out = call.output("the scales");
    call.expect_no_more();
    if ((is_row ? in.shape().columns : in.shape().rows) % 32 != 0)
        not_supported("whole blocks of 32 only");
    const Strided values = in.chosen("f32", in.shape());
    const Strided codes = out.implied(row.element, in.shape());
    const Strided scales = scales_out.implied("e8m0", blocks.grid(in.shape()));
    if (!is_asked) return;
    for_each_cell(scales.shape(), [&](Cell block) {
        const auto lane = [&](std::int64_t i) {
            return is_row ? Cell{block.row, 32 * block.column + i}
                          : Cell{32 * block.row + i, block.column};
        };
        float lanes[32];
        for (std::int64_t i = 0; i < 32; ++i) lanes[i] = std::bit_cast<float>(values.read(lane(i)));
        const Answer made = row.block(lanes);
        scales.write(block, made.scale);
        for (std::int64_t i = 0; i < 32; ++i) codes.write(lane(i), made.elements[i]);
    });
}

template <const Library& library>
struct Device {
    static constexpr mx_fact known_facts[] = {
        {"name", library.name}, {"vendor", library.vendor}, {"version", MX_PEER_SOURCE}};

    std::span<const mx_fact> facts() { return known_facts; }
    void supports(const Arguments& arguments) { answer({arguments, Buffers::absent}, false); }
    void run(const Arguments& arguments) { answer({arguments, Buffers::present}, true); }

    static void answer(Call call, bool is_asked) {
        call.expect_host();
        call.expect_strided();
        const mx_operation& asked = call.operation();
        const auto is = [&](std::string_view format, std::string_view dialect) {
            return text_of(asked.format) == format && text_of(asked.dialect) == dialect;
        };
        const auto name = text_of(asked.name);
        for (const Cast& row : library.casts)
            if (name == "convert" && is(row.format, row.dialect) && is_conversion(asked, row))
                return map(call, row.format, row.code, is_asked);
        for (const CodeCast& row : library.code_casts)
            if (name == "convert" && is(row.format, row.dialect) && is_conversion(asked, row) &&
                type_of_values(call) == row.input)
                return map_codes(call, row, is_asked);
        for (const Scale& row : library.scales)
            if (name == "encode_scale" && is(row.format, row.dialect))
                return map(call, "e8m0", row.byte, is_asked);
        for (const Quantize& row : library.quantizers)
            if (name == "quantize" && is(row.format, row.dialect))
                return quantize(call, row, is_asked);
        not_supported(std::string(library.name) + " is not asked here for " + std::string(name) +
                      " of " + in_double_quotes(asked.format) + " as " +
                      in_double_quotes(asked.dialect));
    }

    static std::string_view type_of_values(const Call& call) {
        const Arguments& arguments = call.arguments();
        return arguments.input_count == 0 ? "" : text_of(arguments.inputs->type);
    }

    template <typename Row>
    static bool is_conversion(const mx_operation& asked, const Row& row) {
        const auto subnormals = text_of(asked.subnormals);
        if (!subnormals.empty() && subnormals != "honoured") return false;
        return row.rounding.empty() ||
               (text_of(asked.rounding) == row.rounding && text_of(asked.overflow) == row.overflow);
    }
};

}  // namespace mx::peers

// The one exported function, for the library of that name.
#define MX_PEER(library) MX_KIT_PLUGIN(mx::peers::Device<library>)
