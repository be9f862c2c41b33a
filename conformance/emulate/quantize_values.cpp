// See quantize_values.hpp.
#include "conformance/emulate/quantize_values.hpp"

#include "conformance/emulate/block_counter.hpp"
#include "conformance/emulate/stored_tensors.hpp"
#include "conformance/oracle/oracle_status.hpp"
#include "reference/fast/gemm_output.hpp"
#include "reference/problem/problem.hpp"

namespace mx::emulate {
namespace {

// One slice of a tensor, block by block.
void quantize_slice(const Problem& p, std::span<const fast::Unpacked> values, Codes& codes,
                    QuantizeCounts& counts) {
    const Quantizer& dialect = *p.dialect;
    const BlockFormat& format = *p.format;
    BlockCounter counter(dialect, format, counts);
    const Blocking blocking = blocking_of(p);
    const std::int64_t blocks = block_grid(blocking).count();
    const std::size_t first = codes.elements.size();
    codes.elements.resize(first + values.size());
    for (std::int64_t block = 0; block < blocks; ++block) {
        const BlockPlace place = place_of(blocking, block);
        std::vector<fast::Unpacked> lanes;
        for (int lane = 0; lane < place.count; ++lane) lanes.push_back(values[place.element(lane)]);
        std::vector<std::uint8_t> elements(lanes.size());
        const Code scale =
            fast::quantize_exact_block(dialect, format, lanes.data(), place.count, elements.data());
        counter.add_scale(scale);
        codes.scales.push_back(static_cast<std::byte>(scale.bits));
        for (int lane = 0; lane < place.count; ++lane) {
            const auto at = static_cast<std::size_t>(lane);
            counter.add_element(scale, lanes[at], Code{elements[at]});
            codes.elements[first + place.element(lane)] = std::byte{elements[at]};
        }
    }
}

}  // namespace

Status check_exact_names(const BlockNames& names) {
    if (has_real_scales(names))
        return bad_input(
            "a recipe reads tensors of a type: give --type, which D is rounded to before " +
            names.dialect + " makes " + names.format + " of it");
    if (const Status known = check_names(names); !known) return known;
    const Quantizer& dialect = *find_quantizer(names.dialect);
    if (!dialect.is_known())
        return bad_input("the scale of dialect '" + names.dialect + "' waits for " +
                         std::string(dialect.waits));
    if (!takes_exact_values(dialect))
        return bad_input(
            "dialect " + names.dialect +
            " reads no f32, and so says nothing of exact values: give --type, which D is "
            "rounded to first");
    return success();
}

Expected<QuantizedTensor> quantize_values(const ValueTensor& tensor, const BlockNames& names,
                                          const std::string& program_version) {
    if (const Status sound = oracle_status(); !sound) return sound.error();
    if (const Status known = check_exact_names(names); !known) return known.error();
    const auto layout = layout_of(tensor.shape, block_shape(names));
    if (!layout) return layout.error();
    const Problem p = problem_of_slice(names, layout.value(), OperationKind::quantize);
    if (const Status valid = check_combination(p); !valid) return valid.error();
    QuantizedTensor result;
    Codes codes;
    const std::int64_t slices = layout.value().is_empty() ? 0 : layout.value().slices;
    const auto length = slices == 0 ? 0 : tensor.values.size() / static_cast<std::size_t>(slices);
    for (std::int64_t index = 0; index < slices; ++index)
        quantize_slice(
            p, std::span(tensor.values).subspan(static_cast<std::size_t>(index) * length, length),
            codes, result.counts);
    result.file.tensors = store(std::move(codes), names, layout.value());
    result.file.metadata =
        metadata_of({names, std::string(exact_input), tensor.shape}, program_version);
    return result;
}

}  // namespace mx::emulate
