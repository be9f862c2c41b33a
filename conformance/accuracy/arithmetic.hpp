// Products of quantized operands, as the oracle, a model of a machine or a device makes them. Used
// by training.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "conformance/accuracy/block_codes.hpp"
#include "device/host/client.hpp"

namespace mx::accuracy {

// Rows along what is summed over, and what they pass through; nullptr: nothing.
struct Operand {
    Rows rows;
    const Quantization* quantizer;
};

class Arithmetic {
public:
    virtual ~Arithmetic() = default;
    // a * b^T in binary32, row by row.
    virtual Expected<std::vector<float>> multiply(const Operand& a, const Operand& b) = 0;
};

// Quantized by the oracle and back; then one fused multiply-add of binary32 after the other.
class PlainArithmetic : public Arithmetic {
public:
    Expected<std::vector<float>> multiply(const Operand& a, const Operand& b) override;
};

// Quantized by the oracle, and summed as a row of gemm_models does it.
class ModelArithmetic : public Arithmetic {
public:
    explicit ModelArithmetic(std::string row) : row_(std::move(row)) {}
    Expected<std::vector<float>> multiply(const Operand& a, const Operand& b) override;

private:
    std::string row_;
};

// Quantized by one device, and multiplied by another one or the same; or, where none is given to
// multiply, as PlainArithmetic does it.
class DeviceArithmetic : public Arithmetic {
public:
    struct Parts {
        const Client* quantizes;  // nullptr: the oracle
        const Client* multiplies;
        std::string algorithm;
        std::mutex& asking;  // held while a client answers: it answers one thread at a time
    };
    explicit DeviceArithmetic(const Parts& parts) : parts_(parts) {}
    Expected<std::vector<float>> multiply(const Operand& a, const Operand& b) override;

private:
    Expected<BlockCodes> encoded(const Operand& operand);
    Parts parts_;
};

// Codes of the values and back; the values themselves without a quantizer.
std::vector<float> through(const Operand& operand);

}  // namespace mx::accuracy
