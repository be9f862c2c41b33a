// Rows of a factor as the kernels read them: decoded, scaled or cut into parts, so many rows side
// by side as a tile has. Used by exact_gemm.cpp alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "reference/gemm/exact_gemm.hpp"

namespace mx::gemm {

// What a format's values are without their scales: integers of `digits` bits times 2^low.
struct Span {
    int low;
    int digits;
};

// An E8M0 scale moves the digits; one of another kind adds its own to them.
Span span_of(const ScaledRow& row);

// A number in quanta of its format; what is not finite counts as none.
std::int64_t quanta_of(const ElementFormat& format, Code code);

// How K is cut: no slab reaches over the end of a block of either factor.
struct Slabs {
    int length = slab_max;
    std::int64_t count = 0;
};
Slabs slabs_of(const Factors& factors);

// The part of a value that a panel holds where its format has too many digits for one product.
enum class Half { none, below_two, from_two };

// How a kernel of doubles sums products: so many that all their digits fit in 53 bits, of whole
// factors or, with two panels of A, of its halves.
struct Chain {
    int interval = 0;  // 0: not even one fits
    bool halved = false;
};
Chain chain_of(const ScaledRow& a, const ScaledRow& b);

// What Half::below_two and Half::from_two leave of a row.
Span span_of_half(const ScaledRow& row, Half half);

// The least and largest exponent of the E8M0 scales in a slab; where no row has digits there,
// least > largest.
struct ScaleRange {
    int least = 1;
    int largest = 0;

    bool is_empty() const { return least > largest; }
    bool has(int exponent) const { return least <= exponent && exponent <= largest; }
    void add(int exponent) {
        if (is_empty()) least = largest = exponent;
        if (exponent < least) least = exponent;
        if (exponent > largest) largest = exponent;
    }
};

struct AlignedDelete {
    std::size_t mapped = 0;  // bytes that were mapped; 0: from the heap
    void operator()(std::byte* bytes) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;
// Aligned to a large page, and made of such where the system gives them. They are mapped anew: what
// the heap gives again has small pages where it had them before, and these may lie so that too many
// want the same places of the second cache.
AlignedBytes aligned_bytes(std::size_t size);

enum class Side { a, b };

// How codes of one format become numbers of a panel.
struct Decoder {
    double unit = 1;                        // of a panel's numbers
    std::array<double, 256> values;         // 0 where it is not finite
    std::array<std::uint64_t, 256> parts;   // bfloat16, the lowest part in the lowest bits
    std::array<std::uint8_t, 256> special;  // 1: infinity, 2: NaN
    // Magnitudes from `special_first` on are special; 256: none are.
    std::uint8_t magnitude_mask = 0xFF;
    int special_first = 256;
};
Decoder decoder_of(const ElementFormat& format, const Kernel& kernel, Half half);

// What a row has that is not finite.
struct Specials {
    bool nan = false;
    std::vector<std::int64_t> infinities;  // where

    bool any() const { return nan || !infinities.empty(); }
};

// Codes that lie side by side, of which the first is element `first` of its row.
struct CodeStretch {
    const std::uint8_t* codes;
    std::int64_t first;
    int count;
};
void note_specials(const Decoder& decoder, const CodeStretch& stretch, Specials& specials);

struct SpecialsPair {
    const Specials& a;
    const Specials& b;
};
// What the infinities of a pair of rows come to, or that one has a NaN.
ExactSum special_sum(const Factors& factors, const Place& place, const SpecialsPair& specials);

// Of a slab in a panel.
std::int64_t slab_bytes(const Kernel& kernel, Side side, const Slabs& slabs);

// A panel of up to `width` rows over all of K.
class Panel {
public:
    Panel(const Kernel& kernel, Side side, const Slabs& slabs);

    // Rows beyond the last are zeros.
    void fill(const Decoder& decoder, std::span<const ScaledRow> rows, std::int64_t depth);

    const std::byte* slab(std::int64_t index) const { return bytes_.get() + index * slab_bytes_; }
    const double* scales(std::int64_t index) const { return scales_.data() + index * width_; }
    const ScaleRange& range(std::int64_t index) const {
        return ranges_[static_cast<std::size_t>(index)];
    }
    const Specials& specials(int row) const { return specials_[static_cast<std::size_t>(row)]; }

private:
    struct Stretch;  // of one row in one slab
    void scale_row(double unit, const ScaledRow& row, const Stretch& stretch);
    static const std::uint8_t* gather(const ScaledRow& from, const Stretch& stretch,
                                      std::uint8_t* copied);
    void store_values(const Decoder& decoder, const std::uint8_t* codes, const Stretch& stretch);
    void store_parts(const Decoder& decoder, const std::uint8_t* codes, const Stretch& stretch);

    bool as_parts_;
    int parts_;
    int width_;
    Side side_;
    Slabs slabs_;
    std::int64_t slab_bytes_;
    AlignedBytes bytes_;
    std::vector<double> scales_;
    std::vector<ScaleRange> ranges_;
    std::vector<Specials> specials_;
};

}  // namespace mx::gemm
