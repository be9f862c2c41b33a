// The plug-in through its one exported function, and an open device for tests that need a GPU.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "device/abi/mx_device.h"
#include "device/cublaslt/test/calls.hpp"

namespace mx::cublaslt::test {

// NULL where the library does not load, which fails the test.
const mx_device_api* table_of(std::uint32_t version);

struct Answer {
    mx_status status;
    std::string sentence;
};

struct Message {
    std::array<char, 600> text{};
    mx_message message{sizeof(mx_message), text.data(), text.size()};
};

// Whether a missing GPU is a reason to fail a test instead of skipping it.
bool must_have_gpu();

class OnGpu : public testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    Answer supports(const Asked& asked);
    Answer run(GemmCall& call);
    std::vector<std::string> algorithms(const Asked& asked);
    // 90 for 9.0.
    int capability() const { return capability_; }

private:
    void* device_ = nullptr;
    bool is_open_ = false;
    int capability_ = 0;
};

}  // namespace mx::cublaslt::test
