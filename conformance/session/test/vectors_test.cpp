// Tests of vectors: every operation of the suites has its tensors, named and of the size that was
// foreseen, and the archive for NumPy is one.
#include "conformance/session/vectors.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "conformance/data/npz_writer.hpp"
#include "conformance/session/plan.hpp"

namespace mx::session {
namespace {

VectorRequest asked(const std::string& text, RightAnswers answers) {
    Sources sources;
    const Case c = parse_case(text).value();
    return vectors_of(c, make_inputs(c, *sources.open(c).value()), {1, 1}, answers);
}

std::vector<std::string> names_of(const VectorRequest& request) {
    std::vector<std::string> names;
    for (const VectorTensor& tensor : request.tensors) names.push_back(tensor.name);
    return names;
}

using Names = std::vector<std::string>;

TEST(Vectors, TensorsSayWhatTheyHold) {
    const std::string block = "quantize format=mxfp8-e4m3 shape=1x32 data=bits:3f800000";
    EXPECT_EQ(names_of(asked(block, RightAnswers::left_out)), Names{"values"});
    EXPECT_EQ(names_of(asked(block, RightAnswers::given)),
              (Names{"values", "expected_elements", "expected_scales"}));
    EXPECT_EQ(names_of(asked(block + " axis=both", RightAnswers::given)),
              (Names{"values", "expected_elements_row", "expected_scales_row",
                     "expected_elements_col", "expected_scales_col"}));
    EXPECT_EQ(names_of(asked("gemm a=mxfp8-e4m3 b=mxfp8-e4m3 shape=1x1x32 data=gemm.exact-signs",
                             RightAnswers::given)),
              (Names{"a", "a_scales", "b", "b_scales", "expected_d"}));
}

// 1.0 in E4M3 under OCP: 2^-8 is the scale, and 256 the element.
TEST(Vectors, AnswersAreTheOracles) {
    const VectorRequest request =
        asked("quantize format=mxfp8-e4m3 shape=1x1 data=bits:3f800000", RightAnswers::given);
    EXPECT_EQ(request.tensors[1].bytes, std::vector<std::byte>{std::byte{0x78}});
    EXPECT_EQ(request.tensors[2].bytes, std::vector<std::byte>{std::byte{119}});
}

TEST(Vectors, ASumThatHangsOnItsOrderHasNoAnswer) {
    const std::string product = "gemm a=bf16 b=bf16 output=f32 shape=8x8x512 data=gemm.uniform";
    const VectorRequest open = asked(product, RightAnswers::given);
    EXPECT_EQ(names_of(open), (Names{"a", "b"}));
    EXPECT_NE(open.unanswered.find("hang on the order"), std::string::npos) << open.unanswered;
    EXPECT_EQ(asked(product + " model=hopper-half", RightAnswers::given).unanswered, "");
}

// Each case of the smoke suites, every operation among them.
TEST(Vectors, EveryCaseHasItsTensorsOfTheForeseenSize) {
    Sources sources;
    PlanOptions options;
    options.level = "smoke";
    std::set<OperationKind> operations;
    for (const PlannedCase& planned : planned(options, sources).value()) {
        const Case& c = planned.c;
        if (element_count(c) > 4096 || !operations.insert(c.operation).second) continue;
        const VectorRequest request =
            vectors_of(c, make_inputs(c, *sources.open(c).value()), {1, 1}, RightAnswers::given);
        std::uint64_t bytes = 0;
        for (const VectorTensor& tensor : request.tensors) bytes += tensor.bytes.size();
        EXPECT_EQ(bytes, vectors_size({c}, VectorForm::npz, RightAnswers::given)) << print(c);
    }
    EXPECT_EQ(operations.size(), 5u);
}

// Where the fields of an archive stand; that its CRCs are right, vectors_test.sh asks of a reader.
TEST(NpzWriter, StoresAnArrayUnderItsNameWithItsCrc) {
    std::ostringstream file;
    data::NpzWriter archive(file);
    ASSERT_TRUE(archive.add({"a/b", "u8", {3}, {std::byte{1}, std::byte{2}, std::byte{3}}}));
    archive.finish();
    const std::string bytes = file.str();
    EXPECT_EQ(bytes.substr(0, 4), "PK\x03\x04");
    EXPECT_EQ(bytes.substr(30, 7), "a/b.npy");
    EXPECT_EQ(bytes.substr(bytes.size() - 22, 4), "PK\x05\x06");
    EXPECT_FALSE(archive.add({"half", "bf16", {0}, {}})) << "NumPy has no bf16";
}

}  // namespace
}  // namespace mx::session
