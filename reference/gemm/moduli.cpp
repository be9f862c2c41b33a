// See moduli.hpp.
#include "reference/gemm/moduli.hpp"

namespace mx::gemm {

Moduli::Moduli(int bits) : count_(moduli_for(bits)), levels_(levels_for(bits)) {
    for (int i = 0; i < count_; ++i) {
        const auto modulus = static_cast<std::uint64_t>(moduli[static_cast<std::size_t>(i)]);
        LongNumber others{1};
        std::uint64_t remainder = 1;
        for (int j = 0; j < count_; ++j) {
            if (j == i) continue;
            const auto other = static_cast<std::uint64_t>(moduli[static_cast<std::size_t>(j)]);
            others = times(others, other, levels_);
            remainder = remainder * other % modulus;
        }
        int inverse = 1;
        while (remainder * static_cast<std::uint64_t>(inverse) % modulus != 1) ++inverse;
        inverses_.push_back(inverse);
        ResidueWeight weight{(std::uint64_t{1} << fraction_bits) / modulus, {}};
        for (int level = 0; level < levels_; ++level)
            weight.digits[level] = others[static_cast<std::size_t>(level)];
        weights_.push_back(weight);
        product_ = times(product_, modulus, levels_);
    }
}

}  // namespace mx::gemm
