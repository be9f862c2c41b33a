// Under which names a device is asked, and what several formats together point to.
#include "conformance/identify/formats.hpp"

#include <gtest/gtest.h>

#include "conformance/identify/test/dressed_row.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::identify {
namespace {

using Names = std::vector<std::string>;

Client dressed(const std::string& row) {
    return dressed_row(*find_quantizer(row));
}

TEST(Formats, NamesThatNoTableHasAreRefusedBeforeAnythingIsAsked) {
    EXPECT_TRUE(check({}));
    EXPECT_TRUE(check({.formats = {"mxfp8-e4m3"}, .dialect = "mine"}));
    EXPECT_FALSE(check({.formats = {"mxfp9"}}));
    EXPECT_FALSE(check({.input = "f64"}));
    EXPECT_FALSE(check({.formats = {"nvfp4"}, .dialect = "mine"}));
    EXPECT_FALSE(check({.formats = {"nvfp4"}, .dialect = "ocp"}));
    EXPECT_TRUE(check({.formats = {"nvfp4"}, .dialect = "te-nvfp4"}));
}

TEST(Formats, ADeviceIsAskedUnderTheFirstNameThatItTakes) {
    const FormatsRequest request{.formats = {"nvfp4"}, .dialect = "", .input = "bf16"};
    const auto found = identify_formats(request, dressed("te-nvfp4"));
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found.value().size(), 1u);
    const Names& rows = found.value()[0].identical;
    EXPECT_NE(std::find(rows.begin(), rows.end(), "te-nvfp4"), rows.end());
}

TEST(Formats, WhatADeviceDoesNotDoIsLeftOutUnlessItIsAll) {
    Client client;
    client.ask = [](const Question&) {
        return DeviceAnswer{.kind = AnswerKind::not_supported, .reason = "not today"};
    };
    const auto found = identify_formats({.formats = {"nvfp4"}}, client);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::bad_input);
    EXPECT_TRUE(found.error().message.starts_with("nvfp4: ")) << found.error().message;
}

TEST(Formats, CommonNamesAreThoseOfEveryFormat) {
    std::vector<Identification> all(2);
    all[0].identical = {"a", "b", "c"};
    all[1].identical = {"c", "a"};
    EXPECT_EQ(common_names(all), (Names{"a", "c"}));
}

TEST(Formats, TheFirstFaultOfADeviceIsKept) {
    int asked = 0;
    Client client;
    client.ask = [&asked](const Question&) {
        const bool is_refusal = asked++ == 0;
        return DeviceAnswer{.kind = is_refusal ? AnswerKind::not_supported : AnswerKind::crash,
                            .reason = std::to_string(asked)};
    };
    std::string fault;
    const Client same = watched(client, fault);
    same.ask({});
    EXPECT_EQ(fault, "");
    same.ask({});
    const std::string first = fault;
    EXPECT_NE(first, "");
    same.ask({});
    EXPECT_EQ(fault, first);
}

}  // namespace
}  // namespace mx::identify
