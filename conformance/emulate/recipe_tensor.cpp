// See recipe_tensor.hpp.
#include "conformance/emulate/recipe_tensor.hpp"

#include "conformance/case/names.hpp"
#include "conformance/data/philox.hpp"
#include "conformance/oracle/oracle_status.hpp"
#include "reference/fast/delayed_scaling.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/spec/hadamard.hpp"

namespace mx::emulate {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

template <typename Table>
std::string joined_names(const Table& table,
                         bool (*wanted)(const typename Table::value_type&, const BlockNames&),
                         const BlockNames& names) {
    std::string text;
    for (const auto& row : table)
        if (wanted(row, names)) text += (text.empty() ? "" : ", ") + std::string(row.name);
    return text;
}

bool goes_with_format(const Quantizer& recipe, const BlockNames& names) {
    return recipe.quantizes(*find_block_format(names.format));
}
bool goes_with_recipe(const BlockFormat& format, const BlockNames& names) {
    return find_quantizer(names.dialect)->quantizes(format);
}

// The scale that the history gives, once it has moved on by one step.
Expected<Code> scale_from_history(const Quantizer& recipe, const ElementFormat& element,
                                  const RecipeOptions& options) {
    const bool has_history = recipe.tensor_scale == TensorScale::history;
    if (!has_history && !options.history.empty())
        return bad("dialect " + std::string(recipe.name) +
                   " looks at no earlier tensors: "
                   "leave out --amax-history");
    if (!has_history) return options.previous_scale;
    if (options.history.empty())
        return bad("dialect " + std::string(recipe.name) +
                   " takes its scale from earlier tensors: give --amax-history, the newest first");
    std::vector<std::uint32_t> history;
    for (const Code amax : options.history) history.push_back(amax.bits);
    return fast::next_history(options.delayed, element, history.data(),
                              static_cast<int>(history.size()), options.previous_scale);
}

// One tensor on its way through a recipe.
class TensorQuantizer {
public:
    TensorQuantizer(const Quantizer& recipe, const BlockFormat& format, const ElementFormat& input,
                    const RecipeGrid& grid, std::vector<Code> lanes)
        : question_{recipe, format, input, {}}, grid_(grid), lanes_(std::move(lanes)) {
        elements_.resize(lanes_.size());
    }

    // Rotates the lanes, finds the tensor's amax, then goes from block to block.
    void run(const RecipeOptions& options, Code history_scale) {
        const Quantizer& recipe = question_.quantizer;
        if (recipe.transform == LaneTransform::hadamard16) rotate();
        question_.tensor = fast::tensor_numbers(recipe, question_.format, amax_of(lanes_),
                                                fast::unpack(formats::f32, history_scale));
        for (std::int64_t block = 0; block < grid_.block_count(); ++block)
            quantize(grid_.lanes(block), options.seed);
    }

    const std::vector<Code>& elements() const { return elements_; }
    const std::vector<Code>& scales() const { return scales_; }
    const QuantizeCounts& counts() const { return counts_; }
    Code kept_number() const {
        return Code{fast::f32_code(fast::kept_number(question_.quantizer, question_.tensor))};
    }

private:
    fast::Unpacked amax_of(const std::vector<Code>& lanes) const {
        std::vector<std::uint32_t> bits;
        bits.reserve(lanes.size());
        for (const Code lane : lanes) bits.push_back(lane.bits);
        return fast::amax_of(question_.quantizer, question_.input, bits.data(),
                             static_cast<std::int64_t>(bits.size()));
    }

    void rotate() {
        for (std::int64_t block = 0; block < grid_.block_count(); ++block) {
            const std::vector<std::size_t> places = grid_.lanes(block);
            std::vector<fast::Unpacked> before;
            for (const std::size_t place : places)
                before.push_back(fast::unpack(question_.input, lanes_[place]));
            for (int to = 0; to < hadamard_size; ++to)
                lanes_[places[static_cast<std::size_t>(to)]] =
                    fast::round(question_.input, Rounding::nearest_even, Overflow::overflow,
                                fast::rotated_lane(before.data(), to));
        }
    }

    void quantize(const std::vector<std::size_t>& places, std::uint64_t seed) {
        std::vector<Code> lanes;
        for (const std::size_t place : places) lanes.push_back(lanes_[place]);
        const fast::BlockScale scale = fast::chosen_scale(
            question_, amax_of(lanes), static_cast<int>(lanes.size()), [&](int lane) {
                return fast::unpack(question_.input, lanes[static_cast<std::size_t>(lane)]);
            });
        scales_.push_back(scale.stored);
        ++counts_.blocks;
        if (question_.format.scale().is_nan(scale.stored)) ++counts_.nan_scales;
        for (const std::size_t place : places) quantize_lane(scale, place, seed);
    }

    void quantize_lane(const fast::BlockScale& scale, std::size_t place, std::uint64_t seed) {
        const ElementFormat& element = question_.format.element();
        const bool is_random = question_.quantizer.element_rounding == Rounding::stochastic;
        const RandomBits random =
            is_random ? RandomBits{philox({seed, 0, place})[0] & 0xFF, 8} : RandomBits{};
        const fast::Unpacked lane = fast::unpack(question_.input, lanes_[place]);
        elements_[place] = fast::quantize_lane(question_, scale, lane, random);
        ++counts_.elements;
        if (element.is_zero(elements_[place]) && !fast::is_zero(lane)) ++counts_.flushed;
        fast::Unpacked scaled = fast::scaled_lane(question_.quantizer, scale, lane);
        scaled.negative = false;
        if (scaled.kind != fast::Kind::nan &&
            fast::f32_code(scaled) > fast::f32_code(fast::largest_of(element)))
            ++counts_.saturated;
    }

    fast::BlockQuestion question_;
    const RecipeGrid& grid_;
    std::vector<Code> lanes_;
    std::vector<Code> elements_;
    std::vector<Code> scales_;
    QuantizeCounts counts_;
};

Status check_lanes(const Quantizer& recipe, const BlockNames& names, const RecipeGrid& grid) {
    const std::int64_t length = names.axis == "col" ? grid.rows : grid.columns;
    if (recipe.transform != LaneTransform::none && length % hadamard_size != 0)
        return bad("dialect " + names.dialect + " rotates groups of 16 lanes, but there are " +
                   std::to_string(length) + " along axis " + names.axis);
    return success();
}

}  // namespace

bool names_recipe(const BlockNames& names) {
    const Quantizer* quantizer = find_quantizer(names.dialect);
    const BlockFormat* format = find_block_format(names.format);
    return (quantizer != nullptr && !quantizer->has_e8m0_scales()) ||
           (format != nullptr && !format->has_e8m0_scales());
}

Status check_recipe(const BlockNames& names) {
    const Quantizer* recipe = find_quantizer(names.dialect);
    const BlockFormat* format = find_block_format(names.format);
    const bool has_format = format != nullptr && !format->has_e8m0_scales();
    if (has_format && (recipe == nullptr || !recipe->quantizes(*format)))
        return bad("format " + names.format + " is quantized by the dialects " +
                   joined_names(quantizers, goes_with_format, names) + "; " +
                   data::in_quotes(names.dialect) + " is none of them");
    if (!has_format)
        return bad("dialect " + names.dialect + " quantizes to " +
                   joined_names(block_formats, goes_with_recipe, names) + ", not to " +
                   data::in_quotes(names.format));
    return success();
}

Expected<QuantizedTensor> quantize_by_recipe(data::HostTensor tensor, const BlockNames& names,
                                             const RecipeOptions& options,
                                             const std::string& program_version) {
    if (const Status sound = oracle_status(); !sound) return sound.error();
    if (const Status known = check_recipe(names); !known) return known.error();
    const Quantizer& recipe = *find_quantizer(names.dialect);
    const BlockFormat& format = *find_block_format(names.format);
    if (!recipe.reads(tensor.type))
        return bad("dialect " + names.dialect + " does not read tensors of type " +
                   data::in_quotes(tensor.type));
    const auto grid = recipe_grid(format, names.axis, tensor.shape);
    if (!grid) return grid.error();
    if (const Status fits = check_lanes(recipe, names, grid.value()); !fits) return fits.error();
    const auto history_scale = scale_from_history(recipe, format.element(), options);
    if (!history_scale) return history_scale.error();

    const ElementFormat& input = *find_element_format(tensor.type);
    TensorQuantizer quantizer(recipe, format, input, grid.value(), codes_in(tensor));
    quantizer.run(options, history_scale.value());
    QuantizedTensor result;
    result.counts = quantizer.counts();
    auto elements = tensor_of("elements", format.element(), tensor.shape, quantizer.elements());
    if (!elements) return elements.error();
    std::vector<Code> scales = quantizer.scales();
    if (format.is_whole_tensor() && scales.empty()) scales.push_back(Code{0x3F800000});
    auto scale_tensor = tensor_of("scales", format.scale(), grid.value().scale_shape, scales);
    if (!scale_tensor) return scale_tensor.error();
    result.file.tensors = {std::move(elements).value(), std::move(scale_tensor).value()};
    if (recipe.tensor_scale != TensorScale::none) {
        auto kept = tensor_of("tensor_scale", formats::f32, {1, 1}, {quantizer.kept_number()});
        result.file.tensors.push_back(std::move(kept).value());
    }
    result.file.metadata = {{"format", names.format},
                            {"dialect", names.dialect},
                            {"axis", names.axis},
                            {"input_type", tensor.type},
                            {"mxcheck_version", program_version}};
    return result;
}

Expected<RecipeCodes> recipe_codes(const data::TensorFile& file, const BlockNames& names) {
    const Quantizer& recipe = *find_quantizer(names.dialect);
    const BlockFormat& format = *find_block_format(names.format);
    auto elements = find_codes(file, "elements", format.element());
    if (!elements) return elements.error();
    const std::vector<std::int64_t>& shape = elements.value().shape;
    auto grid = recipe_grid(format, names.axis, shape);
    if (!grid) return grid.error();
    auto scales = find_codes(file, "scales", format.scale());
    if (!scales) return scales.error();
    if (scales.value().shape != grid.value().scale_shape)
        return bad("elements of shape " + data::shape_text(shape) + " have scales of shape " +
                   data::shape_text(grid.value().scale_shape) + ", but the file's have " +
                   data::shape_text(scales.value().shape));
    RecipeCodes codes{std::move(grid).value(), std::move(elements).value(),
                      std::move(scales).value()};
    if (recipe.tensor_scale == TensorScale::none) return codes;
    const auto number = find_codes(file, "tensor_scale", formats::f32);
    if (!number) return number.error();
    if (number.value().codes.size() != 1)
        return bad("tensor 'tensor_scale' must hold one number, but its shape is " +
                   data::shape_text(number.value().shape));
    codes.kept = number.value().codes[0];
    return codes;
}

Expected<data::TensorFile> dequantize_by_recipe(data::TensorFile file, const BlockNames& names,
                                                const std::string& type) {
    if (const Status sound = oracle_status(); !sound) return sound.error();
    if (const Status known = check_recipe(names); !known) return known.error();
    if (const Status known = check_name("type", type, type_names()); !known) return known.error();
    const auto codes = recipe_codes(file, names);
    if (!codes) return codes.error();
    const auto& [grid, elements, scales, kept] = codes.value();
    const Quantizer& recipe = *find_quantizer(names.dialect);
    const BlockFormat& format = *find_block_format(names.format);
    const ElementFormat& output = *find_element_format(type);
    const fast::DequantizeQuestion question{recipe, format, output,
                                            fast::unpack(formats::f32, kept)};
    std::vector<Code> values(elements.codes.size());
    for (std::int64_t block = 0; block < grid.block_count(); ++block)
        for (const std::size_t place : grid.lanes(block))
            values[place] = fast::dequantize(
                question, {scales.codes[static_cast<std::size_t>(block)], elements.codes[place]});
    data::TensorFile result;
    auto tensor = tensor_of("values", output, elements.shape, values);
    if (!tensor) return tensor.error();
    result.tensors.push_back(std::move(tensor).value());
    return result;
}

}  // namespace mx::emulate
