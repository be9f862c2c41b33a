// See gpu_maps.hpp.
#include "conformance/sweep/gpu_maps.hpp"

#include "device/cuda/rules.hpp"
#include "reference/exact/round.hpp"
#include "reference/proof/digests.hpp"
#include "reference/proof/exact_runs.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::sweep {
namespace {

void add_round_maps(std::vector<NamedMap>& maps, const ElementFormat& format) {
    for (const std::string_view input_name : input_types)
        for (const auto& [name, rounding] : roundings) {
            if (rounding == Rounding::stochastic) continue;
            const RoundMap map{*find_element_format(input_name), format, rounding};
            maps.push_back(
                {"round " + std::string(format.name) + " " + std::string(name) + " " +
                     std::string(input_name),
                 proof::takes_sign(format) ? proof::all_codes_of(map.input)
                                           : proof::codes_without_sign_of(map.input),
                 map, [map] {
                     return proof::exact_roundings({map.input, map.format, map.rounding});
                 }});
        }
}

void add_scale_maps(std::vector<NamedMap>& maps) {
    for (const BlockFormat& format : mx_block_formats)
        for (const Quantizer& dialect : e8m0_quantizers) {
            if (!dialect.quantizes(format)) continue;
            for (const std::string_view input_name : input_types) {
                const ScaleMap map{dialect, format, *find_element_format(input_name)};
                maps.push_back({"scale " + std::string(format.name) + " " +
                                    std::string(dialect.name) + " " + std::string(input_name),
                                proof::codes_without_sign_of(map.input), map, [map] {
                                    return proof::exact_scales(map.dialect, map.format, map.input);
                                }});
            }
        }
}

void add_cast_maps(std::vector<NamedMap>& maps) {
    for (const Quantizer& dialect : e8m0_quantizers)
        for (const std::string_view input_name : input_types) {
            const CastMap map{dialect.scale_cast, *find_element_format(input_name)};
            maps.push_back({"cast " + std::string(dialect.name) + " " + std::string(input_name),
                            proof::all_codes_of(map.input), map,
                            [map] { return proof::exact_casts(map.cast, map.input); }});
        }
}

// The kernels of device/cuda, by the answers of the dialect they name.
void add_device_scale_maps(std::vector<NamedMap>& maps) {
    for (const BlockFormat& format : mx_block_formats)
        for (const Quantizer& dialect : e8m0_quantizers) {
            const auto element = cuda::find_block_format(format.name);
            const auto rule =
                element ? cuda::find_dialect_rule(dialect.name, *element) : std::nullopt;
            if (!rule || !dialect.quantizes(format)) continue;
            maps.push_back(
                {"device scale " + std::string(format.name) + " " + std::string(dialect.name),
                 proof::codes_without_sign_of(formats::f32), DeviceScaleMap{rule->scale},
                 [&dialect, &format] {
                     return proof::exact_scales(dialect, format, formats::f32);
                 }});
        }
}

// Every NaN becomes the one without sign and with all mantissa bits; that is e4m3's only NaN.
std::uint64_t exact_conversion(const Instruction& instruction, std::uint32_t bits) {
    const ElementFormat& output = *find_element_format(instruction.output);
    const exact::Value value = exact::decode(*find_element_format(instruction.input), Code{bits});
    if (value.is_nan() && !output.has_nan()) return output.code_max_finite();
    if (value.is_nan()) return output.code_magnitude_mask();
    if (instruction.sign == Sign::relu && value.negative) return 0;
    const Overflow overflow =
        instruction.form == Form::codes_to_f16 ? Overflow::overflow : Overflow::saturate;
    return exact::round(output, Rounding::nearest_even, overflow, value).bits;
}

void add_instruction_maps(std::vector<NamedMap>& maps) {
    for (std::size_t row = 0; row < instructions.size(); ++row)
        for (const Lane lane : {Lane::low, Lane::high}) {
            const Instruction& instruction = instructions[row];
            const ElementFormat& input = *find_element_format(instruction.input);
            maps.push_back(
                {std::string(instruction.ptx) + (lane == Lane::low ? " low lane" : " high lane"),
                 proof::all_codes_of(input), InstructionMap{row, lane},
                 [&instruction, &input] {
                     return proof::runs_of_codes(input, [&](std::uint32_t bits) {
                         return exact_conversion(instruction, bits);
                     });
                 },
                 instruction.first_architecture});
        }
}

// Dialects that share a rule share a proof, and so a map.
void leave_the_proved(std::vector<NamedMap>& maps) {
    std::erase_if(maps, [](const NamedMap& map) {
        return proof::find_digest(proof::checked_in_digests(), map.name) == nullptr;
    });
}

}  // namespace

std::vector<NamedMap> gpu_maps() {
    std::vector<NamedMap> maps;
    for (const ElementFormat& format : element_formats)
        if (format.code_bits() <= 8) add_round_maps(maps, format);
    add_scale_maps(maps);
    add_cast_maps(maps);
    leave_the_proved(maps);
    add_instruction_maps(maps);
    add_device_scale_maps(maps);
    return maps;
}

std::uint64_t inputs_of(const std::vector<exact::Run>& runs) {
    return runs.empty() ? 0 : std::uint64_t{runs.back().last} + 1;
}

RunDifferences differences(const std::vector<exact::Run>& actual,
                           const std::vector<exact::Run>& expected) {
    constexpr std::size_t places_kept = 3;
    RunDifferences found;
    std::uint64_t covered = 0;
    auto right = expected.begin();
    for (const exact::Run& run : actual) {
        covered += std::uint64_t{run.last} - run.first + 1;
        for (std::uint64_t input = run.first; input <= run.last;) {
            while (right != expected.end() && right->last < input) ++right;
            MX_ASSERT(right != expected.end());
            const std::uint64_t end = std::min(run.last, right->last);
            if (run.result != right->result) {
                found.count += end - input + 1;
                if (found.first.size() < places_kept)
                    found.first.push_back(
                        {static_cast<std::uint32_t>(input), run.result, right->result});
            }
            input = end + 1;
        }
    }
    found.count += inputs_of(expected) - covered;
    return found;
}

}  // namespace mx::sweep
