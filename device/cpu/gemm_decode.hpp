// Rows of a factor as numbers, the scales of blocks multiplied in: exactly, in double. Used by
// gemm.
#pragma once

#include <array>

#include "device/cpu/gemm.hpp"

namespace mx::cpu {

class FactorDecoder {
public:
    struct Row {
        std::ptrdiff_t codes, scales;  // where they lie
    };

    explicit FactorDecoder(const Factor& factor);

    // A row along k, `depth` numbers. At most 16 of their bits are not zero where the factor
    // has blocks, so that a product of two is exact in double.
    void decode(const Row& row, std::ptrdiff_t depth, double* out) const;

private:
    double scale_at(std::ptrdiff_t line, std::ptrdiff_t k) const;

    Factor factor_;
    std::array<double, 256> elements_{};
    std::array<double, 256> scales_{};
};

}  // namespace mx::cpu
