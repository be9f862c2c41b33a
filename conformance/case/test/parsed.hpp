// A case of a line that is right.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "conformance/case/case.hpp"

namespace mx {

inline Case parsed(const std::string& text) {
    const auto c = parse_case(text);
    EXPECT_TRUE(c.ok()) << text << ": " << (c ? "" : c.error().message);
    return c ? c.value() : Case{};
}

}  // namespace mx
