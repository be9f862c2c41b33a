// fast/decode.hpp and fast/bits.hpp: unpack equals the exact decode for every code of every format
// of 16 bits and less. Over the 2^32 codes of f32, unpack is shown to give each binade one exponent
// and consecutive significands: with the sweeps of prove_round over those, no code is left out.
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

// Compares one code, and appends the exact value to the text of the digest.
void compare_code(const ElementFormat& format, std::uint32_t bits, Report& report,
                  std::string& text) {
    const exact::Value value = exact::decode(format, Code{bits});
    const std::string fraction =
        value.is_finite() ? exact::to_fraction(value.magnitude) : to_text(value);
    text += (value.negative ? "-" : "+") + fraction + "\n";
    ++report.count;
    if (same(value, fast::unpack(format, Code{bits}))) return;
    if (++report.mismatches <= counterexamples_kept)
        report.counterexamples.push_back(to_hex(bits) + " is " + fraction);
}

Proof decode_proof(const ElementFormat& format) {
    return {"decode " + std::string(format.name), all_codes_of(format), [format](int) {
                std::string text;
                Report report;
                const std::uint32_t count = std::uint32_t{1} << format.code_bits();
                for (std::uint32_t bits = 0; bits < count; ++bits)
                    compare_code(format, bits, report, text);
                report.digest = sha256(text);
                return report;
            }};
}

// What unpack gives for a code, counted from what it gives for the first code of its binade. NaN
// codes have no value to count.
bool follows(const fast::Unpacked& first, const fast::Unpacked& next, std::uint32_t distance) {
    if (first.negative != next.negative) return false;
    if (first.kind != fast::Kind::finite) return next.kind == fast::Kind::nan;
    return next.kind == fast::Kind::finite && first.exponent == next.exponent &&
           first.significand + distance == next.significand;
}

// The first and last codes of a binade against the exact oracle, and all between against the first.
Report prove_binade(std::uint32_t first_bits) {
    constexpr ElementFormat f32 = formats::f32;
    const std::uint32_t last = first_bits | f32.code_mantissa_mask();
    Report report;
    std::string text;
    for (const std::uint32_t bits : {first_bits, first_bits + 1, last})
        compare_code(f32, bits, report, text);
    const fast::Unpacked first = fast::unpack(f32, Code{first_bits});
    std::uint32_t wrong = 0;
    for (std::uint32_t bits = first_bits + 1; bits != last; ++bits)
        wrong += follows(first, fast::unpack(f32, Code{bits}), bits - first_bits) ? 0 : 1;
    if (wrong != 0)
        report.counterexamples.push_back(std::to_string(wrong) + " codes from " +
                                         to_hex(first_bits) + " on do not count up");
    report.count = f32.code_mantissa_mask() + 1;
    report.mismatches += wrong;
    report.digest = sha256(text);
    return report;
}

Report prove_f32(int threads) {
    std::vector<Report> binades(512);
    parallel_for(binades.size(), threads, [&](std::size_t i) {
        binades[i] = prove_binade(static_cast<std::uint32_t>(i) << formats::f32.mantissa_bits);
    });
    return joined(binades);
}

// Every width at both ends of its range.
Report prove_bits() {
    Report report;
    for (int width = 1; width <= 64; ++width) {
        const std::uint64_t first = std::uint64_t{1} << (width - 1);
        for (const std::uint64_t value : {first, first | (first - 1)}) {
            ++report.count;
            if (fast::bit_width(value) != width)
                add_mismatch(report, value, static_cast<std::uint64_t>(fast::bit_width(value)),
                             static_cast<std::uint64_t>(width));
        }
    }
    report.digest = sha256("bits");
    return report;
}

}  // namespace

std::vector<Proof> decode_proofs() {
    std::vector<Proof> proofs;
    proofs.push_back(
        {"bits", "every width, both ends of its range", [](int) { return prove_bits(); }});
    for (const ElementFormat& format : element_formats)
        if (format.code_bits() < 32) proofs.push_back(decode_proof(format));
    proofs.push_back({"decode f32", all_codes_of(formats::f32) + ", binade by binade", prove_f32});
    return proofs;
}

std::vector<Proof> all_proofs() {
    std::vector<Proof> proofs;
    for (const auto& list :
         {decode_proofs(), round_proofs(), scale_proofs(), block_proofs(), whole_block_proofs(),
          conversion_proofs(), pack_proofs(), recipe_proofs(), dot_proofs(), dot_model_proofs(),
          tanh_approx_proofs(), gemm_epilogue_proofs(), gemm_output_proofs(), gemm_proofs()})
        proofs.insert(proofs.end(), list.begin(), list.end());
    return proofs;
}

}  // namespace mx::proof
