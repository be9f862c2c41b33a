// What sums round to, by sums in doubles that round at every step, and a bound of how far they are
// off: most often both ends of the doubt round alike, and the output is settled. The few others are
// open_outputs.hpp's. Used by exact_gemm.cpp; proved by reference/proof/prove_gemm_rounded.cpp.
#pragma once

#include <vector>

#include "reference/gemm/exact_gemm.hpp"
#include "reference/gemm/rounded_factor.hpp"

namespace mx::gemm {

class RoundedGemm {
public:
    RoundedGemm(const Kernel& kernel, const Factors& factors);

    // Does a sample of the outputs say that few would be left open?
    static bool settles_most(const Kernel& kernel, const Factors& factors);

    // Hands over what is settled, and has `after` find the rest.
    void run(const Kernel& after, const ReceiveValue& receive);

    // Hands over what is settled; the places of the rest.
    std::vector<Place> settle(const ReceiveValue& receive);

private:
    struct Square;
    struct Packed;
    void sum(const Square& square) const;
    void multiply(const Packed& packed, double* sums) const;
    // `tile` counts tiles of the square.
    void hand_over(const Square& square, const Place& tile, const ReceiveValue& receive,
                   std::vector<Place>& open) const;
    std::size_t first_of_tiles(const Square& square, std::size_t tile_of_b) const;
    std::size_t norms_step(const RoundedFactor& factor) const;

    const Kernel& kernel_;
    const Factors& factors_;
    Slabs slabs_;
    RoundedFactor a_, b_;
    double roundings_;
    AlignedBytes bytes_;  // for all that follow
    double *numbers_a_, *numbers_b_, *norms_a_, *norms_b_, *sums_;
};

}  // namespace mx::gemm
