// The codes of blocks, and the products of factors, as a device behind the ABI makes them. Used by
// the commands that measure a device beside the oracle; judges no bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/accuracy/block_codes.hpp"
#include "device/host/client.hpp"

namespace mx::accuracy {

// As error what outputs_of has: bad_input where the device does not support the question.
Expected<BlockCodes> encode_on(const Client& client, const Quantization& quantizer,
                               const Rows& rows);

// One factor of a product in MX blocks along its rows.
struct Factor {
    const Quantization& quantizer;
    const BlockCodes& codes;
    std::int64_t rows;
};
struct Product {
    Factor a, b;
    std::int64_t depth;
    std::string algorithm;  // of the device; "" for its own choice
};
// a * b^T in binary32, row by row.
Expected<std::vector<float>> multiply_on(const Client& client, const Product& product);

}  // namespace mx::accuracy
