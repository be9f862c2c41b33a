// Tests of a GEMM asked by every algorithm of a device, which is made up.
#include "conformance/session/every_algorithm.hpp"

#include <gtest/gtest.h>

namespace mx::session {
namespace {

std::vector<std::string> asked(const std::vector<std::string>& texts,
                               const Expected<std::vector<std::string>>& listed) {
    std::vector<PlannedCase> cases;
    for (const std::string& text : texts) cases.push_back({"gemm", parse_case(text).value()});
    std::vector<std::string> algorithms;
    Client client;
    client.algorithms = [&listed](const Question&) { return listed; };
    for (const PlannedCase& each : by_every_algorithm(cases, client))
        algorithms.push_back(each.c.gemm.algorithm);
    return algorithms;
}

const std::string product =
    "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 output=f32 shape=32x32x128 data=gemm.one-hot";

TEST(EveryAlgorithm, TakesThePlaceOfTheDefault) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(asked({product}, Names{"a", "b"}), (Names{"a", "b"}));
    EXPECT_EQ(asked({product + " algorithm=c"}, Names{"a", "b"}), Names{"c"});
    // A device of one way, and one that does not do this.
    EXPECT_EQ(asked({product}, Names{""}), Names{"default"});
    EXPECT_EQ(asked({product}, Error{ErrorKind::device, "no"}), Names{"default"});
}

}  // namespace
}  // namespace mx::session
