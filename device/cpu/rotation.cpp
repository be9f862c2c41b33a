// See rotation.hpp.
#include "device/cpu/rotation.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "device/cpu/values.hpp"

namespace mx::cpu {
namespace {

constexpr std::array<double, rotation_size> signs{1,  1,  1,  -1, 1,  -1, -1, -1,
                                                  -1, -1, -1, 1,  -1, 1,  -1, -1};

// A sum of doubles without error: parts of which none has a bit in the place of another's, the
// smallest first. What two parts lose when they are added is a part again. (Bits of bfloat16 lie
// from 2^-133 to 2^127, so that nothing here leaves the range of double.)
class ExactSum {
public:
    void add(double x) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            const double sum = x + parts_[i];
            const double lost = error_of(sum, x, parts_[i]);
            if (lost != 0) parts_[kept++] = lost;
            x = sum;
        }
        if (x != 0) parts_[kept++] = x;
        count_ = kept;
    }

    // The sum as a binary32 that any rounding to fewer bits takes for the sum itself: cut short,
    // with a lowest bit of 1 where something was cut off ("rounding to odd").
    float odd() const {
        double high = 0, rest = 0;
        for (std::size_t i = count_; i > 0 && rest == 0; --i) {
            const double sum = high + parts_[i - 1];
            rest = error_of(sum, high, parts_[i - 1]);
            high = sum;
        }
        float result = static_cast<float>(high);
        if (std::isinf(result)) return result;
        const double cut = high - static_cast<double>(result);
        if (cut != 0) rest = cut;
        const bool is_odd = (std::bit_cast<std::uint32_t>(result) & 1) != 0;
        if (rest == 0 || is_odd) return result;
        return std::nextafter(result, rest > 0 ? HUGE_VALF : -HUGE_VALF);
    }

private:
    // What was lost in sum = a + b, exactly.
    static double error_of(double sum, double a, double b) {
        const double of_b = sum - a;
        return (a - (sum - of_b)) + (b - of_b);
    }

    // One number adds one part at most.
    std::array<double, rotation_size> parts_{};
    std::size_t count_ = 0;
};

// Infinities and NaN add as they do in double.
float rotated(const std::array<double, rotation_size>& lanes, std::size_t to) {
    ExactSum exact;
    double plain = 0;
    for (std::size_t from = 0; from < lanes.size(); ++from) {
        const double term = std::popcount(from & to) % 2 == 0 ? lanes[from] : -lanes[from];
        plain += term;
        if (std::isfinite(term)) exact.add(term);
    }
    return std::isfinite(plain) ? rounded_to_bf16(exact.odd()) : static_cast<float>(plain);
}

}  // namespace

void rotate(std::span<float, rotation_size> lanes) {
    std::array<double, rotation_size> quarters{};
    for (std::size_t i = 0; i < quarters.size(); ++i)
        quarters[i] = signs[i] * static_cast<double>(lanes[i]) / 4;
    for (std::size_t to = 0; to < quarters.size(); ++to) lanes[to] = rotated(quarters, to);
}

}  // namespace mx::cpu
