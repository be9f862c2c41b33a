// fast::round_element of rows without scales, and of formats that begin at zero: what becomes of
// every input code, NaNs and their payloads, infinities and zeros of either sign among them.
#include "reference/exact/round.hpp"
#include "reference/fast/round.hpp"
#include "reference/proof/exact_runs.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/cast_formats.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::proof {
namespace {

struct Subject {
    Quantizer rules;
    ElementFormat format;
    ElementFormat input;

    Quantizer with(Overflow overflow) const {
        Quantizer changed = rules;
        changed.element_overflow = overflow;
        return changed;
    }
};

// Both ends of every run, and what lies beside them: the sweeps of prove_round.cpp have the rest.
std::vector<exact::Run> ends_of(const std::vector<exact::Run>& runs) {
    std::vector<exact::Run> ends;
    for (const exact::Run& run : runs) {
        const std::uint32_t more = run.last - run.first;
        if (more < 4) {
            ends.push_back(run);
            continue;
        }
        ends.push_back({run.first, run.first + 1, run.result});
        ends.push_back({run.last - 1, run.last, run.result});
    }
    return ends;
}

Report prove(const Subject& s, int threads) {
    const Quantizer saturating = s.with(Overflow::saturate);
    const Quantizer overflowing = s.with(Overflow::overflow);
    const auto exact_codes = [&](std::uint32_t bits) {
        const exact::Value value = exact::read_input(s.rules.subnormals, s.input, Code{bits});
        return both(exact::round_element(saturating, s.format, value),
                    exact::round_element(overflowing, s.format, value));
    };
    const auto fast_codes = [&](std::uint32_t bits) {
        const fast::Unpacked value = fast::read_input(s.rules.subnormals, s.input, Code{bits});
        return both(fast::round_element(saturating, s.format, value),
                    fast::round_element(overflowing, s.format, value));
    };
    if (s.input.code_bits() == 16)
        return sweep(runs_of_codes(s.input, exact_codes, Asked::everywhere), threads, fast_codes);
    const std::vector<exact::Run> runs = runs_of_codes(s.input, exact_codes);
    Report report = sweep(ends_of(runs), threads, fast_codes);
    report.digest = digest_of(runs);
    return report;
}

void add(std::vector<Proof>& proofs, const Quantizer& row, const ElementFormat& format) {
    for (const std::string_view input : input_types) {
        if (!row.reads(input)) continue;
        const Subject subject{row, format, *find_element_format(input)};
        const bool is_large = subject.input.code_bits() == 32;
        proofs.push_back({"convert " + std::string(format.name) + " " + std::string(row.name) +
                              " " + std::string(input),
                          is_large ? "both sides of every border of f32, saturating and not"
                                   : all_codes_of(subject.input) + ", saturating and not",
                          [subject](int threads) { return prove(subject, threads); }});
    }
}

}  // namespace

std::vector<Proof> conversion_proofs() {
    std::vector<Proof> proofs;
    for (const Quantizer& row : conversions)
        for (const BlockFormat& format : mx_block_formats)
            if (contains(row.formats, format)) add(proofs, row, format.element());
    // The proofs of roundings leave out what has no sign to write.
    for (const BlockFormat& format : cast_formats)
        if (!takes_sign(format.element())) add(proofs, *find_quantizer("ocp"), format.element());
    return proofs;
}

}  // namespace mx::proof
