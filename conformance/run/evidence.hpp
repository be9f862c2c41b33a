// What has been gathered about one case on its way along the line: inputs, expected bits, the
// device's answer. Each stage reads it; none goes back.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "device/host/question.hpp"

namespace mx {

// Bytes of an output that hold nothing and should have been written as 0; bits of a packed byte
// that no code needs count as such a byte.
struct WrongPads {
    std::size_t buffer = 0;  // as the device counts its outputs
    std::uint64_t count = 0;
    std::uint64_t unwritten = 0;  // of these, bytes that were not written at all
    std::uint64_t first_byte = 0;
    std::uint8_t first_value = 0;
};

// Elements of the rows of D that belong to no group of a grouped GEMM and were written.
struct WrittenTail {
    std::uint64_t count = 0;
    std::int64_t first_row = 0;
};

struct Evidence {
    Case c;
    std::vector<CodeTensor> inputs;
    std::vector<CodeTensor> expected;
    std::vector<CodeTensor> actual;  // of the device's first run; empty if it gave no answer
    std::vector<std::vector<std::uint8_t>> flags;  // per output and element, see question.hpp
    std::vector<WrongPads> wrong_pads;
    WrittenTail written_tail;
    // The device agrees with itself as long as the pads of its inputs stay the same: elements with
    // flag_differs are then no matter of chance.
    bool reads_pads = false;
    // Elements that a table has found right, every one: then nothing is expected or compared.
    std::uint64_t settled = 0;
    DeviceAnswer answer;  // outputs in strided layouts have moved to `actual` and `flags`
};

// What the pads of inputs hold in the first and in the second run. The first is the scale NaN.
inline constexpr std::byte first_input_pad{0xFF};
inline constexpr std::byte second_input_pad{0x5A};

// What the case asks, with the input bytes laid out as it says, by its printed name. `storage` owns
// inputs that are not dense and must outlive the question.
Question make_question(const Case& c, const std::vector<CodeTensor>& inputs,
                       std::vector<std::vector<std::byte>>& storage);

// The same with shapes alone, which is all that a device needs to say whether it supports it.
Question question_without_data(const Case& c);

// From the buffers of the answer to tensors of the case: `actual`, `flags` and `wrong_pads`. Only
// once `answer` and `expected` are there.
void read_answer(Evidence& evidence);

// The evidence itself; of axis both that of each of its sides, as if each had been asked alone, so
// that nothing that compares knows of axis both. What lies beside the tensors stays with the whole.
void for_each_side(const Evidence& evidence, const std::function<void(const Evidence&)>& visit);

}  // namespace mx
