// Tests of how a family's blocks, or a user's file, become the tensors of a case: every lane in its
// place for rows, columns and ragged ends, and a sentence for every source that has no data.
#include <gtest/gtest.h>

#include "conformance/data/converter.hpp"
#include "conformance/data/tensor_file.hpp"
#include "conformance/data/test/case_of.hpp"
#include "conformance/data/test/file_bytes.hpp"

namespace mx {
namespace {

// Operations and axes that lay blocks out differently.
const std::vector<std::string> layouts{
    "quantize format=mxfp8-e4m3 axis=row data=random.bits index=3",
    "quantize format=mxfp8-e4m3 axis=col data=random.bits index=3",
    "quantize format=mxfp8-e4m3 axis=tile data=random.bits index=3",
    "quantize format=mxfp4-e2m1 axis=tile block=16 data=random.bits index=3",
    "quantize format=mxint8 axis=row block=64 data=random.bits index=3",
    "quantize format=mxint8 axis=col block=16 data=random.bits index=3",
    "dequantize format=mxint8 axis=tile block=64 data=codes.random index=3",
    "dequantize format=mxfp8-e5m2 axis=row data=codes.random index=3",
    "dequantize format=mxfp8-e5m2 axis=col data=codes.random index=3",
    "convert format=e4m3 data=random.bits input=f16 index=3",
    "encode_scale format=mxfp8-e4m3 data=random.bits input=bf16 index=3",
};
constexpr std::int64_t lengths[] = {0, 1, 2, 31, 32, 33, 63, 64, 65};

std::vector<Case> every_layout() {
    std::vector<Case> cases;
    for (const std::string& text : layouts)
        for (const std::int64_t rows : lengths)
            for (const std::int64_t columns : lengths)
                cases.push_back(case_of(text + " shape=" + std::to_string(rows) + "x" +
                                        std::to_string(columns)));
    return cases;
}

TEST(Places, LaneOfIsTheInverseOfPlaceOf) {
    for (const Case& c : every_layout()) {
        const BlockGrid grid = block_grid(c);
        std::vector<int> seen(static_cast<std::size_t>(element_count(c)));
        for (std::int64_t block = 0; block < grid.count(); ++block) {
            const BlockPlace place = place_of(blocking_of(c), block);
            ASSERT_GE(place.count, 1);
            ASSERT_LE(place.count, lanes_of(c));
            for (int lane = 0; lane < place.count; ++lane) {
                const std::size_t element = place.element(lane);
                ASSERT_LT(element, seen.size()) << print(c);
                ++seen[element];
                const LanePlace back = lane_of(blocking_of(c), element);
                ASSERT_EQ(back.block, block) << print(c);
                ASSERT_EQ(back.lane, lane) << print(c);
            }
        }
        ASSERT_EQ(seen, std::vector<int>(seen.size(), 1)) << print(c);
    }
}

// Told again from the ABI: element (r, c) belongs to the block of its row, its column or its tile.
// A tile that the edge cuts off holds the block's first lanes, row after row of what is left.
TEST(Inputs, HoldTheFamilysBlocksAlongTheAxis) {
    for (const Case& c : every_layout()) {
        if (!has_blocks(c)) continue;
        const auto source = open_data(c);
        const std::vector<CodeTensor> inputs = make_inputs(c, *source);
        const std::int64_t height = c.axis == BlockAxis::row ? 1 : c.block;
        const std::int64_t width = c.axis == BlockAxis::col ? 1 : c.block;
        const std::int64_t blocks_across = (c.columns + width - 1) / width;
        std::vector<BlockData> blocks;
        for (std::int64_t i = 0; i < block_grid(c).count(); ++i)
            blocks.push_back(source->block(3 + static_cast<std::uint64_t>(i)));
        std::vector<std::size_t> next(blocks.size());
        for (std::int64_t row = 0; row < c.rows; ++row)
            for (std::int64_t column = 0; column < c.columns; ++column) {
                const auto block =
                    static_cast<std::size_t>(row / height * blocks_across + column / width);
                const std::size_t element = static_cast<std::size_t>(row * c.columns + column);
                ASSERT_EQ(inputs[0].at(element), blocks[block].lanes[next[block]++]) << print(c);
                if (c.operation == OperationKind::dequantize) {
                    ASSERT_EQ(inputs[1].at(block), blocks[block].scale);
                }
            }
    }
}

// As on a chessboard: k blocks of each tile are its rows, or those of the next tile its columns.
TEST(Inputs, OfAxisBothAreTilesOfRowsAndOfColumnsByTurns) {
    const Case shaped = case_of(
        "quantize format=mxfp8-e4m3 axis=both block=16 data=random.bits index=3 shape=33x40");
    const auto source = open_data(shaped);
    const CodeTensor input = make_inputs(shaped, *source)[0];
    for (std::int64_t row = 0; row < 33; ++row)
        for (std::int64_t column = 0; column < 40; ++column) {
            const std::int64_t tile = row / 16 * 3 + column / 16;
            const bool by_row = (row / 16 + column / 16) % 2 == 0;
            const std::int64_t line = by_row ? row % 16 : column % 16;
            const std::int64_t lane = by_row ? column % 16 : row % 16;
            const auto block = static_cast<std::uint64_t>(3 + tile * 16 + line);
            ASSERT_EQ(input.at(static_cast<std::size_t>(row * 40 + column)),
                      source->block(block).lanes[static_cast<std::size_t>(lane)])
                << row << ", " << column;
        }
}

TEST(Places, OfAxisBothCoverEachElementOnce) {
    for (const std::int64_t rows : lengths)
        for (const std::int64_t columns : lengths) {
            const Case c = case_of("quantize format=mxfp8-e4m3 axis=both data=random.bits shape=" +
                                   std::to_string(rows) + "x" + std::to_string(columns));
            const BlockGrid grid = block_grid(c);
            std::vector<int> seen(static_cast<std::size_t>(element_count(c)));
            for (std::int64_t block = 0; block < grid.count(); ++block) {
                const BlockPlace place = place_of(blocking_of(c), block);
                ASSERT_LE(place.count, lanes_of(c));
                for (int lane = 0; lane < place.count; ++lane) {
                    ASSERT_LT(place.element(lane), seen.size()) << print(c);
                    ++seen[place.element(lane)];
                }
            }
            ASSERT_EQ(seen, std::vector<int>(seen.size(), 1)) << print(c);
        }
}

TEST(Inputs, WithoutBlocksTakeThirtyTwoInRowMajorOrder) {
    const Case c = case_of("convert format=e4m3 input=f32 data=random.bits shape=5x31 index=9");
    const auto source = open_data(c);
    const CodeTensor input = make_inputs(c, *source)[0];
    for (std::size_t i = 0; i < input.count(); ++i)
        EXPECT_EQ(input.at(i), source->block(9 + i / 32).lanes[i % 32]);
}

TEST(Inputs, HaveTheShapesAndTypesOfTheContract) {
    const Case c =
        case_of("dequantize format=mxfp8-e5m2 output=bf16 axis=col shape=33x7 data=codes.random");
    const std::vector<CodeTensor> inputs = make_inputs(c, *open_data(c));
    ASSERT_EQ(inputs.size(), 2u);
    EXPECT_EQ(inputs[0].type, "e5m2");
    EXPECT_EQ(inputs[0].bytes.size(), 33u * 7);
    EXPECT_EQ(inputs[1].type, "e8m0");
    EXPECT_EQ(inputs[1].rows, 2);
    EXPECT_EQ(inputs[1].columns, 7);
    EXPECT_EQ(
        make_inputs(case_of("quantize format=mxfp8-e4m3 shape=2x3 data=random.bits"), *open_data(c))
            .size(),
        1u);
}

TEST(Inputs, OfStochasticRoundingHaveAWordForEachValueOrForFour) {
    const std::string head = "convert format=e4m3 shape=3x37 data=random.bits seed=4 index=2";
    const auto words_of = [&](const std::string& fields) {
        const Case c = case_of(head + fields);
        return make_inputs(c, *open_data(c))[1];
    };
    const CodeTensor words = words_of(" rounding=stochastic32");
    EXPECT_EQ(words.type, "u32");
    EXPECT_EQ(words.columns, 37);
    EXPECT_EQ(words_of(" rounding=stochastic32").bytes, words.bytes);
    EXPECT_EQ(words_of(" rounding=stochastic-x4").columns, 10);
    EXPECT_NE(words.at(0), words.at(1));
    const Case c = case_of(
        "convert format=e4m3 shape=3x37 data=random.bits seed=5 index=2 "
        "rounding=stochastic32");
    EXPECT_NE(make_inputs(c, *open_data(c))[1].bytes, words.bytes) << "deaf to the seed";
}

// A block that is asked alone must be rounded with the words it had among the others.
TEST(Inputs, OfStochasticRoundingMoveOnWithTheIndex) {
    for (const std::string form : {"stochastic8", "stochastic-x4"}) {
        const std::string head = "convert format=e4m3 data=random.bits rounding=" + form;
        const Case whole = case_of(head + " shape=4x32 index=7");
        const Case alone = case_of(head + " shape=1x32 index=9");
        const CodeTensor all = make_inputs(whole, *open_data(whole))[1];
        const CodeTensor one = make_inputs(alone, *open_data(alone))[1];
        for (std::size_t i = 0; i < one.count(); ++i)
            EXPECT_EQ(one.at(i), all.at(2 * one.count() + i)) << form;
    }
}

// A word at random would meet the place where 32 bits begin to carry once in 2^32 values.
TEST(Inputs, OfStochasticRoundingLieOnBothSidesOfWhereTheyCarry) {
    for (const std::string form : {"stochastic8", "stochastic32", "stochastic-x4"}) {
        const Case c =
            case_of("convert format=e4m3 shape=32x32 data=random.spread rounding=" + form);
        const std::vector<CodeTensor> inputs = make_inputs(c, *open_data(c));
        const Converter convert(c);
        int carrying = 0, just_below = 0;
        for (std::size_t i = 0; i < inputs[0].count(); ++i) {
            const Code value{inputs[0].at(i)};
            const RandomBits random = random_bits_at(c, *stochastic_form_of(c), inputs[1], i);
            const std::uint32_t all = ~std::uint32_t{0} >> (32 - random.count);
            const auto differs = [&](std::uint32_t other) {
                return convert(value, {other, random.count}) != convert(value, random);
            };
            if (random.bits > 0 && differs(random.bits - 1)) ++carrying;
            if (random.bits < all && differs(random.bits + 1)) ++just_below;
        }
        EXPECT_GT(carrying, 64) << form;
        EXPECT_GT(just_below, 64) << form;
    }
}

TEST(Bits, FillLanesAndThenBlocks) {
    const Case c = case_of("quantize format=mxfp8-e4m3 shape=2x32 data=bits:3f800000,7fc00000,80");
    const auto source = open_data(c);
    ASSERT_EQ(source->size(), 1u);
    const BlockData data = source->block(0);
    ASSERT_EQ(data.lanes.size(), 32u);
    EXPECT_EQ(data.lanes[0], 0x3F800000u);
    EXPECT_EQ(data.lanes[1], 0x7FC00000u);
    EXPECT_EQ(data.lanes[2], 0x80u);
    for (std::size_t lane = 3; lane < 32; ++lane) EXPECT_EQ(data.lanes[lane], 0u);
    const Case prefixed =
        case_of("dequantize format=mxfp8-e4m3 shape=1x32 data=bits:0x7f:0xb8,0X7");
    EXPECT_EQ(open_data(prefixed)->block(0).scale, 0x7Fu);
    EXPECT_EQ(open_data(prefixed)->block(0).lanes[0], 0xB8u);
    EXPECT_EQ(open_data(prefixed)->block(0).lanes[1], 0x07u);
    std::string many = "quantize format=mxfp8-e4m3 input=bf16 block=16 shape=1x32 data=bits:1";
    for (int i = 0; i < 16; ++i) many += ",3f80";
    const auto two = open_data(case_of(many));
    ASSERT_EQ(two->size(), 2u);
    EXPECT_EQ(two->block(1).lanes[0], 0x3F80u);
    EXPECT_EQ(two->block(1).lanes[1], 0u);
}

TEST(Bits, OfDequantizeOpenWithTheScale) {
    const auto source =
        open_data(case_of("dequantize format=mxfp4-e2m1 shape=1x32 data=bits:fe:7,F,0"));
    EXPECT_EQ(source->block(0).scale, 0xFEu);
    EXPECT_EQ(source->block(0).lanes[1], 0xFu);
}

TEST(CodeTensor, IsLittleEndianInTheFewestBytes) {
    CodeTensor wide = make_tensor("f32", 1, 2);
    wide.set(1, 0x12345678u);
    EXPECT_EQ(wide.at(0), 0u);
    EXPECT_EQ(wide.at(1), 0x12345678u);
    EXPECT_EQ(wide.bytes[4], std::byte{0x78});
    CodeTensor narrow = make_tensor("e8m0", 2, 2);
    narrow.set(3, 0xFF);
    EXPECT_EQ(narrow.bytes.size(), 4u);
    EXPECT_EQ(narrow.at(3), 0xFFu);
    EXPECT_EQ(narrow.at(2), 0u);
}

struct Refusal {
    const char* text;
    const char* says;
};

TEST(Sources, RefuseWithASentence) {
    const Refusal table[] = {
        {"quantize format=mxfp8-e4m3 shape=1x32 data=edge.tye",
         "unknown data family 'edge.tye'; did you mean 'edge.tie'? (or data=bits:HEX,HEX,..., "
         "data=file:PATH or data=repeat:BLOCKS:FAMILY)"},
        {"quantize format=mxfp8-e4m3 shape=1x32 data=bits:", "code '' in data=bits: is not a hex"},
        {"quantize format=mxfp8-e4m3 shape=1x32 data=bits:1,", "code '' in data=bits: is not"},
        {"quantize format=mxfp8-e4m3 shape=1x32 data=bits:1,0xg", "code '0xg' in data=bits: is"},
        {"quantize format=mxfp8-e4m3 shape=1x32 data=bits:-1", "code '-1' in data=bits: is not"},
        {"quantize format=mxfp8-e4m3 shape=1x32 input=f16 data=bits:10000",
         "code '10000' in data=bits: does not fit the 16 bits of f16"},
        {"quantize format=mxfp8-e4m3 shape=1x32 data=bits:100000000",
         "does not fit the 32 bits of f32"},
        {"encode_scale format=mxfp8-e4m3 shape=1x32 data=bits:80000000", "negative amax"},
        {"dequantize format=mxfp4-e2m1 shape=1x32 data=bits:7,8", "SCALE:CODE,CODE"},
        {"dequantize format=mxfp4-e2m1 shape=1x32 data=bits:7f:10",
         "code '10' in data=bits: does not fit the 4 bits of e2m1"},
        {"dequantize format=mxfp4-e2m1 shape=1x32 data=bits:100:1", "the 8 bits of e8m0"},
        {"quantize format=mxfp8-e4m3 shape=1x32 data=zzz", "known are: edge.tie edge.scale"},
        {"quantize format=mxfp8-e4m3 shape=1x32 data=codes.all",
         "'codes.all' has no data for quantize, only for dequantize"},
        {"dequantize format=mxfp8-e4m3 shape=1x32 data=edge.tie",
         "'edge.tie' has no data for dequantize, only for convert quantize"},
        {"convert format=e4m3 shape=1x32 data=edge.scale", "no data for convert"},
        {"quantize format=mxfp8-e4m3 shape=1x32 data=file:/nowhere/x.npy", "/nowhere/x.npy: "},
    };
    for (const Refusal& row : table) {
        Sources sources;
        const auto source = sources.open(case_of(row.text));
        ASSERT_FALSE(source.ok()) << row.text;
        EXPECT_NE(source.error().message.find(row.says), std::string::npos)
            << source.error().message;
    }
}

TEST(Sources, OpenAFamilyOnceForAllCasesThatShareIt) {
    Sources sources;
    const Case c = case_of("quantize format=mxfp8-e4m3 shape=1x32 data=edge.tie");
    Case other = c;
    other.rows = 7;
    other.index = 3;
    other.axis = BlockAxis::col;
    EXPECT_EQ(sources.open(c).value(), sources.open(other).value());
    for (const char* field : {"dialect=nv", "input=bf16", "seed=1", "block=16"}) {
        other =
            case_of(std::string("quantize format=mxfp8-e4m3 shape=1x32 data=edge.tie ") + field);
        EXPECT_NE(sources.open(c).value(), sources.open(other).value());
    }
    other = case_of("quantize format=mxfp8-e5m2 shape=1x32 data=edge.tie");
    EXPECT_NE(sources.open(c).value(), sources.open(other).value());
    // That of a family that ignores the rules is one for all of them, and for no other type.
    const Case special = case_of("quantize format=mxfp8-e4m3 shape=1x32 data=edge.special");
    const auto blocks = sources.open(special).value();
    for (const char* same : {"format=mxfp4-e2m1", "format=mxfp8-e4m3 dialect=nv seed=1"}) {
        other = case_of(std::string("quantize shape=1x32 data=edge.special ") + same);
        EXPECT_EQ(blocks, sources.open(other).value()) << same;
    }
    for (const char* unlike : {"quantize input=bf16", "quantize block=16", "encode_scale"}) {
        other = case_of(std::string(unlike) + " format=mxfp8-e4m3 shape=1x32 data=edge.special");
        EXPECT_NE(blocks, sources.open(other).value()) << unlike;
    }
    Case random = case_of("quantize format=mxfp8-e4m3 shape=1x32 data=random.bits");
    const auto first = sources.open(random).value();
    random.seed = 1;
    EXPECT_NE(first, sources.open(random).value());
}

class FileInputs : public ::testing::Test {
protected:
    // A file of 3 x 33 f32 codes that count up from 1.
    std::string counting_file(const std::string& name) {
        data::HostTensor tensor{"x", "f32", {3, 33}, {}};
        CodeTensor codes = make_tensor("f32", 3, 33);
        for (std::size_t i = 0; i < codes.count(); ++i)
            codes.set(i, static_cast<std::uint32_t>(i + 1));
        tensor.bytes = codes.bytes;
        EXPECT_TRUE(data::write_tensor_file(scratch_.at(name), {{tensor}, {}}).ok());
        return scratch_.at(name);
    }
    data::test::ScratchDirectory scratch_;
};

Case file_case(const std::string& head, const std::string& path) {
    Case c = case_of(head + " shape=3x33 data=x");
    c.data = "file:" + path;
    return c;
}

TEST_F(FileInputs, ArriveElementByElementAlongBothAxesAndWithoutBlocks) {
    const std::string path = counting_file("a b.npy");
    for (const std::string head :
         {"quantize format=mxfp8-e4m3 axis=row", "quantize format=mxfp8-e4m3 axis=col",
          "convert format=e4m3", "encode_scale format=mxfp8-e4m3"}) {
        const Case c = file_case(head, path);
        EXPECT_EQ(parse_case(print(c)).value(), c);
        const CodeTensor input = make_inputs(c, *open_data(c))[0];
        for (std::size_t i = 0; i < input.count(); ++i) ASSERT_EQ(input.at(i), i + 1) << head;
    }
}

TEST_F(FileInputs, AreCutAnewForEachAxis) {
    const std::string path = counting_file("x.npy");
    Sources sources;
    for (const std::string axis : {"row", "col"}) {
        const Case c = file_case("quantize format=mxfp8-e4m3 axis=" + axis, path);
        EXPECT_EQ(sources.open(c).value()->block(0).lanes[1], axis == "row" ? 2u : 34u);
    }
}

TEST_F(FileInputs, OneBlockAloneIsThatBlock) {
    Case c = file_case("quantize format=mxfp8-e4m3 axis=row", counting_file("x.npy"));
    c.rows = c.columns = 1;
    c.index = 3;  // the ragged end of the second row
    EXPECT_EQ(make_inputs(c, *open_data(c))[0].at(0), 66u);
}

// What is asked for is in the file: nothing begins again, and nothing is made of zeros.
TEST_F(FileInputs, OfAnotherShapeAreRefused) {
    const std::string path = counting_file("x.npy");
    const auto refusal = [&](std::int64_t rows, std::int64_t columns, std::uint64_t index) {
        Case c = file_case("quantize format=mxfp8-e4m3", path);
        c.rows = rows;
        c.columns = columns;
        c.index = index;
        Sources sources;
        const auto source = sources.open(c);
        return source ? "" : source.error().message;
    };
    const std::string holds = path + ": holds 99 values of shape 3x33, and the case asks for ";
    EXPECT_EQ(refusal(4, 33, 0), holds + "132 of shape 4x33");
    EXPECT_EQ(refusal(3, 33, 1), holds + "99 of shape 3x33 from block 1 on");
    EXPECT_EQ(refusal(1, 99, 0), holds + "99 of shape 1x99");
    EXPECT_EQ(refusal(1, 32, 1), holds + "32 of shape 1x32 from block 1 on");
    EXPECT_EQ(refusal(1, 1, 6), holds + "1 of shape 1x1 from block 6 on");
    EXPECT_EQ(refusal(1, 1, ~std::uint64_t{0}),
              holds + "1 of shape 1x1 from block 18446744073709551615 on");
    EXPECT_EQ(refusal(1, 32, 2), "");
    EXPECT_EQ(refusal(1, 1, 5), "");
    EXPECT_EQ(refusal(2, 33, 2), "");  // the last two rows
}

struct Fitting {
    std::int64_t rows, columns;
};

TEST_F(FileInputs, AreRefusedWhereBlocksOfTheSameLengthsLieOtherwise) {
    const std::string path = scratch_.at("x.npy");
    const auto is_taken = [&](Fitting held, const std::string& head, Fitting asked,
                              std::uint64_t index = 0) {
        data::HostTensor tensor{"x", "f32", {held.rows, held.columns}, {}};
        tensor.bytes.resize(static_cast<std::size_t>(4 * held.rows * held.columns));
        EXPECT_TRUE(data::write_tensor_file(path, {{tensor}, {}}).ok());
        Case c = file_case(head, path);
        c.rows = asked.rows;
        c.columns = asked.columns;
        c.index = index;
        Sources sources;
        return sources.open(c).ok();
    };
    const std::string rows = "quantize format=mxfp8-e4m3 axis=row";
    const std::string columns = "quantize format=mxfp8-e4m3 axis=col";
    const std::string tiles = "quantize format=mxfp8-e4m3 axis=tile dialect=nv";
    const std::string none = "convert format=e4m3";
    for (const std::string& head : {rows, none}) {
        EXPECT_FALSE(is_taken({2, 32}, head, {1, 64})) << head;
        EXPECT_FALSE(is_taken({1, 64}, head, {2, 32})) << head;
        EXPECT_TRUE(is_taken({2, 64}, head, {1, 32}, 3)) << head;
        EXPECT_TRUE(is_taken({3, 64}, head, {2, 64}, 2)) << head;
    }
    EXPECT_FALSE(is_taken({2, 64}, rows, {1, 64}, 1));
    EXPECT_TRUE(is_taken({64, 2}, columns, {32, 2}, 2));
    EXPECT_FALSE(is_taken({32, 4}, columns, {64, 2}));
    EXPECT_FALSE(is_taken({32, 32}, tiles, {32, 16}));
    EXPECT_FALSE(is_taken({32, 32}, tiles, {16, 16}));
    EXPECT_FALSE(is_taken({16, 32}, tiles, {32, 16}));
    EXPECT_TRUE(is_taken({32, 32}, tiles, {16, 32}));
    EXPECT_TRUE(is_taken({40, 48}, tiles, {8, 16}, 3));
}

TEST_F(FileInputs, OfAnotherTypeAreRefused) {
    const std::string path = counting_file("x.npy");
    Sources sources;
    const auto wrong = sources.open(file_case("quantize format=mxfp8-e4m3 input=bf16", path));
    ASSERT_FALSE(wrong.ok());
    EXPECT_EQ(wrong.error().message, path + ": holds f32, but the case says input=bf16");
    EXPECT_FALSE(sources.open(file_case("dequantize format=mxfp8-e4m3", path)).ok());
}

TEST_F(FileInputs, MustHoldOneTensorOfValues) {
    const data::HostTensor codes{"c", "e4m3", {2}, {std::byte{1}, std::byte{2}}};
    const data::HostTensor more{"d", "e4m3", {1}, {std::byte{1}}};
    const std::string one = scratch_.at("one.safetensors"), two = scratch_.at("two.safetensors");
    ASSERT_TRUE(data::write_tensor_file(one, {{codes}, {}}).ok());
    ASSERT_TRUE(data::write_tensor_file(two, {{codes, more}, {}}).ok());
    const auto unknown = read_input_tensor(one);
    ASSERT_FALSE(unknown.ok());
    EXPECT_TRUE(unknown.error().message.starts_with(one + ": holds e4m3, and quantizers read"))
        << unknown.error().message;
    const auto several = read_input_tensor(two);
    ASSERT_FALSE(several.ok());
    EXPECT_EQ(several.error().message, two + ": holds 2 tensors; one is wanted, of 'c', 'd'");
}

TEST_F(FileInputs, FoldAllButTheLastAxisIntoRows) {
    const data::HostTensor deep{"x", "f16", {2, 3, 5}, std::vector<std::byte>(60)};
    const data::HostTensor scalar{"x", "f16", {}, std::vector<std::byte>(2)};
    const std::string path = scratch_.at("x.npy");
    ASSERT_TRUE(data::write_tensor_file(path, {{deep}, {}}).ok());
    EXPECT_EQ(read_input_tensor(path).value().rows, 6);
    EXPECT_EQ(read_input_tensor(path).value().columns, 5);
    ASSERT_TRUE(data::write_tensor_file(path, {{scalar}, {}}).ok());
    EXPECT_EQ(read_input_tensor(path).value().count(), 1u);
}

}  // namespace
}  // namespace mx
