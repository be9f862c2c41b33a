// Tests of the question that a case becomes: names, shapes and strides as the ABI words them.
#include <gtest/gtest.h>

#include "conformance/run/evidence.hpp"

namespace mx {
namespace {

// What the question views must live as long as it.
struct Storage {
    std::vector<CodeTensor> inputs;
    std::vector<std::vector<std::byte>> padded;
};

Question question_of(const std::string& text, Storage& storage) {
    const Case c = parse_case(text).value();
    Sources sources;
    storage.inputs = make_inputs(c, *sources.open(c).value());
    return make_question(c, storage.inputs, storage.padded);
}

TEST(Question, PaddedRowsLieApartAndKeepTheirElements) {
    Storage storage;
    const std::string text =
        "quantize format=mxfp8-e4m3 input=bf16 axis=col shape=33x5 "
        "data=random.bits layout=";
    const Question dense = question_of(text + "dense", storage);
    const std::vector<std::byte> wanted(dense.inputs[0].data.begin(), dense.inputs[0].data.end());
    EXPECT_EQ(dense.inputs[0].spec.row_stride, 5);
    const Question padded = question_of(text + "padded", storage);
    const TensorSpec& spec = padded.inputs[0].spec;
    ASSERT_GT(spec.row_stride, spec.columns);
    ASSERT_EQ(padded.inputs[0].data.size(), byte_extent(spec).value());
    for (std::size_t row = 0; row < 33; ++row)
        for (std::size_t byte = 0; byte < 10; ++byte)
            ASSERT_EQ(
                padded.inputs[0].data[row * 2 * static_cast<std::size_t>(spec.row_stride) + byte],
                wanted[row * 10 + byte]);
    ASSERT_EQ(padded.outputs.size(), 2u);
    EXPECT_GT(padded.outputs[0].row_stride, 5);
    EXPECT_EQ(padded.outputs[1].rows, 2);
    EXPECT_GT(padded.outputs[1].row_stride, 5);
}

TEST(Question, NamesOnlyWhatTheOperationUses) {
    Storage storage;
    const Question quantize =
        question_of("quantize format=mxfp8-e5m2 axis=row shape=2x3 data=random.bits", storage);
    EXPECT_EQ(quantize.operation.axis, "row");
    EXPECT_EQ(quantize.operation.rounding, "");
    EXPECT_EQ(quantize.outputs[0].type, "e5m2");
    EXPECT_EQ(quantize.outputs[1].type, "e8m0");
    const Question convert = question_of("convert format=e4m3 shape=2x3 data=random.bits", storage);
    EXPECT_EQ(convert.operation.axis, "");
    EXPECT_EQ(convert.operation.rounding, "nearest_even");
    EXPECT_EQ(convert.operation.overflow, "saturate");
    const Question back =
        question_of("dequantize format=mxfp8-e4m3 output=f16 shape=2x3 data=codes.random", storage);
    EXPECT_EQ(back.inputs.size(), 2u);
    EXPECT_EQ(back.outputs[0].type, "f16");
}

}  // namespace
}  // namespace mx
