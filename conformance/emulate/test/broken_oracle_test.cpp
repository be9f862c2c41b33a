// Whoever answers with the oracle in process is refused where it is broken: this test is linked
// with an exact oracle that rounds ties away.
#include <gtest/gtest.h>

#include "conformance/emulate/explain.hpp"
#include "conformance/emulate/gemm_tensor.hpp"
#include "conformance/emulate/quantize_values.hpp"
#include "conformance/emulate/requantize.hpp"

namespace mx::emulate {
namespace {

constexpr std::string_view start =
    "this build's oracle is broken: exact round: 29*2^-4 to e4m3, nearest_even";

template <typename Result>
void expect_refused(const Result& result) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::oracle);
    EXPECT_TRUE(result.error().message.starts_with(start)) << result.error().message;
}

TEST(BrokenOracle, NothingIsAnswered) {
    const data::BlockNames standard = completed({.format = "mxfp8-e4m3", .dialect = "ocp"});
    const data::BlockNames recipe = completed({.format = "nvfp4", .dialect = "te-nvfp4"});
    const data::HostTensor tensor{"x", "f32", {1, 32}, std::vector<std::byte>(128)};
    expect_refused(quantize_tensor(tensor, standard, {}));
    expect_refused(quantize_tensor(tensor, recipe, {}));
    expect_refused(quantize_values({{}, {0, 32}}, standard, ""));
    expect_refused(dequantize_tensor({}, {standard, "f32", {1, 32}}, "f32"));
    expect_refused(dequantize_tensor({}, {recipe, "f32", {1, 32}}, "f32"));
    expect_refused(tensor_gemm({}, {}, {}, {}));
    const TypedValues typed{
        .values = "1", .format = "mxfp8-e4m3", .dialect = "ocp", .input = "f32"};
    const Explanation explained = explain(target_of_values(typed).value());
    EXPECT_TRUE(explained.fault.starts_with(start)) << explained.fault;
    EXPECT_EQ(explained.text, "");
}

}  // namespace
}  // namespace mx::emulate
