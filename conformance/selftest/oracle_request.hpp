// One call of the device ABI, read into the oracle's own types. Used by the oracle device. Knows
// names and shapes; computes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "device/abi/mx_device.h"
#include "reference/spec/dialects.hpp"
#include "reference/spec/formats.hpp"

namespace mx::selftest {

enum class Action { convert, encode_scale, quantize, dequantize };
enum class Axis { row, col, tile };

struct Cell {
    std::int64_t row = 0;
    std::int64_t column = 0;
};

// A strided matrix of codes in the host's memory.
struct View {
    unsigned char* data = nullptr;
    std::size_t width = 1;  // bytes of a code
    std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

    std::uint32_t read(Cell cell) const;
    void write(Cell cell, std::uint32_t code) const;

private:
    unsigned char* at(Cell cell) const;
};

// How the words of a second input decide stochastic roundings; no bits where there are none.
struct RandomWords {
    int bits = 0;
    int values_per_word = 1;
};

struct Request {
    Action action = Action::convert;
    Dialect rules = dialects[0];  // for convert with the element rules that were asked for
    BlockFormat format = block_formats[0];
    ElementFormat element = format.element();   // e8m0 for a cast to a scale
    ElementFormat values = element_formats[0];  // of the input; of the output for dequantize
    Axis axis = Axis::row;
    std::int64_t block = 32;
    RandomWords random;
    std::array<View, 2> inputs, outputs;

    bool casts_to_scale() const { return element.name == formats::e8m0.name; }
};

// The arguments of `supports` and `run`.
struct Call {
    const mx_operation* operation = nullptr;
    const mx_tensor* inputs = nullptr;
    std::size_t input_count = 0;
    const mx_tensor* outputs = nullptr;
    std::size_t output_count = 0;
};

// Why a call is not served: MX_NOT_SUPPORTED or MX_INVALID, and a sentence.
struct Refusal {
    mx_status status = MX_INVALID;
    std::string reason;
};

// One request; of axis "both" one for the rows and one for the columns.
std::variant<std::vector<Request>, Refusal> read_requests(const Call& call);

}  // namespace mx::selftest
