// See gemm_factor.hpp.
#include "conformance/emulate/gemm_factor.hpp"

#include <algorithm>
#include <array>

#include "conformance/emulate/stored_tensors.hpp"

namespace mx::emulate {
namespace {

const std::uint8_t* pointer_to(const std::vector<std::byte>& bytes) {
    return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

Expected<GemmFactor> factor_of_blocks(data::TensorFile& file, const QuantizedFacts& facts) {
    const Problem p = problem_of(facts.names, OperationKind::dequantize).value();
    const auto layout = layout_of(facts.shape, block_shape(facts.names));
    if (!layout) return layout.error();
    auto codes = load(file, facts.names, layout.value());
    if (!codes) return codes.error();
    GemmFactor factor;
    factor.element = p.format->element();
    factor.scale = scale_format_of(p);
    factor.block = p.block;
    factor.block_rows = p.axis == BlockAxis::tile ? p.block : 1;
    if (p.format->is_whole_tensor()) {
        factor.scaling = gemm::Scaling::tensor;
        factor.block = std::max<std::int64_t>(layout.value().columns, 1);
        factor.block_rows = std::max<std::int64_t>(layout.value().rows, 1);
    }
    if (has_tensor_number(p)) {
        CodeTensor kept = make_tensor(shape_of(p, Part::tensor_number));
        kept.bytes = codes.value().tensor_number;
        factor.tensor = tensor_factor(*p.dialect, Code{kept.at(0)});
    }
    factor.transform = p.dialect->transform;
    factor.codes = std::move(codes).value();
    return factor;
}

}  // namespace

gemm::Factor GemmFactor::view() const {
    gemm::Factor made;
    made.element = element;
    made.codes = {pointer_to(codes.elements), element.code_bytes(), 1, element.spare_bits()};
    made.depth = depth();
    made.rows = rows();
    made.scaling = scaling;
    made.scale = scale;
    made.scales = {pointer_to(codes.scales), scale.code_bytes(), 1};
    made.block = block;
    made.block_rows = block_rows;
    made.number = tensor;
    if (row_numbers.empty()) return made;
    const CodeView numbers{pointer_to(row_numbers), formats::f32.code_bytes(), 1};
    if (scaling != gemm::Scaling::none) {
        made.row_numbers = numbers;
        return made;
    }
    made.scaling = gemm::Scaling::row;
    made.scale = formats::f32;
    made.scales = numbers;
    return made;
}

Status scale_rows(GemmFactor& factor, const std::string& path, const data::TensorFile& file) {
    const auto in_file = [&path](const std::string& what) { return bad_input(path + ": " + what); };
    if (file.tensors.size() != 1)
        return in_file("holds " + std::to_string(file.tensors.size()) +
                       " tensors, and the numbers of rows are one");
    const data::HostTensor& numbers = file.tensors.front();
    if (numbers.type != formats::f32.name)
        return in_file("is of type " + numbers.type + ", and the numbers of rows are f32");
    const std::int64_t rows = product(factor.shape) / std::max<std::int64_t>(1, factor.depth());
    const std::vector<std::int64_t> batched(factor.shape.begin(), factor.shape.end() - 1);
    const bool fits = numbers.shape == std::vector{rows} || numbers.shape == batched;
    if (!fits || factor.depth() == 0)
        return in_file("has shape " + data::shape_text(numbers.shape) + ", and " + factor.path +
                       " of shape " + data::shape_text(factor.shape) + " needs " +
                       data::shape_text(batched) + ", a number for each row");
    if (factor.tensor.number != TensorFactor{}.number || factor.tensor.divisor != 1)
        return in_file(factor.path + " has a number for its whole tensor already");
    factor.row_numbers = numbers.bytes;
    return success();
}

namespace {

constexpr std::array<std::string_view, 7> plain_types{"f32",  "f16",      "bf16",    "e4m3",
                                                      "e5m2", "e4m3fnuz", "e5m2fnuz"};

Status check_dimensions(const std::vector<std::int64_t>& shape) {
    if (shape.size() >= 2) return success();
    return bad_input("has shape " + data::shape_text(shape) +
                     ", and a factor needs two dimensions, rows and K");
}

// Values as they are, without scales.
Expected<GemmFactor> plain_factor(data::TensorFile& file) {
    const bool is_plain =
        file.tensors.size() == 1 &&
        std::ranges::find(plain_types, file.tensors.front().type) != plain_types.end();
    if (!is_plain)
        return bad_input("holds no elements with scales; mxcheck quantize makes them of values");
    data::HostTensor& tensor = file.tensors.front();
    if (const Status fits = check_dimensions(tensor.shape); !fits) return fits.error();
    GemmFactor factor;
    factor.format = tensor.type;
    factor.element = *find_element_format(tensor.type);
    factor.scaling = gemm::Scaling::none;
    factor.scale = formats::f32;
    factor.shape = tensor.shape;
    factor.codes.elements = std::move(tensor.bytes);
    return factor;
}

Expected<GemmFactor> quantized_factor(data::TensorFile& file) {
    const auto facts = read_facts(file, {});
    if (!facts) return facts.error();
    const BlockNames& names = facts.value().names;
    if (names.axis != "row" && !has_own_axis(names.format))
        return bad_input("its blocks are of axis " + names.axis +
                         ", and a dot product needs them along K, the last dimension; quantize it "
                         "with --axis row");
    const std::vector<std::int64_t>& shape = facts.value().shape;
    if (const Status fits = check_dimensions(shape); !fits) return fits.error();
    auto factor = factor_of_blocks(file, facts.value());
    if (!factor) return factor.error();
    factor.value().format = names.format;
    factor.value().shape = shape;
    return factor;
}

}  // namespace

Expected<GemmFactor> gemm_factor(const std::string& path, data::TensorFile file) {
    auto factor = data::is_quantized(file) ? quantized_factor(file) : plain_factor(file);
    if (!factor) return bad_input(path + ": " + factor.error().message);
    factor.value().path = path;
    return factor;
}

}  // namespace mx::emulate
