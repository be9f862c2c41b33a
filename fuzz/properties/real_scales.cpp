// Blocks whose scale has a mantissa: every row of the table that has such, every format and type of
// values, held against the oracle's bits. Ties under every scale, the borders between scales, each
// special value in each place, numbers of the tensor at their edges, and blocks of any codes. The
// device is the built-in "cpu"; with MX_PROPERTY_DEVICE it is the plug-in of that path.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "device/host/device.hpp"
#include "device/host/device_registry.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/spec/gemm.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::fuzz {
namespace {

using Codes = std::vector<std::uint32_t>;
using Blocks = std::vector<Codes>;

Device& device() {
    static auto opened = [] {
        const char* const text = std::getenv("MX_PROPERTY_DEVICE");
        if (text != nullptr) return Device::open(DeviceRegistry().resolve(text).value());
        return Device::open(
            {.name = "cpu", .get_api = [](std::uint32_t) { return mx_cpu_device_api(); }});
    }();
    if (!opened) {
        std::fprintf(stderr, "%s\n", opened.error().message.c_str());
        std::exit(2);
    }
    return opened.value();
}

// One tensor, and how it is to be quantized.
struct Asked {
    Quantizer row;
    BlockFormat format;
    ElementFormat type;
    std::string axis;
    std::int64_t rows = 0, columns = 0;
    Codes values;
    std::string tensor_scale;
    std::uint32_t number = 0;
    Codes random;
};

struct Answer {
    Codes elements, scales;
    std::uint32_t kept = 0;
};

struct Extent {
    std::int64_t rows, columns;
    std::int64_t count() const { return rows * columns; }
};

Extent block_of(const Asked& asked) {
    const BlockFormat& format = asked.format;
    if (format.is_whole_tensor()) return {asked.rows, asked.columns};
    if (asked.axis == "col") return {format.block_columns, 1};
    return {format.block_rows, format.block_columns};
}

Extent grid_of(const Asked& asked) {
    const Extent block = block_of(asked);
    if (asked.axis == "tensor") return {1, 1};
    return {(asked.rows + block.rows - 1) / block.rows,
            (asked.columns + block.columns - 1) / block.columns};
}

// The places of a block's elements, in the order of the blocks' lanes.
std::vector<std::size_t> places_of(const Asked& asked, std::int64_t index) {
    const Extent block = block_of(asked), grid = grid_of(asked);
    const std::int64_t top = index / grid.columns * block.rows;
    const std::int64_t left = index % grid.columns * block.columns;
    std::vector<std::size_t> places;
    for (std::int64_t r = top; r < std::min(top + block.rows, asked.rows); ++r)
        for (std::int64_t c = left; c < std::min(left + block.columns, asked.columns); ++c)
            places.push_back(static_cast<std::size_t>(r * asked.columns + c));
    return places;
}

std::string axis_of(const BlockFormat& format) {
    return format.is_whole_tensor() ? "tensor" : format.block_rows == 1 ? "row" : "tile";
}

Codes rotated(const Asked& asked) {
    Codes values = asked.values;
    if (asked.row.transform == LaneTransform::none) return values;
    for (std::int64_t block = 0; block < grid_of(asked).count(); ++block) {
        fast::Unpacked lanes[16];
        const auto places = places_of(asked, block);
        for (std::size_t i = 0; i < 16; ++i)
            lanes[i] = fast::unpack(asked.type, Code{asked.values[places[i]]});
        for (int to = 0; to < 16; ++to)
            values[places[static_cast<std::size_t>(to)]] =
                fast::round(asked.type, Rounding::nearest_even, Overflow::overflow,
                            fast::rotated_lane(lanes, to))
                    .bits;
    }
    return values;
}

Answer oracle(const Asked& asked) {
    const Codes values = rotated(asked);
    fast::Unpacked number = fast::unpack(formats::f32, Code{asked.number});
    const bool is_history = asked.row.tensor_scale == TensorScale::history;
    if (asked.tensor_scale == "derived")
        number = fast::amax_of(rules_of_tensor_amax(asked.row), asked.type, values.data(),
                               static_cast<std::int64_t>(values.size()));
    const fast::BlockQuestion question{
        asked.row, asked.format, asked.type,
        fast::tensor_numbers(asked.row, asked.format, is_history ? fast::Unpacked{} : number,
                             number)};
    Answer answer{Codes(values.size()), {}, 0};
    answer.kept = fast::f32_code(fast::kept_number(asked.row, question.tensor));
    for (std::int64_t block = 0; block < grid_of(asked).count(); ++block) {
        const auto places = places_of(asked, block);
        Codes lanes;
        std::vector<RandomBits> random;
        for (const std::size_t place : places) {
            lanes.push_back(values[place]);
            if (!asked.random.empty()) random.push_back({asked.random[place] & 0xFF, 8});
        }
        std::vector<std::uint8_t> elements(places.size());
        answer.scales.push_back(fast::quantize(question, lanes.data(),
                                               static_cast<int>(lanes.size()), elements.data(),
                                               random.empty() ? nullptr : random.data())
                                    .bits);
        for (std::size_t i = 0; i < places.size(); ++i) answer.elements[places[i]] = elements[i];
    }
    return answer;
}

std::vector<std::byte> packed(const Codes& codes, std::size_t width) {
    std::vector<std::byte> bytes(std::max<std::size_t>(codes.size() * width, 1));
    for (std::size_t i = 0; i < codes.size(); ++i)
        std::memcpy(bytes.data() + i * width, &codes[i], width);
    return bytes;
}

Codes unpacked(const std::vector<std::byte>& bytes, std::size_t width, std::size_t count) {
    Codes codes(count);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(&codes[i], bytes.data() + i * width, width);
    return codes;
}

std::string scale_type(const BlockFormat& format) {
    return std::string(scale_in_tensors(format).name);
}

Operation operation_of(const Asked& asked, const std::string& name) {
    return {.name = name,
            .format = std::string(asked.format.name),
            .dialect = std::string(asked.row.name),
            .axis = asked.axis,
            .block_size = asked.format.block_columns,
            .tensor_scale = asked.tensor_scale};
}

TensorSpec spec_of(std::string_view type, Extent shape) {
    return dense(type, shape.rows, shape.columns);
}

// A tensor with its bytes.
struct Bytes {
    TensorSpec spec;
    std::vector<std::byte> data;
};
Bytes filled(const TensorSpec& spec, const Codes& codes) {
    return {spec, packed(codes, element_width(spec.type))};
}
Bytes empty(const TensorSpec& spec) {
    return filled(spec, Codes(static_cast<std::size_t>(spec.rows * spec.columns), 0xA5A5A5A5));
}

bool run(const Operation& operation, std::vector<Bytes>& inputs, std::vector<Bytes>& outputs) {
    TensorBuffers buffers;
    for (Bytes& input : inputs) buffers.inputs.push_back({input.spec, input.data.data()});
    for (Bytes& output : outputs) buffers.outputs.push_back({output.spec, output.data.data()});
    const CallResult result = device().run(operation, buffers);
    EXPECT_EQ(result.status, MX_OK)
        << operation.dialect << " " << operation.format << ": " << result.message;
    return result.status == MX_OK;
}

Codes codes_in(const Bytes& bytes) {
    return unpacked(bytes.data, element_width(bytes.spec.type),
                    static_cast<std::size_t>(bytes.spec.rows * bytes.spec.columns));
}

Answer answer_of(const Asked& asked) {
    const Extent shape{asked.rows, asked.columns};
    std::vector<Bytes> inputs{filled(spec_of(asked.type.name, shape), asked.values)};
    if (asked.tensor_scale == "given")
        inputs.push_back(filled(spec_of("f32", {1, 1}), {asked.number}));
    if (!asked.random.empty()) inputs.push_back(filled(spec_of("u32", shape), asked.random));
    std::vector<Bytes> outputs{empty(spec_of(asked.format.element().name, shape)),
                               empty(spec_of(scale_type(asked.format), grid_of(asked)))};
    if (!asked.tensor_scale.empty()) outputs.push_back(empty(spec_of("f32", {1, 1})));
    if (!run(operation_of(asked, "quantize"), inputs, outputs)) return {};
    return {codes_in(outputs[0]), codes_in(outputs[1]),
            asked.tensor_scale.empty() ? 0x3F800000 : codes_in(outputs[2])[0]};
}

// The same bits, or both NaN.
bool is_same(const ElementFormat& format, std::uint32_t left, std::uint32_t right) {
    return left == right || (format.is_nan(Code{left}) && format.is_nan(Code{right}));
}

std::string shown(const Asked& asked, std::int64_t block) {
    char hex[32];
    std::snprintf(hex, sizeof hex, "%08x", asked.number);
    std::string text = std::string(asked.row.name) + " " + std::string(asked.format.name) + " " +
                       std::string(asked.type.name) + " axis " + asked.axis + " " +
                       asked.tensor_scale + " " + hex + " block " + std::to_string(block) + ":";
    for (const std::size_t place : places_of(asked, block)) {
        std::snprintf(hex, sizeof hex, " %x", asked.values[place]);
        text += hex;
    }
    return text;
}

// Compares every bit; a failure shows the first block that differs.
void judge(const Asked& asked) {
    const Answer expected = oracle(asked), actual = answer_of(asked);
    ASSERT_EQ(actual.elements.size(), expected.elements.size());
    ASSERT_EQ(actual.scales.size(), expected.scales.size());
    ASSERT_TRUE(is_same(formats::f32, actual.kept, expected.kept))
        << shown(asked, 0) << std::hex << ": kept " << actual.kept << ", not " << expected.kept;
    for (std::int64_t block = 0; block < grid_of(asked).count(); ++block) {
        const auto at = static_cast<std::size_t>(block);
        ASSERT_TRUE(is_same(asked.format.scale(), actual.scales[at], expected.scales[at]))
            << shown(asked, block) << std::hex << ": scale " << actual.scales[at] << ", not "
            << expected.scales[at];
        for (const std::size_t place : places_of(asked, block))
            ASSERT_EQ(actual.elements[place], expected.elements[place])
                << shown(asked, block) << ": element " << place;
    }
}

float float_of(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}
float float_of(const fast::Unpacked& value) {
    return float_of(fast::f32_code(value));
}
float value_of(const ElementFormat& format, std::uint32_t code) {
    return float_of(fast::unpack(format, Code{code}));
}

std::uint32_t code_of(const ElementFormat& type, float x) {
    return fast::round(type, Rounding::nearest_even, Overflow::saturate,
                       fast::unpack(formats::f32, Code{std::bit_cast<std::uint32_t>(x)}))
        .bits;
}

// One row with a format and a type of values that go together.
struct Setting {
    Quantizer row;
    BlockFormat format;
    ElementFormat type;

    std::size_t lanes() const {
        return format.is_whole_tensor()
                   ? 64
                   : static_cast<std::size_t>(format.block_rows * format.block_columns);
    }
    bool has_number() const { return row.tensor_scale != TensorScale::none; }
};

void for_each_setting(const std::function<void(const Setting&)>& action) {
    for (const Quantizer& row : real_scale_quantizers)
        for (const BlockFormat& format : real_scale_formats)
            for (const std::string_view type : input_types)
                if (row.is_known() && row.quantizes(format) && row.reads(type))
                    action({row, format, *find_element_format(type)});
}

std::vector<std::uint32_t> numbers_for(const Setting& s, std::mt19937& engine) {
    if (!s.has_number()) return {0};
    std::vector<std::uint32_t> numbers{0,          1,          0x7FFFFF,   0x800000,
                                       0x3F800000, 0x45280000, 0x7F7FFFFF, 0x7F800000,
                                       0x7FC00000, 0x42C80000, 0x38D1B717, 0x4B123456};
    for (int i = 0; i < 4; ++i) numbers.push_back(static_cast<std::uint32_t>(engine()) >> 1);
    return numbers;
}

// Stacks blocks to one tensor; where the tensor is the block, each is a tensor of its own.
std::vector<Asked> asked_of(const Setting& s, std::uint32_t number, const Blocks& blocks,
                            std::mt19937& engine) {
    Asked asked{s.row,  s.format,
                s.type, axis_of(s.format),
                0,      s.format.is_whole_tensor() ? 8 : s.format.block_columns,
                {},     s.has_number() ? "given" : "",
                number, {}};
    const std::int64_t rows_each = static_cast<std::int64_t>(s.lanes()) / asked.columns;
    std::vector<Asked> all;
    for (const Codes& block : blocks) {
        asked.rows += rows_each;
        asked.values.insert(asked.values.end(), block.begin(), block.end());
        if (s.row.element_rounding == Rounding::stochastic)
            for (std::size_t i = 0; i < block.size(); ++i)
                asked.random.push_back(static_cast<std::uint32_t>(engine()));
        if (!s.format.is_whole_tensor()) continue;
        all.push_back(asked);
        asked.rows = 0;
        asked.values.clear();
    }
    if (!s.format.is_whole_tensor()) all.push_back(asked);
    return all;
}

void judge_blocks(const Setting& s, std::uint32_t number, const Blocks& blocks,
                  std::mt19937& engine) {
    for (const Asked& asked : asked_of(s, number, blocks, engine)) {
        judge(asked);
        if (testing::Test::HasFatalFailure()) return;
    }
}

// For every setting and number the blocks that `make` gives.
using Make = std::function<Blocks(const Setting&, std::uint32_t number, std::mt19937&)>;
void judge_all(const Make& make) {
    std::mt19937 engine(16);
    for_each_setting([&](const Setting& s) {
        for (const std::uint32_t number : numbers_for(s, engine)) {
            judge_blocks(s, number, make(s, number, engine), engine);
            if (testing::Test::HasFatalFailure()) {
                ADD_FAILURE() << s.row.name << ": the other numbers are not asked";
                return;
            }
        }
    });
}

// The amax whose ratio is about `ratio`: every rule divides by the largest element, and some by or
// times S.
float amax_for(const Setting& s, std::uint32_t number, float ratio) {
    const fast::Unpacked given = fast::unpack(formats::f32, Code{number});
    const float scale = float_of(fast::tensor_numbers(s.row, s.format, given, given).scale);
    const float largest = float_of(fast::largest_of(s.format.element()));
    switch (s.row.scale_ratio) {
        case ScaleRatio::divided_over_tensor:
        case ScaleRatio::over_tensor_divided:
        case ScaleRatio::times_reciprocal_over_tensor:
            return ratio * scale * largest;
        case ScaleRatio::divided_times_tensor:
        case ScaleRatio::times_scaled_tensor:
            return ratio / scale * largest;
        case ScaleRatio::tensor:
            return largest / scale;
        default:
            return ratio * largest;
    }
}

// Scales that a block may have, and the numbers half way between two; as ratios.
std::vector<float> ratios_of(const Setting& s, std::mt19937& engine) {
    std::vector<float> ratios;
    const ElementFormat& scale = s.format.scale();
    if (scale.code_bits() == 8) {
        for (std::uint32_t code = 0; code < scale.code_max_finite(); ++code) {
            const float low = value_of(scale, code);
            const float high = value_of(scale, code + 1);
            ratios.insert(ratios.end(), {high, low / 2 + high / 2});
        }
    } else {
        ratios = {1, 1.5f, 0x1p-100f, 0x1p100f, 0x1.fffffep-126f, 0x1p-130f};
        for (int i = 0; i < 10; ++i)
            ratios.push_back(float_of(static_cast<std::uint32_t>(engine()) >> 1));
    }
    return ratios;
}

// The border between each two elements, under every scale, with the codes beside it; each block
// begins with its amax, and with a code beside that.
Blocks blocks_of_ties(const Setting& s, std::uint32_t number, std::mt19937& engine) {
    const ElementFormat& element = s.format.element();
    const float largest = float_of(fast::largest_of(element));
    Blocks blocks;
    for (const float ratio : ratios_of(s, engine)) {
        const float amax = amax_for(s, number, ratio);
        const std::uint32_t first =
            code_of(s.type, amax) + static_cast<std::uint32_t>(engine() % 3) - 1;
        Codes block{first & s.type.code_magnitude_mask()};
        for (std::uint32_t code = 0; code < element.code_max_finite(); ++code) {
            const float tie = (value_of(element, code) + value_of(element, code + 1)) / 2;
            const std::uint32_t near = code_of(s.type, tie / largest * amax);
            for (const std::uint32_t lane : {near - 1, near, near + 1}) {
                const std::uint32_t sign = (engine() & 1) != 0 ? s.type.code_sign_mask() : 0;
                block.push_back((lane & s.type.code_magnitude_mask()) | sign);
                if (block.size() < s.lanes()) continue;
                blocks.push_back(block);
                block.resize(1);
            }
        }
        block.resize(s.lanes());
        blocks.push_back(block);
    }
    if (s.lanes() > 1024 && blocks.size() > 16) blocks.resize(16);
    return blocks;
}

// Around 2^`middle`, or any code.
std::uint32_t random_code(const ElementFormat& type, int middle, std::mt19937& engine) {
    const auto bits = static_cast<std::uint32_t>(engine());
    const std::uint32_t sign = (bits & 1) != 0 ? type.code_sign_mask() : 0;
    const int spread = static_cast<int>(engine() % 9) - 6;
    const int field = std::clamp(middle + spread, 0, (1 << type.exponent_bits) - 2);
    const std::uint32_t mantissa = (bits >> 8) & ((1u << type.mantissa_bits) - 1);
    return sign | static_cast<std::uint32_t>(field) << type.mantissa_bits | mantissa;
}

Blocks random_blocks(const Setting& s, std::size_t elements, std::mt19937& engine) {
    Blocks blocks;
    const std::uint32_t whole = s.type.code_sign_mask() | s.type.code_magnitude_mask();
    for (std::size_t done = 0; done < elements; done += s.lanes()) {
        const int middle = static_cast<int>(engine() % (1u << s.type.exponent_bits));
        const bool any = engine() % 8 == 0;
        Codes block;
        for (std::size_t i = 0; i < s.lanes(); ++i)
            block.push_back(any ? static_cast<std::uint32_t>(engine()) & whole
                                : random_code(s.type, middle, engine));
        blocks.push_back(block);
    }
    return blocks;
}

// Each special value in each place of a block of numbers, and in all of them.
Blocks special_blocks(const Setting& s, std::mt19937& engine) {
    const ElementFormat& type = s.type;
    const std::uint32_t sign = type.code_sign_mask(), infinity = type.code_infinity();
    const std::uint32_t specials[] = {
        infinity + 1, (infinity + 1) | sign, infinity,       infinity | sign, 0, sign, 1, 1 | sign,
        infinity - 1, (infinity - 1) | sign, type.code_nan()};
    Blocks blocks;
    const std::size_t step = s.lanes() > 256 ? 4099 : s.lanes() > 128 ? 37 : 1;
    for (const std::uint32_t special : specials) {
        blocks.push_back(Codes(s.lanes(), special));
        for (std::size_t place = 0; place < s.lanes(); place += step) {
            Codes block = random_blocks(s, 1, engine).front();
            block[place] = special;
            blocks.push_back(block);
            block.assign(s.lanes(), sign);
            block[place] = special;
            blocks.push_back(block);
        }
    }
    return blocks;
}

TEST(RealScales, TiesUnderEveryScale) {
    judge_all(blocks_of_ties);
}

TEST(RealScales, EachSpecialValueInEachPlace) {
    judge_all([](const Setting& s, std::uint32_t, std::mt19937& engine) {
        return special_blocks(s, engine);
    });
}

// MX_PROPERTY_ELEMENTS of them for each number, where that is given.
TEST(RealScales, RandomBlocks) {
    const char* const text = std::getenv("MX_PROPERTY_ELEMENTS");
    const std::size_t given = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
    judge_all([&](const Setting& s, std::uint32_t, std::mt19937& engine) {
        const std::size_t count = given != 0 ? given : s.has_number() ? 4000 : 40000;
        return random_blocks(s, count, engine);
    });
}

// The amax found by the device; shapes that end within a block; columns.
TEST(RealScales, TensorsOfAnyShape) {
    std::mt19937 engine(17);
    for_each_setting([&](const Setting& s) {
        const bool is_line = axis_of(s.format) == "row";
        const bool rotates = s.row.transform != LaneTransform::none;
        for (int i = 0; i < (s.lanes() > 256 ? 8 : 60); ++i) {
            Asked asked{s.row, s.format, s.type, axis_of(s.format), 0, 0, {}, "", 0, {}};
            if (is_line && i % 2 == 1) asked.axis = "col";
            const std::int64_t longest = s.lanes() > 256 ? 200 : 40;
            asked.rows = static_cast<std::int64_t>(engine()) % longest;
            asked.columns = static_cast<std::int64_t>(engine()) % longest;
            if (rotates) (asked.axis == "row" ? asked.columns : asked.rows) &= ~15;
            const bool is_history = s.row.tensor_scale == TensorScale::history;
            if (s.has_number()) asked.tensor_scale = is_history ? "given" : "derived";
            asked.number = static_cast<std::uint32_t>(engine());
            const int middle = static_cast<int>(engine() % (1u << s.type.exponent_bits));
            for (std::int64_t place = 0; place < asked.rows * asked.columns; ++place) {
                asked.values.push_back(random_code(s.type, middle, engine));
                if (s.row.element_rounding == Rounding::stochastic)
                    asked.random.push_back(static_cast<std::uint32_t>(engine()));
            }
            // An empty tensor has no element that could be random.
            const bool is_empty = asked.values.empty();
            if (is_empty && s.row.element_rounding == Rounding::stochastic) continue;
            if (i == 0 && !is_empty) asked.values[0] = s.type.code_infinity();
            if (i == 2 && !is_empty) asked.values.back() = s.type.code_nan();
            judge(asked);
            if (testing::Test::HasFatalFailure()) return;
        }
    });
}

// Sums of three powers of two, of which the third decides where the first two lie half way between
// two bfloat16: the amax that is kept shows every bit. Each sign comes with each other, or the
// third follows from the first two.
TEST(RealScales, WhatARotationRounds) {
    std::mt19937 engine(19);
    for_each_setting([&](const Setting& s) {
        if (s.row.transform == LaneTransform::none) return;
        for (int i = 0; i < 4000; ++i) {
            Asked asked{s.row, s.format, s.type, "row", 1, 16, Codes(16), "derived", 0, {}};
            const std::size_t first = engine() % 16, second = engine() % 16;
            const std::size_t third = i % 2 == 0 ? first ^ second : engine() % 16;
            const int top = 70 + static_cast<int>(engine() % 184);
            const int places[] = {top, top - 8,
                                  std::max(top - 9 - static_cast<int>(engine() % 80), 1)};
            const std::size_t lanes[] = {first, second, third};
            for (std::size_t term = 0; term < 3; ++term)
                asked.values[lanes[term]] = static_cast<std::uint32_t>(places[term]) << 7 |
                                            (static_cast<std::uint32_t>(engine()) & 0x8000);
            judge(asked);
            if (testing::Test::HasFatalFailure()) return;
        }
    });
}

// Every code under every scale byte, or under scales of binary32 of all kinds; every number kept.
void judge_way_back(const Setting& s, const ElementFormat& output, std::uint32_t kept,
                    const Codes& scales) {
    Asked asked{s.row, s.format, s.type, axis_of(s.format), 0, 0, {}, "", kept, {}};
    if (s.has_number()) asked.tensor_scale = "given";
    asked.columns = s.format.is_whole_tensor() ? 16 : s.format.block_columns;
    const bool is_line = asked.axis == "row";
    const std::int64_t rows_each = is_line ? 1 : asked.columns;
    asked.rows = rows_each * static_cast<std::int64_t>(scales.size());
    Codes codes;
    const std::uint32_t mask =
        s.format.element().code_sign_mask() | s.format.element().code_magnitude_mask();
    for (std::int64_t i = 0; i < asked.rows * asked.columns; ++i)
        codes.push_back(static_cast<std::uint32_t>(i * 7 + i / asked.columns) & mask);
    const Extent shape{asked.rows, asked.columns};
    std::vector<Bytes> inputs{filled(spec_of(s.format.element().name, shape), codes),
                              filled(spec_of(scale_type(s.format), grid_of(asked)), scales)};
    if (s.has_number()) inputs.push_back(filled(spec_of("f32", {1, 1}), {kept}));
    std::vector<Bytes> outputs{empty(spec_of(output.name, shape))};
    ASSERT_TRUE(run(operation_of(asked, "dequantize"), inputs, outputs));
    const Codes actual = codes_in(outputs[0]);
    const fast::DequantizeQuestion question{s.row, s.format, output,
                                            fast::unpack(formats::f32, Code{kept})};
    for (std::int64_t block = 0; block < grid_of(asked).count(); ++block)
        for (const std::size_t place : places_of(asked, block)) {
            const Code scale{scales[static_cast<std::size_t>(block)]};
            const Code expected = fast::dequantize(question, {scale, Code{codes[place]}});
            ASSERT_TRUE(is_same(output, actual[place], expected.bits))
                << s.row.name << " " << s.format.name << " to " << output.name << std::hex
                << " kept " << kept << " scale " << scale.bits << " element " << codes[place]
                << ": " << actual[place] << ", not " << expected.bits;
        }
}

TEST(RealScales, TheWayBack) {
    std::mt19937 engine(18);
    for_each_setting([&](const Setting& s) {
        if (s.type != formats::f32 && s.row.reads("f32")) return;  // the input does not count
        Codes scales;
        for (std::uint32_t i = 0; i < 256; ++i)
            scales.push_back(s.format.scale().code_bits() == 8
                                 ? i
                                 : static_cast<std::uint32_t>(engine()) >> (i % 2));
        if (scale_type(s.format) == "f32")
            std::ranges::copy(Codes{0, 1, 0x7FFFFF, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001,
                                    0x7FC00000, 0x80000000},
                              scales.begin());
        if (s.lanes() > 256) scales.resize(20);
        for (const std::uint32_t kept : numbers_for(s, engine))
            for (const std::string_view type : input_types) {
                const ElementFormat& output = *find_element_format(type);
                if (s.format.is_whole_tensor())
                    for (const std::uint32_t scale : scales)
                        judge_way_back(s, output, kept, {scale});
                else
                    judge_way_back(s, output, kept, scales);
                if (testing::Test::HasFatalFailure()) return;
            }
    });
}

}  // namespace
}  // namespace mx::fuzz
