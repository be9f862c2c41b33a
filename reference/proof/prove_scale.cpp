// fast/scale.hpp: the scale of every non-negative amax code of f32, bf16 and f16, by every dialect
// that quantizes to a format; and every code, of either sign, cast to a scale.
#include "reference/exact/scale.hpp"
#include "reference/fast/scale.hpp"
#include "reference/proof/e8m0_functions.hpp"
#include "reference/proof/exact_runs.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

Report sweep_any(const Quantizer& dialect, const BlockFormat& format, const ElementFormat& input,
                 int threads) {
    return sweep(exact_scales(dialect, format, input), threads, [&](std::uint32_t bits) {
        const fast::Unpacked amax = fast::read_input(dialect.subnormals, input, Code{bits});
        return fast::encode_scale(dialect, format, amax).bits;
    });
}

// Every amax from 1 to 2, the exact oracle asked for each.
Report prove_significands(const Quantizer& dialect, const BlockFormat& format, int threads) {
    constexpr std::uint32_t one = 0x3F800000;
    return compare_everywhere(
        1u << 23, threads,
        [&](std::uint32_t i) {
            const exact::Value amax =
                exact::read_input(dialect.subnormals, formats::f32, Code{one | i});
            return exact::encode_scale(dialect, format, amax).bits;
        },
        [&](std::uint32_t i) {
            const fast::Unpacked amax =
                fast::read_input(dialect.subnormals, formats::f32, Code{one | i});
            return fast::encode_scale(dialect, format, amax).bits;
        });
}

// Compares the fast function with one run. Rules are template arguments only so that the compiler
// can fold them into the loop.
using SweepRun = Report (*)(const exact::Run& run);

// A piece lies within one binade. Of a binade of normal numbers all have one exponent and 24 bits,
// as prove_decode shows; told so, the compiler looks for no leading bit of the amax.
template <std::size_t Row, std::size_t Format>
Report sweep_binade(const exact::Run& run) {
    constexpr std::uint32_t mantissa_mask = formats::f32.code_mantissa_mask();
    const int exponent = fast::unpack(formats::f32, Code{run.first}).exponent;
    return sweep_run(run, [exponent](std::uint32_t bits) {
        constexpr Quantizer dialect = e8m0_quantizers[Row];
        constexpr BlockFormat format = mx_block_formats[Format];
        const std::uint32_t significand = (bits & mantissa_mask) | (mantissa_mask + 1);
        if (significand <= mantissa_mask || significand > 2 * mantissa_mask + 1)
            __builtin_unreachable();
        return fast::encode_scale(dialect, format,
                                  {fast::Kind::finite, false, exponent, significand})
            .bits;
    });
}

template <std::size_t Row, std::size_t Format>
Report sweep_f32(const exact::Run& run) {
    constexpr std::uint32_t least_normal = formats::f32.code_mantissa_mask() + 1;
    if (run.first >= least_normal && run.first < formats::f32.code_infinity())
        return sweep_binade<Row, Format>(run);
    return sweep_run(run, [](std::uint32_t bits) {
        constexpr Quantizer dialect = e8m0_quantizers[Row];
        constexpr BlockFormat format = mx_block_formats[Format];
        constexpr ElementFormat input = formats::f32;
        const fast::Unpacked amax = fast::read_input(dialect.subnormals, input, Code{bits});
        return fast::encode_scale(dialect, format, amax).bits;
    });
}

constexpr bool has_earlier_twin(std::size_t row, std::size_t format) {
    for (std::size_t before = 0; before < format; ++before)
        if (e8m0_quantizers[row].quantizes(mx_block_formats[before]) &&
            same_for_scales(mx_block_formats[before].element(), mx_block_formats[format].element()))
            return true;
    return false;
}

constexpr bool is_proved(std::size_t row, std::size_t format) {
    return is_first_with(scale_rules, row, mx_block_formats[format]) &&
           !has_earlier_twin(row, format);
}

// True for the first format of each rule: that one is proved with every change, the others with the
// whole set.
constexpr bool is_first_format(std::size_t row, std::size_t format) {
    for (std::size_t before = 0; before < format; ++before)
        if (is_proved(row, before)) return false;
    return true;
}

std::string name_of(std::size_t row, std::size_t format, std::string_view input) {
    return "scale " + std::string(mx_block_formats[format].name) + " " +
           std::string(e8m0_quantizers[row].name) + " " + std::string(input);
}

// The dialects that the proof of `row` covers for this format.
std::string rows_like(std::size_t row, const BlockFormat& format) {
    std::string names;
    for (const Quantizer& dialect : e8m0_quantizers)
        if (dialect.quantizes(format) && scale_rules(dialect) == scale_rules(e8m0_quantizers[row]))
            names += (names.empty() ? "" : ", ") + std::string(dialect.name);
    return names;
}

// A division or a logarithm for each of 2^31 amaxes takes too long for every day.
bool is_quick(const Quantizer& dialect) {
    return dialect.scale_ratio != ScaleRatio::divided && !takes_log2f(dialect);
}

void add_proofs(std::size_t row, std::size_t of_format, SweepRun sweep_one,
                std::vector<Proof>& proofs) {
    const Quantizer& dialect = e8m0_quantizers[row];
    const BlockFormat& format = mx_block_formats[of_format];
    const std::string rows = rows_like(row, format);
    for (const std::string_view name : input_types) {
        const ElementFormat& input = *find_element_format(name);
        Proof proof{name_of(row, of_format, name), codes_without_sign_of(input) + ": " + rows,
                    [&](int threads) { return sweep_any(dialect, format, input, threads); }};
        if (name == "f32") {
            if (sweep_one != nullptr)
                proof.run = [&, sweep_one](int threads) {
                    return compare_pieces(exact_scales(dialect, format, formats::f32), sweep_piece,
                                          threads, sweep_one);
                };
            const bool is_short = is_first_format(row, of_format) && is_quick(dialect);
            proof.effort = is_short ? Effort::always : Effort::whole_set;
        }
        proofs.push_back(proof);
    }
    proofs.push_back({name_of(row, of_format, "significands"),
                      "all 2^23 amaxes of f32 from 1 to 2, exact asked for each: " + rows,
                      [&](int threads) { return prove_significands(dialect, format, threads); },
                      Effort::whole_set});
}

template <std::size_t Row, std::size_t Format>
void add_proofs_of(std::vector<Proof>& proofs) {
    if constexpr (is_proved(Row, Format)) {
#if defined(MX_PLANTED)  // the test with planted faults need not be folded
        add_proofs(Row, Format, nullptr, proofs);
#else
        add_proofs(Row, Format, sweep_f32<Row, Format>, proofs);
#endif
    }
}

template <std::size_t Format, std::size_t... Row>
void add_format(std::vector<Proof>& proofs, std::index_sequence<Row...>) {
    (add_proofs_of<Row, Format>(proofs), ...);
}

template <std::size_t... Format>
void add_formats(std::vector<Proof>& proofs, std::index_sequence<Format...>) {
    (add_format<Format>(proofs, std::make_index_sequence<e8m0_quantizers.size()>{}), ...);
}

constexpr bool is_first_with_cast(std::size_t row) {
    for (std::size_t before = 0; before < row; ++before)
        if (e8m0_quantizers[before].scale_cast == e8m0_quantizers[row].scale_cast) return false;
    return true;
}

template <std::size_t Row>
Report sweep_cast_of_f32(const exact::Run& run) {
    return sweep_run(run, [](std::uint32_t bits) {
        constexpr ScaleCast cast = e8m0_quantizers[Row].scale_cast;
        constexpr ElementFormat input = formats::f32;
        return fast::cast_to_scale(cast, fast::unpack(input, Code{bits})).bits;
    });
}

Report sweep_any_cast(const ScaleCast& cast, const ElementFormat& input, int threads) {
    return sweep(exact_casts(cast, input), threads, [&](std::uint32_t bits) {
        return fast::cast_to_scale(cast, fast::unpack(input, Code{bits})).bits;
    });
}

void add_casts(const Quantizer& dialect, SweepRun sweep_one, std::vector<Proof>& proofs) {
    const ScaleCast& cast = dialect.scale_cast;
    for (const std::string_view name : input_types) {
        const ElementFormat& input = *find_element_format(name);
        Proof proof{"cast " + std::string(dialect.name) + " " + std::string(name),
                    all_codes_of(input),
                    [&](int threads) { return sweep_any_cast(cast, input, threads); }};
        if (name == "f32") {
            proof.run = [&, sweep_one](int threads) {
                return compare_pieces(exact_casts(cast, formats::f32), sweep_piece, threads,
                                      sweep_one);
            };
            proof.effort = Effort::whole_set;
        }
        proofs.push_back(proof);
    }
}

template <std::size_t... Row>
void add_all_casts(std::vector<Proof>& proofs, std::index_sequence<Row...>) {
    const auto add = [&]<std::size_t One>() {
        if constexpr (is_first_with_cast(One))
            add_casts(e8m0_quantizers[One], sweep_cast_of_f32<One>, proofs);
    };
    (add.template operator()<Row>(), ...);
}

}  // namespace

std::vector<Proof> scale_proofs() {
    std::vector<Proof> proofs;
    add_formats(proofs, std::make_index_sequence<mx_block_formats.size()>{});
    add_all_casts(proofs, std::make_index_sequence<e8m0_quantizers.size()>{});
    return proofs;
}

}  // namespace mx::proof
