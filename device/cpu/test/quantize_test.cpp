// Quantizing: the scalar arithmetic against doubles, then every instruction set against the scalar
// arithmetic, over all tails, both axes, odd pointers and strides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {
namespace {

// Equal bytes everywhere, poison between and around the rows included.
void expect_same(const Quantized& expected, const Quantized& actual, const std::string& where) {
    ASSERT_EQ(expected.scales.bytes, actual.scales.bytes) << where;
    ASSERT_EQ(expected.codes.bytes, actual.codes.bytes) << where;
}

// Every target is compared with the last: SCALAR, or what a Highway later than 1.0.3 begins at.
void expect_targets_agree(Tensor& values, const mx_operation& operation) {
    std::vector<Quantized> outcomes;
    std::vector<std::string> targets;
    const std::vector<unsigned char> before = values.bytes;
    on_every_target([&](const std::string& target) {
        outcomes.push_back(quantize(values, operation));
        targets.push_back(target);
    });
    ASSERT_FALSE(targets.empty());
    ASSERT_EQ(values.bytes, before) << "the input was written";
    for (std::size_t i = 0; i + 1 < outcomes.size(); ++i) {
        const std::string where = targets[i] + " " + values.type + " " + operation.format + " " +
                                  operation.dialect + " " + operation.axis + " " +
                                  std::to_string(values.rows) + "x" +
                                  std::to_string(values.columns);
        expect_same(outcomes.back(), outcomes[i], where);
    }
}

void expect_targets_agree_everywhere(Tensor& values) {
    for (const char* format : format_names)
        for (const char* dialect : dialect_names)
            for (const char* axis : {"row", "col"})
                if (quantizes(dialect, format))
                    expect_targets_agree(values, operation_of("quantize", format, dialect, axis));
}

// A magnitude in doubles, where it is exact, rounded to the grid of its binade.
double rounded_element(double scaled, const ElementFacts& facts) {
    const double largest = magnitude_value(facts, facts.code_max);
    if (scaled == 0) return 0;
    const int lowest = is_integer(facts) ? 1 : 1 - facts.bias;
    const int binade = std::max(std::ilogb(scaled), lowest);
    const double unit = std::ldexp(1.0, binade - facts.mantissa_bits);
    return std::min(std::nearbyint(scaled / unit) * unit, largest);
}

// Each block of `operation`, its lanes laid in one row of 32 at a time beside its largest value.
void expect_same_as_single_rows(Tensor& values, const mx_operation& operation) {
    Quantized out = quantize(values, operation);
    const std::string_view axis = operation.axis;
    const std::int64_t down = axis == "row" ? 1 : operation.block_size;
    const std::int64_t across = axis == "col" ? 1 : operation.block_size;
    const mx_operation row = operation_of("quantize", operation.format, operation.dialect, "row");
    for (std::int64_t top = 0; top < values.rows; top += down) {
        for (std::int64_t left = 0; left < values.columns; left += across) {
            std::vector<std::pair<std::int64_t, std::int64_t>> cells;
            std::uint32_t largest = 0;
            for (std::int64_t r = top; r < std::min(top + down, values.rows); ++r)
                for (std::int64_t c = left; c < std::min(left + across, values.columns); ++c) {
                    const std::uint32_t magnitude = values.bits(r, c) & 0x7FFFFFFFu;
                    if (magnitude <= 0x7F800000u) largest = std::max(largest, magnitude);
                    cells.emplace_back(r, c);
                }
            Tensor copy("f32", 1, static_cast<std::int64_t>((cells.size() + 30) / 31 * 32));
            copy.fill([&] { return largest; });
            const auto place = [](std::size_t i) {
                return static_cast<std::int64_t>(i / 31 * 32 + i % 31);
            };
            for (std::size_t i = 0; i < cells.size(); ++i)
                copy.set_bits(0, place(i), values.bits(cells[i].first, cells[i].second));
            Quantized expected = quantize(copy, row);
            ASSERT_EQ(out.scales.bits(top / down, left / across), expected.scales.bits(0, 0));
            for (std::size_t i = 0; i < cells.size(); ++i)
                ASSERT_EQ(out.codes.bits(cells[i].first, cells[i].second),
                          expected.codes.bits(0, place(i)))
                    << axis << " " << operation.format << " " << operation.block_size;
        }
    }
}

TEST(Quantize, ElementsAreTheValueOverTheScaleRoundedOnce) {
    for (const char* format : format_names) {
        const ElementFacts& facts = facts_of(element_of(format));
        Tensor values("f32", 1, 32 * 4096);
        auto next = random_bits(11);
        for (std::int64_t block = 0; block < 4096; ++block) {
            // One binade of amax per block, from subnormal to the largest; elements spread below
            // it.
            const std::uint32_t top = static_cast<std::uint32_t>(block % 255);
            for (std::int64_t i = 0; i < 32; ++i) {
                const std::uint32_t bits = next();
                const std::uint32_t field = top - std::min(top, bits % 20);
                values.set_bits(0, block * 32 + i, (bits & 0x807FFFFFu) | field << 23);
            }
        }
        on_every_target([&](const std::string& target) {
            Quantized out = quantize(values, operation_of("quantize", format, "nv", "row"));
            for (std::int64_t i = 0; i < values.columns; ++i) {
                const double value = double{float_of(values.bits(0, i))};
                const int k = static_cast<int>(out.scales.bits(0, i / 32)) - 127;
                const std::uint32_t code = out.codes.bits(0, i);
                const double expected = rounded_element(std::fabs(std::ldexp(value, -k)), facts);
                ASSERT_EQ(element_value(facts, code), std::copysign(expected, value))
                    << target << " " << format << " lane " << i;
                const bool keeps_sign = !is_integer(facts) || expected != 0;
                ASSERT_EQ((code & facts.sign) != 0, keeps_sign && std::signbit(value));
            }
        });
    }
}

// All bfloat16 patterns, 31 to a block, beside a lane that sets the least amax.
TEST(Quantize, EveryBfloat16PatternUnderSeveralScales) {
    for (const std::uint32_t lead : {0u, 1u, 0x0100u, 0x1400u, 0x3F80u, 0x43E0u, 0x7F00u}) {
        Tensor values("bf16", 1, 32 * 2115);
        std::uint32_t pattern = 0;
        for (std::int64_t i = 0; i < values.columns; ++i) {
            values.set_bits(0, i, i % 32 == 5 ? lead : pattern++ & 0xFFFFu);
        }
        for (const char* format : format_names)
            for (const char* dialect : dialect_names)
                if (quantizes(dialect, format))
                    expect_targets_agree(values, operation_of("quantize", format, dialect, "row"));
    }
}

TEST(Quantize, RandomBitsOfEveryType) {
    for (const char* type : value_type_names) {
        Tensor values(type, 70, 64 * 3 + 45, 1, 3);
        values.fill(random_bits(21));
        expect_targets_agree_everywhere(values);
    }
}

TEST(Quantize, SubnormalsOfEveryType) {
    for (const char* type : value_type_names) {
        Tensor values(type, 64, 256);
        values.fill(subnormal_bits(22, type));
        expect_targets_agree_everywhere(values);
    }
}

// Finite, low and special blocks side by side in one vector of blocks.
TEST(Quantize, KindsOfBlocksMixed) {
    Tensor values("f32", 96, 256);
    auto next = random_bits(23);
    for (std::int64_t row = 0; row < values.rows; ++row) {
        for (std::int64_t column = 0; column < values.columns; ++column) {
            const std::uint32_t kind = static_cast<std::uint32_t>(row / 8 + column / 32) % 5;
            const std::uint32_t bits = next();
            const std::uint32_t normal = (bits & 0x83FFFFFFu) + 0x3C000000u;
            std::uint32_t value = kind == 0 ? normal : kind == 1 ? bits & 0x807FFFFFu : 0;
            if (kind == 3) value = column % 32 == 7 ? 0x7F800000u | (bits & 0x80000000u) : normal;
            if (kind == 4) value = bits % 9 == 0 ? 0x7FC00000u | (bits & 0x803FFFFFu) : normal;
            values.set_bits(row, column, value);
        }
    }
    expect_targets_agree_everywhere(values);
}

TEST(Quantize, EveryTail) {
    for (std::int64_t tail = 1; tail < 32; ++tail) {
        for (const std::int64_t whole : {0, 1, 3, 17}) {
            Tensor wide("f32", 3, whole * 32 + tail, tail % 4, tail % 3);
            wide.fill(random_bits(static_cast<std::uint32_t>(31 + tail)));
            Tensor tall("bf16", whole * 32 + tail, 65 + tail, tail % 4, tail % 3);
            tall.fill(random_bits(static_cast<std::uint32_t>(131 + tail)));
            for (const char* axis : {"row", "col"}) {
                expect_targets_agree(wide, operation_of("quantize", "mxfp8-e4m3", "nv", axis));
                expect_targets_agree(tall, operation_of("quantize", "mxfp8-e5m2", "ocp", axis));
            }
        }
    }
}

// The bytes of rows quantized along columns are those of the transposed tensor along rows.
TEST(Quantize, AxesAreTransposesOfEachOther) {
    Tensor values("f32", 75, 130, 0, 5);
    values.fill(random_bits(41));
    Tensor turned("f32", 130, 75, 0, 2);
    for (std::int64_t row = 0; row < 75; ++row)
        for (std::int64_t column = 0; column < 130; ++column)
            turned.set_bits(column, row, values.bits(row, column));
    on_every_target([&](const std::string& target) {
        Quantized a = quantize(values, operation_of("quantize", "mxfp8-e4m3", "nv", "col"));
        Quantized b = quantize(turned, operation_of("quantize", "mxfp8-e4m3", "nv", "row"));
        for (std::int64_t row = 0; row < 75; ++row)
            for (std::int64_t column = 0; column < 130; ++column) {
                ASSERT_EQ(a.codes.bits(row, column), b.codes.bits(column, row)) << target;
                ASSERT_EQ(a.scales.bits(row / 32, column), b.scales.bits(column, row / 32));
            }
    });
}

// Nothing contiguous: every second element of every row, into a transposed output.
TEST(Quantize, ArbitraryStrides) {
    Tensor values("f32", 40, 2 * 70);
    values.fill(random_bits(51));
    Tensor picked("f32", 40, 70);
    for (std::int64_t row = 0; row < 40; ++row)
        for (std::int64_t column = 0; column < 70; ++column)
            picked.set_bits(row, column, values.bits(row, 2 * column));
    const auto operation = operation_of("quantize", "mxfp8-e4m3", "torchao-even", "row");
    on_every_target([&](const std::string& target) {
        Quantized expected = quantize(picked, operation);
        mx_tensor input = values.view();
        input.columns = 70;
        input.column_stride = 2;
        Tensor codes("e4m3", 70, 40);
        Tensor scales("e8m0", 3, 40);
        mx_tensor code_view = codes.view();
        mx_tensor scale_view = scales.view();
        for (mx_tensor* view : {&code_view, &scale_view}) {
            std::swap(view->rows, view->columns);
            std::swap(view->row_stride, view->column_stride);
        }
        ASSERT_EQ(run(operation, {input}, {code_view, scale_view}).status, MX_OK);
        for (std::int64_t row = 0; row < 40; ++row)
            for (std::int64_t column = 0; column < 70; ++column) {
                ASSERT_EQ(codes.bits(column, row), expected.codes.bits(row, column)) << target;
                ASSERT_EQ(scales.bits(column / 32, row), expected.scales.bits(row, column / 32));
            }
    });
}

// Large enough for stores past the cache, at an aligned and at an odd address.
TEST(Quantize, LargeOutputs) {
    for (const std::int64_t lead : {std::int64_t{0}, std::int64_t{1}}) {
        Tensor values("bf16", 1, (std::int64_t{8} << 20) + 77, lead, 0);
        values.fill(random_bits(61));
        expect_targets_agree(values, operation_of("quantize", "mxfp8-e4m3", "nv", "row"));
    }
}

// A block of any shape has the scale of its own amax, and each of its elements is the one that a
// row block with that amax gives.
TEST(Quantize, TilesAndOtherSizesOfBlocks) {
    Tensor values("f32", 70, 75, 1, 3);
    values.fill(random_bits(81));
    for (const char* format : format_names) {
        for (const std::int64_t size : {std::int64_t{1}, std::int64_t{16}, std::int64_t{64}}) {
            for (const char* axis : {"row", "col", "tile"}) {
                mx_operation operation = operation_of("quantize", format, "nv", axis);
                operation.block_size = size;
                expect_targets_agree(values, operation);
                expect_same_as_single_rows(values, operation);
            }
        }
    }
}

TEST(Quantize, BothAxesAreThatOfRowsAndThatOfColumns) {
    Tensor values("bf16", 70, 75, 1, 3);
    values.fill(random_bits(82));
    for (const char* format : format_names) {
        Quantized apart[] = {quantize(values, operation_of("quantize", format, "nv", "row")),
                             quantize(values, operation_of("quantize", format, "nv", "col"))};
        std::vector<Tensor> both;
        for (const Quantized& side : apart)
            for (const Tensor* like : {&side.codes, &side.scales})
                both.emplace_back(like->type, like->rows, like->columns, like->lead, like->gap);
        std::vector<mx_tensor> outputs;
        for (Tensor& tensor : both) outputs.push_back(tensor.view());
        const Outcome outcome =
            run(operation_of("quantize", format, "nv", "both"), {values.view()}, outputs);
        ASSERT_EQ(outcome.status, MX_OK) << outcome.reason;
        for (std::size_t side = 0; side < 2; ++side) {
            EXPECT_EQ(both[2 * side].bytes, apart[side].codes.bytes) << format;
            EXPECT_EQ(both[2 * side + 1].bytes, apart[side].scales.bytes) << format;
        }
    }
}

TEST(Quantize, NothingToDo) {
    for (const char* axis : {"row", "col"}) {
        Tensor no_rows("f32", 0, 64);
        Tensor no_columns("f32", 64, 0);
        expect_targets_agree(no_rows, operation_of("quantize", "mxfp8-e4m3", "ocp", axis));
        expect_targets_agree(no_columns, operation_of("quantize", "mxfp8-e4m3", "ocp", axis));
    }
}

}  // namespace
}  // namespace mx::cpu::test
