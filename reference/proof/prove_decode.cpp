// fast/decode.hpp and fast/bits.hpp: unpack equals the exact decode for every code of every format
// of 16 bits and less. The 2^32 codes of f32 are covered by the sweeps of prove_round.
#include "reference/exact/decode.hpp"
#include "reference/fast/decode.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/formats.hpp"

namespace mx::proof {
namespace {

bool same(const exact::Value& value, const fast::Unpacked& unpacked) {
    if (value.negative != unpacked.negative) return false;
    if (value.is_nan()) return unpacked.kind == fast::Kind::nan;
    if (value.is_infinity()) return unpacked.kind == fast::Kind::infinity;
    return unpacked.kind == fast::Kind::finite &&
           value.magnitude == exact::Rational(exact::Integer(unpacked.significand)) *
                                  exact::power_of_two(unpacked.exponent);
}

Proof decode_proof(const ElementFormat& format) {
    const std::uint32_t count = std::uint32_t{1} << format.code_bits();
    return {"decode " + std::string(format.name),
            "all 2^" + std::to_string(format.code_bits()) + " codes", [format, count](int) {
                std::string text;
                Report report;
                for (std::uint32_t bits = 0; bits < count; ++bits) {
                    const exact::Value value = exact::decode(format, Code{bits});
                    const std::string fraction =
                        value.is_finite() ? exact::to_fraction(value.magnitude) : to_text(value);
                    text += (value.negative ? "-" : "+") + fraction + "\n";
                    ++report.count;
                    if (same(value, fast::unpack(format, Code{bits}))) continue;
                    if (++report.mismatches <= counterexamples_kept)
                        report.counterexamples.push_back(to_hex(bits) + " is " + fraction);
                }
                report.digest = sha256(text);
                return report;
            }};
}

// Kept part and remainder against a division. The remainder is told exactly up to a shift of 63;
// beyond, only that it is between zero and a half matters, and only that is asked.
bool drops_right(std::uint64_t significand, int shift) {
    const exact::Integer unit = exact::Integer(1) << static_cast<unsigned>(shift);
    const exact::Integer rest = exact::Integer(significand) % unit;
    const fast::Kept kept = fast::drop_low_bits(significand, shift);
    if (kept.significand != exact::Integer(significand) / unit) return false;
    if (shift <= 63) return exact::Integer(kept.remainder) * unit == rest << 64;
    return rest == 0 ? kept.remainder == 0
                     : 0 < kept.remainder && kept.remainder < fast::remainder_half;
}

// Every width at both ends of its range, and every shift of drop_low_bits around every half.
Report prove_bits() {
    Report report;
    const auto expect = [&report](bool holds, const std::string& what) {
        ++report.count;
        if (!holds && ++report.mismatches <= counterexamples_kept)
            report.counterexamples.push_back(what);
    };
    for (int width = 1; width <= 64; ++width) {
        const std::uint64_t first = std::uint64_t{1} << (width - 1);
        const std::uint64_t last = first | (first - 1);
        expect(fast::bit_width(first) == width, "bit_width(" + to_hex(first) + ")");
        expect(fast::bit_width(last) == width, "bit_width(" + to_hex(last) + ")");
        if (width > fast::significand_bits_max) continue;
        for (int shift = 0; shift <= 70; ++shift)
            for (const std::uint64_t significand : {first, first + 1, last, last - 1, first | 2})
                expect(drops_right(significand, shift),
                       "drop_low_bits(" + to_hex(significand) + ", " + std::to_string(shift) + ")");
    }
    report.digest = sha256("bits");
    return report;
}

}  // namespace

std::vector<Proof> decode_proofs() {
    std::vector<Proof> proofs;
    proofs.push_back(
        {"bits", "every width, every shift around every half", [](int) { return prove_bits(); }});
    for (const ElementFormat& format : element_formats)
        if (format.code_bits() <= 16) proofs.push_back(decode_proof(format));
    return proofs;
}

std::vector<Proof> all_proofs() {
    std::vector<Proof> proofs;
    for (const auto& list : {decode_proofs(), round_proofs(), scale_proofs(), block_proofs()})
        proofs.insert(proofs.end(), list.begin(), list.end());
    return proofs;
}

}  // namespace mx::proof
