// See gemm_problem.hpp.
#include "reference/proof/gemm_problem.hpp"

#include "reference/gemm/residue_gemm.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

fast::Unpacked value_of(const fast::Total& total) {
    const fast::Kind kind = fast::kind_of(total);
    if (kind == fast::Kind::finite) return fast::leading_bits(total.sum);
    return {kind, kind == fast::Kind::infinity && total.negative_infinity, 0, 0};
}

// The same digits, the same kind, and the same codes by way of the window alone.
bool agree(const fast::Total& expected, const gemm::ExactSum& actual) {
    const fast::Kind kind = fast::kind_of(expected);
    if (kind != actual.kind) return false;
    if (kind == fast::Kind::infinity) return expected.negative_infinity == actual.negative_infinity;
    if (kind == fast::Kind::nan) return true;
    const fast::Total total = gemm::total_of(actual);
    return std::equal(std::begin(total.sum.limbs), std::end(total.sum.limbs),
                      std::begin(expected.sum.limbs)) &&
           both_codes(gemm::leading_bits(actual.window)) == both_codes(value_of(expected));
}

Report compare(const Problem& problem) {
    const std::vector<ScaledRow> a = problem.a.rows(), b = problem.b.rows();
    std::vector<fast::Total> expected;
    std::string text;
    for (const ScaledRow& row : a)
        for (const ScaledRow& column : b) {
            expected.push_back(fast::dot(row, column, problem.a.depth));
            text += to_hex(both_codes(value_of(expected.back()))) + "\n";
        }
    Report report;
    report.digest = sha256(text);
    const gemm::Factors factors{a, b, problem.a.depth};
    const auto compare_sums = [&](const std::function<void(const gemm::Receive&)>& run) {
        std::vector<std::uint8_t> seen(expected.size());
        run([&](const gemm::Place& place, const gemm::ExactSum& sum) {
            const std::size_t output = place.row * b.size() + place.column;
            if (agree(expected[output], sum) && seen[output]++ == 0) return;
            add_mismatch(report, output, both_codes(value_of(gemm::total_of(sum))),
                         both_codes(value_of(expected[output])));
        });
        // What no one saw is wrong too.
        report.mismatches +=
            static_cast<std::uint64_t>(std::count(seen.begin(), seen.end(), std::uint8_t{0}));
    };
    for (const gemm::Kernel& kernel : gemm::kernels()) {
        if (!gemm::takes(kernel, a.front(), b.front()) || kernel.rounded != nullptr) continue;
        compare_sums(
            [&](const gemm::Receive& receive) { gemm::for_each_sum(kernel, factors, receive); });
        const bool is_used = &gemm::kernel_used(kernel, factors, gemm::Asked::sums) == &kernel;
        if (kernel.residues == nullptr || is_used) continue;
        // Another way was taken, for its speed.
        gemm::ResidueGemm residues(*kernel.residues, factors);
        if (residues.fits(gemm::moduli_max))
            compare_sums([&](const gemm::Receive& receive) { residues.run(receive); });
    }
    report.count = expected.size();
    return report;
}

}  // namespace

ValueCheck::ValueCheck(const Problem& problem)
    : a_(problem.a.rows()), b_(problem.b.rows()), factors_{a_, b_, problem.a.depth} {
    std::string text;
    for (const ScaledRow& row : a_)
        for (const ScaledRow& column : b_) {
            const fast::Total total = fast::dot(row, column, problem.a.depth);
            expected_.push_back(both_codes(value_of(total)));
            is_finite_.push_back(fast::kind_of(total) == fast::Kind::finite);
            text += to_hex(expected_.back()) + "\n";
        }
    report_.digest = sha256(text);
    report_.count = expected_.size();
}

void ValueCheck::compare(const gemm::Place& place, const fast::Unpacked& value) {
    const std::uint64_t actual = both_codes(value);
    if (actual == expected(place)) return;
    add_mismatch(report_, output_at(place), actual, expected(place));
}

void ValueCheck::compare_all(const std::function<void(const gemm::ReceiveValue&)>& run) {
    std::vector<int> seen(expected_.size());
    run([&](const gemm::Place& place, const fast::Unpacked& value) {
        ++seen[output_at(place)];
        compare(place, value);
    });
    for (const int times : seen) report_.mismatches += times == 1 ? 0 : 1;
}

std::uint64_t both_codes(const fast::Unpacked& value) {
    const auto in = [&](Rounding rounding) {
        return std::uint64_t{fast::round(formats::f32, rounding, Overflow::overflow, value).bits};
    };
    return in(Rounding::nearest_even) | in(Rounding::toward_negative) << 32;
}

Factor strided(const Factor& factor, std::int64_t stride) {
    Factor apart = factor;
    apart.stride = stride;
    apart.codes.assign(factor.codes.size() * static_cast<std::size_t>(stride), 0x5A);
    for (std::size_t i = 0; i < factor.codes.size(); ++i)
        apart.codes[i * static_cast<std::size_t>(stride)] = factor.codes[i];
    return apart;
}

Report compare_all(std::size_t count, int threads,
                   const std::function<Problem(std::size_t)>& problem_of) {
    std::vector<Report> reports(count);
    parallel_for(count, threads, [&](std::size_t i) { reports[i] = compare(problem_of(i)); });
    return joined(reports);
}

std::uint32_t mixed(std::uint64_t seed, std::int64_t k) {
    std::uint64_t word = (seed << 32) + static_cast<std::uint64_t>(k) + 1;
    word *= 0x9E3779B97F4A7C15;
    word ^= word >> 29;
    word *= 0xBF58476D1CE4E5B9;
    return static_cast<std::uint32_t>(word >> 40);
}

std::uint32_t finite_code(const ElementFormat& format, std::uint32_t word) {
    const Code code{word & (format.code_sign_mask() | format.code_magnitude_mask())};
    return format.is_nan(code) || format.is_infinity(code) ? 0 : code.bits;
}

Factor mixed_factor(const ElementFormat& format, const Shape& shape, std::uint64_t seed) {
    Factor factor{format, shape.depth, formats::e8m0, shape.block};
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const std::uint64_t key = seed * 4096 + static_cast<std::uint64_t>(row);
        add_row(
            factor, [&](std::int64_t k) { return finite_code(format, mixed(key, k)); },
            [&](std::int64_t block) {
                return 127 - shape.spread / 2 +
                       static_cast<int>(mixed(key + 1234567, block) %
                                        static_cast<unsigned>(shape.spread + 1));
            });
    }
    return factor;
}

Factor largest_factor(const ElementFormat& format, std::int64_t depth) {
    Factor factor{format, depth};
    const std::uint32_t largest = format.code_max_finite();
    const auto one = [](std::int64_t) { return 127; };
    const auto wide = [](std::int64_t block) { return block % 2 == 0 ? 127 + 40 : 127 - 41; };
    const auto all = [&](std::int64_t) { return largest; };
    const auto alternating = [&](std::int64_t k) {
        return k % 2 == 0 ? largest : format.negative(largest).bits;
    };
    const auto cancelled = [&](std::int64_t k) { return k + 1 == depth ? 1u : alternating(k); };
    add_row(factor, all, one);
    add_row(factor, all, wide);
    add_row(factor, alternating, one);
    add_row(factor, alternating, wide);
    add_row(factor, cancelled, one);
    add_row(factor, cancelled, wide);
    add_row(
        factor, [&](std::int64_t k) { return finite_code(format, mixed(7, k)); }, wide);
    return factor;
}

Factor with_specials(Factor factor) {
    factor.codes[7] = 0x7F;
    factor.codes[static_cast<std::size_t>(factor.depth) + 40] = 0x7C;
    factor.scales[static_cast<std::size_t>(2 * factor.blocks() + 1)] = 255;
    return factor;
}

void add_lone(Factor& factor, const std::vector<Lone>& numbers) {
    const auto at = [&](std::int64_t block) {
        for (const Lone& number : numbers)
            if (number.block == block) return number;
        return Lone{block, 0, 127};
    };
    add_row(
        factor,
        [&](std::int64_t k) { return k % factor.block == 0 ? at(k / factor.block).code : 0; },
        [&](std::int64_t block) { return at(block).scale; });
}

}  // namespace mx::proof
