// See panels.hpp.
#include "reference/gemm/panels.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <numeric>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace mx::gemm {
namespace {

constexpr std::uint8_t is_infinity = 1, is_nan = 2;
constexpr int tile_side = 16;  // of the kernels that multiply parts

// 2^exponent, far from the ends of what a double can hold.
double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

double double_of(const fast::Unpacked& value) {
    const double magnitude = static_cast<double>(value.significand) * power_of_two(value.exponent);
    return value.negative ? -magnitude : magnitude;
}

bool is_e8m0(const ScaledRow& row) {
    return row.block != 0 && row.scale.name == formats::e8m0.name;
}

// A whole number of at most 8 significant bits as bfloat16.
//
//   number 1xxxxxxx * 2^n  ->  sign, exponent field, xxxxxxx
std::uint16_t bf16_of(std::uint32_t number, bool negative) {
    if (number == 0) return 0;
    const int exponent = fast::bit_width(number) - 1;
    const std::uint32_t mantissa = (number << 7) >> exponent;
    MX_ASSERT_COMPARE(mantissa << exponent, ==, number << 7);
    const std::uint32_t field = static_cast<std::uint32_t>(exponent + 127) << 7;
    return static_cast<std::uint16_t>((negative ? 0x8000u : 0u) | field | (mantissa & 0x7F));
}

#if defined(__linux__)
constexpr std::size_t large_page = std::size_t{1} << 21;

// One page more is asked for, and what lies before and behind the aligned ones is given back.
AlignedBytes mapped_bytes(std::size_t pages) {
    const std::size_t size = pages * large_page;
    void* const all = mmap(nullptr, size + large_page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    auto* const first = static_cast<std::byte*>(all);
    const std::size_t over = reinterpret_cast<std::uintptr_t>(all) % large_page;
    const std::size_t before = over == 0 ? 0 : large_page - over;
    std::byte* const bytes = first + before;
    if (before != 0) munmap(first, before);
    munmap(bytes + size, large_page - before);
    madvise(bytes, size, MADV_HUGEPAGE);
    return AlignedBytes(bytes, AlignedDelete{size});
}
#endif

bool is_left_out(Half half, double value) {
    const double magnitude = value < 0 ? -value : value;
    return (half == Half::below_two && magnitude >= 2) || (half == Half::from_two && magnitude < 2);
}

}  // namespace

Span span_of(const ScaledRow& row) {
    const auto digits_of = [](const ElementFormat& format) {
        const fast::Unpacked largest = fast::unpack(format, Code{format.code_max_finite()});
        const int width =
            largest.exponent - format.quantum_exponent_min() + fast::bit_width(largest.significand);
        // The most negative code of two's complement is one more.
        return width + (format.negatives == Negatives::twos_complement ? 1 : 0);
    };
    Span span{row.element.quantum_exponent_min(), digits_of(row.element)};
    if (row.block == 0 || is_e8m0(row)) return span;
    return {span.low + row.scale.quantum_exponent_min(), span.digits + digits_of(row.scale)};
}

std::int64_t quanta_of(const ElementFormat& format, Code code) {
    const fast::Unpacked value = fast::unpack(format, code);
    if (value.kind != fast::Kind::finite) return 0;
    const auto quanta = static_cast<std::int64_t>(
        value.significand << (value.exponent - format.quantum_exponent_min()));
    return value.negative ? -quanta : quanta;
}

// The lower half has the quanta of the format and reaches up to 2; the upper one has the quantum of
// its own lowest binade, from 2 to 4, and reaches as high as the format.
Span span_of_half(const ScaledRow& row, Half half) {
    const Span whole = span_of(row);
    constexpr int split = 1;  // 2 is 2^1
    if (half == Half::none) return whole;
    if (half == Half::below_two) return {whole.low, split - whole.low};
    const int low = split - row.element.mantissa_bits;
    return {low, whole.low + whole.digits - low};
}

Chain chain_of(const ScaledRow& a, const ScaledRow& b) {
    constexpr int double_bits = 53, interval_least = 8;
    const auto interval_for = [&](int digits) {
        int interval = slab_max;
        while (interval > 0 &&
               digits + fast::bit_width(static_cast<std::uint64_t>(interval)) - 1 > double_bits)
            interval /= 2;
        return interval;
    };
    const int whole = interval_for(span_of(a).digits + span_of(b).digits);
    const bool has_halves = a.element.name == formats::e5m2.name && (a.block == 0 || is_e8m0(a));
    if (whole >= interval_least || !has_halves) return {whole, false};
    const int digits =
        std::max(span_of_half(a, Half::below_two).digits, span_of_half(a, Half::from_two).digits);
    return {interval_for(digits + span_of(b).digits), true};
}

Slabs slabs_of(const Factors& factors) {
    const std::int64_t shared = std::gcd(factors.a.front().block, factors.b.front().block);
    const std::int64_t length =
        shared != 0 && shared <= slab_max ? shared : std::gcd(shared, std::int64_t{slab_max});
    return {static_cast<int>(length), (factors.depth + length - 1) / length};
}

void AlignedDelete::operator()(std::byte* bytes) const {
#if defined(__linux__)
    if (mapped != 0) {
        munmap(bytes, mapped);
        return;
    }
#endif
    std::free(bytes);
}

AlignedBytes aligned_bytes(std::size_t size) {
    constexpr std::size_t line = 64;
#if defined(__linux__)
    if (size >= large_page / 2) return mapped_bytes((size + large_page - 1) / large_page);
#endif
    const std::size_t whole = (std::max<std::size_t>(size, 1) + line - 1) / line * line;
    auto* bytes = static_cast<std::byte*>(std::aligned_alloc(line, whole));
    if (bytes == nullptr) throw std::bad_alloc();
    return AlignedBytes(bytes);
}

Decoder decoder_of(const ElementFormat& format, const Kernel& kernel, Half half) {
    Decoder decoder{};
    const int low = format.quantum_exponent_min();
    decoder.magnitude_mask = static_cast<std::uint8_t>(format.code_magnitude_mask());
    // A NaN in the place of -0 has no magnitude that tells it: every code is looked at then.
    const bool nan_is_above = (format.code_nan() & format.code_magnitude_mask()) != 0;
    decoder.special_first = !format.has_nan() ? 256
                            : nan_is_above    ? static_cast<int>(format.code_max_finite()) + 1
                                              : 0;
    // Parts are whole numbers of quanta.
    if (kernel.parts != 0) decoder.unit = power_of_two(low);
    for (std::uint32_t bits = 0; bits < 256; ++bits) {
        const fast::Unpacked value = fast::unpack(format, Code{bits});
        if (value.kind != fast::Kind::finite) {
            decoder.special[bits] = value.kind == fast::Kind::nan ? is_nan : is_infinity;
            continue;
        }
        const double number = double_of(value);
        decoder.values[bits] = is_left_out(half, number) ? 0 : number;
        const std::uint64_t quanta = value.significand << (value.exponent - low);
        for (int i = 0; i < kernel.parts; ++i) {
            const std::uint64_t mask = (std::uint64_t{1} << kernel.part_bits) - 1;
            const auto part = static_cast<std::uint32_t>(quanta >> (i * kernel.part_bits) & mask);
            decoder.parts[bits] |= std::uint64_t{bf16_of(part, value.negative)} << 16 * i;
        }
    }
    return decoder;
}

void note_specials(const Decoder& decoder, const CodeStretch& stretch, Specials& specials) {
    std::uint8_t largest = 0;
    for (int k = 0; k < stretch.count; ++k)
        largest =
            std::max(largest, static_cast<std::uint8_t>(stretch.codes[k] & decoder.magnitude_mask));
    if (largest < decoder.special_first) return;
    for (int k = 0; k < stretch.count; ++k) {
        const std::uint8_t special = decoder.special[stretch.codes[k]];
        specials.nan |= special == is_nan;
        if (special == is_infinity) specials.infinities.push_back(stretch.first + k);
    }
}

ExactSum special_sum(const Factors& factors, const Place& place, const SpecialsPair& specials) {
    ExactSum sum;
    sum.kind = fast::Kind::nan;
    if (specials.a.nan || specials.b.nan) return sum;
    fast::Total total;
    for (const Specials* of_row : {&specials.a, &specials.b})
        for (const std::int64_t k : of_row->infinities)
            fast::add_product(total, fast::scaled_element(factors.a[place.row], k),
                              fast::scaled_element(factors.b[place.column], k));
    sum.kind = fast::kind_of(total);
    sum.negative_infinity = total.negative_infinity;
    return sum;
}

// `row` counts within the panel; `first` is the slab's first k, and `count` how many there are.
struct Panel::Stretch {
    int row;
    std::int64_t slab;
    std::int64_t first;
    int count;
};

std::int64_t slab_bytes(const Kernel& kernel, Side side, const Slabs& slabs) {
    if (kernel.parts != 0) return kernel.parts * tile_side * slab_max * 2;
    return std::int64_t{slabs.length} * (side == Side::a ? kernel.rows : kernel.columns) * 8;
}

Panel::Panel(const Kernel& kernel, Side side, const Slabs& slabs)
    : as_parts_(kernel.parts != 0),
      parts_(kernel.parts),
      width_(side == Side::a ? kernel.rows : kernel.columns),
      side_(side),
      slabs_(slabs),
      slab_bytes_(slab_bytes(kernel, side, slabs)),
      bytes_(aligned_bytes(static_cast<std::size_t>(slab_bytes_ * slabs.count))),
      scales_(static_cast<std::size_t>(slabs.count * width_)),
      ranges_(static_cast<std::size_t>(slabs.count)),
      specials_(static_cast<std::size_t>(width_)) {}

// Notes the scale of a stretch.
void Panel::scale_row(double unit, const ScaledRow& row, const Stretch& stretch) {
    double& scale = scales_[static_cast<std::size_t>(stretch.slab * width_ + stretch.row)];
    ScaleRange& range = ranges_[static_cast<std::size_t>(stretch.slab)];
    int exponent = 0;
    scale = unit;
    if (row.block != 0) {
        const fast::Unpacked value = fast::unpack(row.scale, row.scale_at(stretch.first));
        if (value.kind != fast::Kind::finite) {
            scale = 0;
            specials_[static_cast<std::size_t>(stretch.row)].nan = true;
            return;
        }
        scale = unit * double_of(value);
        if (is_e8m0(row)) exponent = value.exponent;
    }
    range.add(exponent);
}

void Panel::store_values(const Decoder& decoder, const std::uint8_t* codes,
                         const Stretch& stretch) {
    auto* to = reinterpret_cast<double*>(bytes_.get() + stretch.slab * slab_bytes_) + stretch.row;
    const double scale = scales_[static_cast<std::size_t>(stretch.slab * width_ + stretch.row)];
    for (int k = 0; k < stretch.count; ++k) to[k * width_] = decoder.values[codes[k]] * scale;
    for (int k = stretch.count; k < slabs_.length; ++k) to[k * width_] = 0;
}

// Two neighbours along k make a word. Of A the words of a row lie side by side, of B those of one
// k.
void Panel::store_parts(const Decoder& decoder, const std::uint8_t* codes, const Stretch& stretch) {
    constexpr int words = slab_max / 2;
    static_assert(words == tile_side);
    auto* to = reinterpret_cast<std::uint32_t*>(bytes_.get() + stretch.slab * slab_bytes_) +
               stretch.row * (side_ == Side::a ? words : 1);
    const int step = side_ == Side::a ? 1 : tile_side;
    std::uint8_t padded[slab_max] = {};
    if (stretch.count < slab_max)
        codes = std::copy(codes, codes + stretch.count, padded) - stretch.count;
    for (int k = 0; k < slab_max; k += 2, to += step) {
        const std::uint64_t even = decoder.parts[codes[k]], odd = decoder.parts[codes[k + 1]];
        for (int i = 0; i < parts_; ++i)
            to[i * words * tile_side] = static_cast<std::uint32_t>(even >> 16 * i & 0xFFFF) |
                                        static_cast<std::uint32_t>(odd >> 16 * i << 16);
    }
}

// The codes of a stretch side by side; of a row that is not there, none.
const std::uint8_t* Panel::gather(const ScaledRow& from, const Stretch& stretch,
                                  std::uint8_t* copied) {
    const std::uint8_t* codes = from.codes.bytes + stretch.first * from.codes.stride;
    if (from.codes.stride == 1) return codes;
    for (int k = 0; k < stretch.count; ++k) copied[k] = codes[k * from.codes.stride];
    return copied;
}

void Panel::fill(const Decoder& decoder, std::span<const ScaledRow> rows, std::int64_t depth) {
    std::fill(ranges_.begin(), ranges_.end(), ScaleRange{});
    std::fill(specials_.begin(), specials_.end(), Specials{});
    std::fill(scales_.begin(), scales_.end(), 0.0);
    for (std::int64_t slab = 0; slab < slabs_.count; ++slab) {
        const std::int64_t first = slab * slabs_.length;
        const auto count = static_cast<int>(std::min<std::int64_t>(slabs_.length, depth - first));
        for (int row = 0; row < width_; ++row) {
            const bool is_there = static_cast<std::size_t>(row) < rows.size();
            const Stretch stretch{row, slab, first, is_there ? count : 0};
            std::uint8_t copied[slab_max];
            const std::uint8_t* codes = copied;
            if (is_there) {
                const ScaledRow& from = rows[static_cast<std::size_t>(row)];
                codes = gather(from, stretch, copied);
                scale_row(decoder.unit, from, stretch);
                note_specials(decoder, {codes, first, count},
                              specials_[static_cast<std::size_t>(row)]);
            }
            if (as_parts_)
                store_parts(decoder, codes, stretch);
            else
                store_values(decoder, codes, stretch);
        }
    }
}

}  // namespace mx::gemm
