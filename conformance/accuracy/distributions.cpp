// See distributions.hpp.
#include "conformance/accuracy/distributions.hpp"

#include <cmath>
#include <numbers>

#include "conformance/data/philox.hpp"

namespace mx::accuracy {
namespace {

double signed_by(double magnitude, double uniform) {
    return uniform < 0.5 ? -magnitude : magnitude;
}

// Box and Muller.
double normal(const Uniforms& u) {
    return std::sqrt(-2 * std::log(u[0])) * std::cos(2 * std::numbers::pi * u[1]);
}
double uniform(const Uniforms& u) {
    return 2 * u[0] - 1;
}
double laplace(const Uniforms& u) {
    return signed_by(-std::log(u[0]), u[1]);
}
// Bailey's polar form: u0^(-2/n) - 1 for n degrees of freedom.
double student_3(const Uniforms& u) {
    return std::sqrt(3 * (std::pow(u[0], -2.0 / 3) - 1)) * std::cos(2 * std::numbers::pi * u[1]);
}
double log_normal(const Uniforms& u) {
    return signed_by(std::exp(2 * normal(u)), u[2]);
}
double outliers(const Uniforms& u) {
    return normal(u) * (u[2] < 1.0 / 1024 ? 100 : 1);
}
double rectified(const Uniforms& u) {
    const double value = normal(u);
    return value < 0 ? 0 : value;
}

constexpr std::array table{
    Distribution{"normal", "normal, variance 1", normal},
    Distribution{"uniform", "uniform from -1 to 1", uniform},
    Distribution{"laplace", "two-sided exponential", laplace},
    Distribution{"student-3", "Student's t with 3 degrees of freedom: heavy tails", student_3},
    Distribution{"log-normal", "magnitudes log-normal with sigma 2, either sign", log_normal},
    Distribution{"outliers", "normal, one value in 1024 a hundred times as large", outliers},
    Distribution{"rectified", "normal with its negative half zero", rectified},
};

// 32 bits to the middle of one of 2^32 equal parts of (0, 1).
double in_unit(std::uint32_t bits) {
    return (static_cast<double>(bits) + 0.5) * 0x1p-32;
}

}  // namespace

std::span<const Distribution> distributions() {
    return table;
}

const Distribution* find_distribution(std::string_view name) {
    for (const Distribution& distribution : table)
        if (distribution.name == name) return &distribution;
    return nullptr;
}

std::vector<float> draw(const Distribution& distribution, const Draw& wanted) {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(wanted.count));
    for (std::int64_t i = 0; i < wanted.count; ++i) {
        const PhiloxBlock bits = philox({wanted.seed, 0, static_cast<std::uint64_t>(i)});
        values.push_back(static_cast<float>(
            distribution.value({in_unit(bits[0]), in_unit(bits[1]), in_unit(bits[2])})));
    }
    return values;
}

}  // namespace mx::accuracy
