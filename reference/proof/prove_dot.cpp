// fast/dot.hpp and fast/wide_sum.hpp: every product of two codes, every pair of scales, every place
// of the wide sum with carries and borrows through all of it, the leading bit of a sum in every
// place with the next up to 64 below it, and all ways in which NaN, Inf and zeros meet.
#include <array>

#include "reference/exact/arithmetic.hpp"
#include "reference/exact/dot.hpp"
#include "reference/fast/dot.hpp"
#include "reference/proof/gemm_rows.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

constexpr std::array<std::string_view, 6> elements{"e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "int8"};
constexpr std::array<std::string_view, 5> outputs{"f32", "bf16", "f16", "e4m3", "e5m2"};

struct Product {
    CodeRow a, b;
    std::uint32_t alpha = one_f32, beta = 0, c = 0;
    static constexpr std::uint32_t one_f32 = 0x3F800000;
};

exact::Value exact_gemm(const Product& p) {
    const auto f32 = [](std::uint32_t bits) { return exact::decode(formats::f32, Code{bits}); };
    return exact::combine({f32(p.alpha), f32(p.beta)},
                          exact::dot(p.a.row(), p.b.row(), p.a.depth()), f32(p.c));
}

fast::Total fast_gemm(const Product& p) {
    const auto f32 = [](std::uint32_t bits) { return fast::unpack(formats::f32, Code{bits}); };
    return fast::combine({f32(p.alpha), f32(p.beta)}, fast::dot(p.a.row(), p.b.row(), p.a.depth()),
                         f32(p.c));
}

// The two as codes of `format` in two roundings, side by side.
std::uint64_t exact_codes(const ElementFormat& format, const exact::Value& value) {
    const auto in = [&](Rounding rounding) {
        return std::uint64_t{exact::round(format, rounding, Overflow::overflow, value).bits};
    };
    return in(Rounding::nearest_even) | in(Rounding::toward_negative) << 32;
}

std::uint64_t fast_codes(const ElementFormat& format, const fast::Total& total) {
    const auto in = [&](Rounding rounding) {
        return std::uint64_t{fast::round_total(format, rounding, Overflow::overflow, total).bits};
    };
    return in(Rounding::nearest_even) | in(Rounding::toward_negative) << 32;
}

Report compare_products(std::uint32_t count, int threads, const ElementFormat& output,
                        const std::function<Product(std::uint32_t)>& product_of) {
    return compare_everywhere(
        count, threads,
        [&](std::uint32_t i) { return exact_codes(output, exact_gemm(product_of(i))); },
        [&](std::uint32_t i) { return fast_codes(output, fast_gemm(product_of(i))); });
}

Proof product_proof(std::string_view left_name) {
    return {"gemm products " + std::string(left_name),
            "every code with every code of all MX formats, without scales, to f32",
            [left_name](int threads) {
                std::vector<Report> reports;
                for (const std::string_view right_name : elements) {
                    const ElementFormat left = *find_element_format(left_name);
                    const ElementFormat right = *find_element_format(right_name);
                    const std::uint32_t rights = 1u << right.code_bits();
                    reports.push_back(compare_products(
                        rights << left.code_bits(), threads, formats::f32, [&](std::uint32_t i) {
                            return Product{{left, {i / rights}}, {right, {i % rights}}};
                        }));
                }
                return joined(reports);
            }};
}

Proof scale_proof(std::string_view output) {
    return {"gemm scales " + std::string(output),
            "all 2^16 pairs of E8M0 scales with the least, the largest and two odd products of "
            "e4m3, to " +
                std::string(output),
            [output](int threads) {
                std::vector<Report> reports;
                for (const std::uint32_t code : {0x01u, 0x7Eu, 0x3Fu, 0xABu})
                    reports.push_back(compare_products(
                        1u << 16, threads, *find_element_format(output), [&](std::uint32_t i) {
                            return Product{{formats::e4m3, {code}, formats::e8m0, {i >> 8}, 32},
                                           {formats::e4m3, {0x3F}, formats::e8m0, {i & 255}, 32}};
                        }));
                return joined(reports);
            },
            output == "f32" || output == "e4m3" ? Effort::always : Effort::whole_set};
}

// Scales of binary32 and of NVFP4, elements of binary32, and alpha: the widest products there are.
Proof wide_scale_proof() {
    return {"gemm wide scales", "borders of f32 as elements, scales and alpha; all ue4m3 scales",
            [](int threads) {
                static constexpr std::array<std::uint32_t, 8> borders{
                    0x00000001, 0x007FFFFF, 0x00800000, 0x3F800001,
                    0x7F7FFFFF, 0x80000001, 0xBFFFFFFF, 0x34000001};
                std::vector<Report> reports;
                reports.push_back(
                    compare_products(1u << 15, threads, formats::f32, [](std::uint32_t i) {
                        const auto border = [i](int place) { return borders[i >> 3 * place & 7]; };
                        Product p{{formats::f32, {border(0)}, formats::f32, {border(1)}, 16},
                                  {formats::f32, {border(2)}, formats::f32, {border(3)}, 16}};
                        p.alpha = border(4);
                        p.beta = border(1);
                        p.c = border(2);
                        return p;
                    }));
                reports.push_back(
                    compare_products(1u << 16, threads, formats::f32, [](std::uint32_t i) {
                        return Product{{formats::e2m1, {5, 3}, ue4m3, {i >> 8}, 16},
                                       {formats::e2m1, {7, 9}, ue4m3, {i & 255}, 16}};
                    }));
                return joined(reports);
            }};
}

// NaN, infinities and zeros of both signs, everywhere at once.
Proof special_proof() {
    return {"gemm specials", "zeros, ones, infinities and NaN as two products, alpha, beta and C",
            [](int threads) {
                static constexpr std::array<std::uint32_t, 7> e5m2{0x00, 0x80, 0x3C, 0xBC,
                                                                   0x7C, 0xFC, 0x7E};
                static constexpr std::array<std::uint32_t, 7> f32{
                    0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000};
                return compare_products(
                    7 * 7 * 7 * 7 * 7 * 3 * 7, threads, formats::f32, [](std::uint32_t i) {
                        const auto next = [&i](std::uint32_t count) {
                            const std::uint32_t digit = i % count;
                            i /= count;
                            return digit;
                        };
                        Product p{{formats::e5m2, {e5m2[next(7)], e5m2[next(7)]}},
                                  {formats::e5m2, {e5m2[next(7)], e5m2[next(7)]}}};
                        p.alpha = f32[next(7)];
                        p.beta = f32[next(3)];
                        p.c = f32[next(7)];
                        return p;
                    });
            }};
}

// The wide sum as an integer of its lowest unit.
exact::Integer integer_of(const fast::WideSum& sum) {
    exact::Integer value = 0;
    const fast::WideSum magnitude = fast::magnitude_of(sum);
    for (int i = fast::WideSum::limb_count; i-- > 0;) value = (value << 64) + magnitude.limbs[i];
    return fast::is_negative(sum) ? exact::Integer(-value) : value;
}

constexpr int wide_bits = 64 * fast::WideSum::limb_count;

// A sum that sends a carry, or a borrow, through every limb; and one of alternating bits.
fast::WideSum wide_start(std::uint32_t which) {
    fast::WideSum sum;
    if (which == 1) fast::add(sum, {true, fast::WideSum::exponent_min, 1});
    for (int i = 0; which >= 2 && i + 1 < fast::WideSum::limb_count; ++i)
        sum.limbs[i] = which == 2 ? ~std::uint64_t{0} : 0xAAAAAAAAAAAAAAAA;
    return sum;
}

Proof wide_sum_proof() {
    return {"gemm wide sum", "every place, sign and carry", [](int threads) {
                constexpr std::uint32_t places = wide_bits - 2 - 96;
                std::vector<Report> parts(places);
                parallel_for(places, threads, [&](std::size_t place) {
                    std::string text;
                    for (std::uint32_t i = 0; i < 4 * 3 * 2; ++i) {
                        const fast::Uint128 ones = (fast::Uint128{1} << 96) - 1;
                        const fast::Uint128 digits = i / 4 % 3 == 0   ? fast::Uint128{1}
                                                     : i / 4 % 3 == 1 ? ones
                                                                      : ones / 3;
                        fast::WideSum sum = wide_start(i % 4);
                        exact::Integer expected = integer_of(sum);
                        exact::Integer term = static_cast<std::uint64_t>(digits >> 64);
                        term = ((term << 64) + static_cast<std::uint64_t>(digits)) << place;
                        expected += i < 12 ? term : exact::Integer(-term);
                        fast::add(sum,
                                  {i >= 12, fast::WideSum::exponent_min + static_cast<int>(place),
                                   digits});
                        text += expected.str() + "\n";
                        ++parts[place].count;
                        if (integer_of(sum) != expected) add_mismatch(parts[place], place, i, i);
                    }
                    parts[place].digest = sha256(text);
                });
                return joined(parts);
            }};
}

// Two bits of a sum, every distance apart, rounded: the second decides ties and directions.
Proof leading_bits_proof() {
    return {"gemm rounding of sums", "two bits of a sum at every distance up to 64 and far apart",
            [](int threads) {
                constexpr std::uint32_t distances = 80;
                const auto sum_of = [](std::uint32_t input) {
                    const int high = static_cast<int>(input / 2 / distances);
                    const int place = static_cast<int>(input / 2 % distances);
                    const int low = place < 64 ? high - 1 - place : (place - 64) * high / 16;
                    return std::array<int, 2>{high, low < 0 ? 0 : low};
                };
                return compare_everywhere(
                    (wide_bits - 2) * distances * 2, threads,
                    [&](std::uint32_t input) {
                        const auto [high, low] = sum_of(input);
                        exact::Integer sum =
                            (exact::Integer(1) << high) + (exact::Integer(1) << low);
                        if (input % 2 != 0) sum = -sum;
                        const exact::Rational value =
                            sum * exact::power_of_two(fast::WideSum::exponent_min);
                        return exact_codes(formats::f32, exact::number(value));
                    },
                    [&](std::uint32_t input) {
                        const auto [high, low] = sum_of(input);
                        fast::Total total;
                        for (const int bit : {high, low})
                            fast::add(total.sum,
                                      {input % 2 != 0, fast::WideSum::exponent_min + bit, 1});
                        return fast_codes(formats::f32, total);
                    });
            }};
}

}  // namespace

std::vector<Proof> dot_proofs() {
    std::vector<Proof> proofs;
    for (const std::string_view element : elements) proofs.push_back(product_proof(element));
    for (const std::string_view output : outputs) proofs.push_back(scale_proof(output));
    proofs.push_back(wide_scale_proof());
    proofs.push_back(special_proof());
    proofs.push_back(wide_sum_proof());
    proofs.push_back(leading_bits_proof());
    return proofs;
}

}  // namespace mx::proof
