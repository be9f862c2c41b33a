// Data for GEMMs whose sums are exact in any order, and what must come out: elements in {-1, 0, 1,
// 2}, scales that are powers of two. Used by the tests that need a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "device/cublaslt/test/calls.hpp"

namespace mx::cublaslt::test {

// A value as a code of `type`, and back. Every type of this device, scales too; the value must be
// one of the type.
std::uint32_t encode(std::string_view type, double value);
double decode(std::string_view type, std::uint32_t code);

// Values of a tensor, row by row.
struct Values {
    Extents shape;
    std::vector<double> all;

    double at(std::int64_t row, std::int64_t column) const {
        return all[static_cast<std::size_t>(row * shape.columns + column)];
    }
};

inline constexpr std::uint8_t poison = 0xA5;

// The bytes of a tensor: its elements where its layout has them, poison between them.
std::vector<std::uint8_t> bytes_of(const mx_tensor& tensor, const Values& values);
Values values_of(const mx_tensor& tensor, const std::vector<std::uint8_t>& bytes);
// How many bytes beside the elements are not poison.
std::int64_t spoiled(const mx_tensor& tensor, const std::vector<std::uint8_t>& bytes);

struct Scene {
    Asked asked;
    GemmCall call;
    std::vector<std::vector<std::uint8_t>> inputs;
    std::vector<std::vector<std::uint8_t>> outputs;
    Values expected;  // of D; in units of its scales where it has any

    explicit Scene(const Asked& asked);
    // Makes the tensors point to the bytes here.
    void place_on_host();
};

}  // namespace mx::cublaslt::test
