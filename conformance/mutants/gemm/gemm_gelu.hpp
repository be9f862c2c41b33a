// GELU of an output as cuBLASLt has it on Hopper, in binary32, with the tanh of an H200: a
// quadratic for each piece of its range, cut to 24 bits. Double holds every step of that. Bugs of
// it are planted here.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "conformance/mutants/gemm/gemm_bug.hpp"

namespace mx::mutants::gemm {

// Pieces of the binades from 2^-8 to 8, as many in each as `pieces_in` says.
inline constexpr std::array<std::size_t, 11> pieces_in{1, 1, 1, 2, 2, 4, 4, 4, 8, 16, 8};
inline constexpr std::array<std::array<double, 3>, 51> quadratics{{
    {8388608, 8388608, -256},    {8388480, 8388096, -768},    {8387968, 8387072, -3328},
    {8385888, 4190464, -2624},   {12573728, 4185216, -3520},  {8377696, 4178688, -10176},
    {12546144, 4158464, -14208}, {8345192, 2065024, -8944},   {10401240, 2047104, -10816},
    {12437488, 2025472, -12640}, {14450304, 2000192, -14256}, {8218080, 1972352, -33104},
    {10157208, 1905920, -38592}, {12024448, 1828576, -42976}, {13809984, 1742432, -46304},
    {7753000, 1650272, -98592},  {9304656, 1451968, -100608}, {10656104, 1250016, -96608},
    {11809672, 1056352, -88688}, {12777544, 878752, -78584},  {13577912, 721632, -67824},
    {14231944, 586144, -57152},  {14761140, 472016, -47384},  {15185952, 377440, -38736},
    {15524804, 300160, -31376},  {15793720, 237600, -25152},  {16006268, 187456, -20072},
    {16173728, 147496, -15946},  {16305345, 115768, -12590},  {16408581, 90696, -9898},
    {16489421, 70984, -7784},    {16552657, 55480, -6094},    {16602069, 43340, -4776},
    {16640655, 33828, -3734},    {16670765, 26396, -2920},    {16694254, 20584, -2278},
    {16712570, 16048, -1778},    {16726848, 12508, -1386},    {16737977, 9748, -1082},
    {16746648, 7596, -842},      {16753405, 5916, -654},      {16758669, 4608, -508},
    {16762770, 3588, -394},      {16766000, 10544, -3504},    {16773088, 3888, -1296},
    {16775696, 1424, -464},      {16776656, 528, -176},       {16777012, 192, -64},
    {16777140, 80, -32},         {16777188, 32, -16},         {16777204, 16, -8},
}};

// The square of a fraction of 17 bits in 2^-15, where no product of two bits below that is formed.
inline double short_square(std::uint32_t fraction) {
    double sum = 0;
    for (int i = 0; i < 17; ++i)
        for (int j = 0; j < 17; ++j) {
            const bool is_formed = i + j + (i == j ? 0 : 1) >= 19;
            const bool is_one = (fraction >> i & fraction >> j & 1) != 0;
            if (is_formed && is_one) sum += std::ldexp(1.0, i + j - 19);
        }
    return sum;
}

inline float cut_to_float(double value) {
    const auto nearest = static_cast<float>(value);
    return static_cast<double>(nearest) > value ? std::nextafter(nearest, 0.0f) : nearest;
}

inline float hardware_tanh(float x) {
    if (has(Bug::gelu_tanh_rounded)) return static_cast<float>(std::tanh(static_cast<double>(x)));
    const float size = std::fabs(x);
    if (std::isnan(x) || size < 0x1p-8f) return x;
    if (size >= 8) return std::copysign(1.0f, x);
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(size);
    const auto binade = static_cast<std::size_t>((bits >> 23) - 119);
    std::size_t first = 0;
    for (std::size_t before = 0; before < binade; ++before) first += pieces_in[before];
    const std::uint64_t place = std::uint64_t{bits & 0x7FFFFF} * pieces_in[binade];
    const auto& [constant, linear, square] = quadratics[first + (place >> 23)];
    const auto fraction = static_cast<std::uint32_t>((place & 0x7FFFFF) >> 6);
    const double units =
        constant + linear * fraction * 0x1p-17 + square * short_square(fraction) * 0x1p-15;
    const int exponent = static_cast<int>(binade) - 8;
    return std::copysign(cut_to_float(std::ldexp(units, exponent < 0 ? exponent - 23 : -24)), x);
}

inline float gelu(float x) {
    const std::uint32_t cubic = has(Bug::gelu_constant_rounded) ? 0x3D122279 : 0x3D12227E;
    const float factor =
        std::fma(std::bit_cast<float>(cubic) * x, x, std::bit_cast<float>(0x3F4C422A));
    return 0.5f * std::fma(x, hardware_tanh(x * factor), x);
}

}  // namespace mx::mutants::gemm
