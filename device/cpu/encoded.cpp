// See encoded.hpp.
#include "device/cpu/encoded.hpp"

#include <utility>

#include "device/cpu/reader.hpp"

namespace mx::cpu {
namespace {

// A dense copy, with its memory only where there will be something to compute.
Plane stage(const kit::Call& call, Staged staged, Encoded& encoded) {
    const mx_tensor& tensor = staged.tensor;
    if (call.has_data())
        staged.dense.resize(static_cast<std::size_t>(tensor.rows * tensor.columns));
    const Plane plane{staged.dense.data(), tensor.columns, 1};
    encoded.staged.push_back(std::move(staged));
    return plane;
}

// Scales that have no tensor of their own lie beside the codes.
Plane inline_scales(const kit::Call& call, const kit::Blocks& blocks, Encoded& encoded) {
    Staged& staged = encoded.staged.back();
    const kit::Shape grid = blocks.grid({staged.tensor.rows, staged.tensor.columns});
    if (call.has_data())
        staged.dense_scales.resize(static_cast<std::size_t>(grid.rows * grid.columns));
    return {staged.dense_scales.data(), grid.columns, 1};
}

}  // namespace

Encoded encoded_of(const kit::Call& call, const EncodedTensors& tensors, const EncodedTypes& types,
                   const kit::Blocks& blocks) {
    const ElementType element = types.element;
    const kit::Tensor& codes = tensors.codes;
    Encoded encoded{plane_of(codes), {}, {}};
    codes.expect_type(name_of(element));
    const Layout layout = layout_of_codes(codes, element);
    if (tensors.scales) {
        const kit::Tensor& scales = *tensors.scales;
        scales.expect_type(types.scale);
        scales.expect_shape(blocks.grid(codes.shape()));
        if (kit::width_of(types.scale) != 1) scales.expect_strided();
        const Layout scale_layout = layout_of_scales(scales, blocks.axis);
        encoded.scales = plane_of(scales);
        if (scale_layout.kind != LayoutKind::strided)
            encoded.scales = stage(call, {scale_layout, scales.raw(), 0, 8, {}, {}}, encoded);
    } else {
        if (kit::width_of(types.scale) != 1)
            kit::not_supported("scales of type " + kit::in_double_quotes(types.scale) +
                               " in layout \"inline\"");
        check_inline(codes, blocks, element);
    }
    if (layout.kind == LayoutKind::strided) return encoded;
    const int bits = element_of(element).sign_place + 1;
    encoded.codes = stage(call, {layout, codes.raw(), blocks.size, bits, {}, {}}, encoded);
    if (!tensors.scales) encoded.scales = inline_scales(call, blocks, encoded);
    return encoded;
}

}  // namespace mx::cpu
