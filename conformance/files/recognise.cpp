// See recognise.hpp.
#include "conformance/files/recognise.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "conformance/case/names.hpp"
#include "conformance/data/quantized_file.hpp"
#include "conformance/emulate/quantized_facts.hpp"
#include "conformance/emulate/stored_tensors.hpp"
#include "reference/base/text.hpp"
#include "reference/fast/pack.hpp"

namespace mx::files {
namespace {

using data::in_quotes;
using data::ListedTensor;
using data::shape_text;

// The most specific come first: "weight_scale_2" tells ModelOpt from others that have the rest.
// What the sources say, read 2026-11-26:
// - gpt-oss: 16 bytes a block, the first element in the low half; scales are bytes, 2^(byte - 127).
// - compressed-tensors: weight_packed with weight_scale and weight_global_scale, which divides
// (NVFP4),
//   or with scales of bytes (compressors/mxfp4/base.py); MXFP8 keeps the name weight
//   (compressors/mxfp8/base.py).
// - ModelOpt: weight_scale_2 = amax / (6 * 448) multiplies; amax / 448 in W4A8_NVFP4_FP8. MXFP8 has
//   scales of bytes, rows x columns / 32 (quantization/qtensor/mxfp8_tensor.py), MXFP4, too
//   (mxfp4_tensor.py: the first element in the low half). Its integers of 8 bits have one scale a
//   row or a tensor; it exports no MXINT8.
// - Quark: two elements of FP4 a byte, the first in the low half; four of FP6 in three bytes, the
//   first in the lowest six bits (Pack_fp4, Pack_fp6). Its older dtype "mx" puts a scale and a
//   block's elements into groups of 17 or 25 bytes of one tensor, and is not recognised here.
// - DeepSeek: weight_scale_inv multiplies, in spite of its name.
// - MLX: words of 32 bits, the first element in the lowest bits; scales of bytes, E8M0 of the modes
//   mxfp4 and mxfp8 and E4M3 of nvfp4; biases belong to its mode affine alone.
// No document was found of a project that stores MXINT8: what has int8 elements under E8M0 scales
// is called unverified.
constexpr std::array convention_table{
    Convention{"gpt-oss", "_blocks", "_scales", "", GlobalUse::none,
               "huggingface/transformers:src/transformers/integrations/mxfp4.py"},
    Convention{"gpt-oss", ".blocks", ".scales", "", GlobalUse::none,
               "openai/gpt-oss:gpt_oss/torch/weights.py"},
    Convention{"compressed-tensors", "_packed", "_scale", "_global_scale", GlobalUse::divided,
               "vllm-project/compressed-tensors:src/compressed_tensors/compressors/nvfp4/base.py"},
    Convention{"ModelOpt", "", "_scale", "_scale_2", GlobalUse::times,
               "NVIDIA/Model-Optimizer:modelopt/torch/export/quant_utils.py"},
    Convention{"DeepSeek FP8", "", "_scale_inv", "", GlobalUse::none,
               "deepseek-ai/DeepSeek-V3:README_WEIGHTS.md"},
    Convention{"Quark, ModelOpt or compressed-tensors", "", "_scale", "", GlobalUse::none,
               "amd/Quark:quark/torch/utils/pack.py, "
               "NVIDIA/Model-Optimizer:modelopt/torch/quantization/qtensor/mxfp8_tensor.py, "
               "vllm-project/compressed-tensors:src/compressed_tensors/compressors/mxfp8/base.py"},
    Convention{"MLX", ".weight", ".scales", "", GlobalUse::none,
               "ml-explore/mlx:python/mlx/nn/layers/quantized.py"},
    Convention{"arrays", "codes", "scales", "global_scale", GlobalUse::times, ""},
    Convention{"arrays", "elements", "scales", "global_scale", GlobalUse::times, ""},
};

struct Parts {
    const Convention& convention;
    std::string name;
    const ListedTensor& elements;
    const ListedTensor& scales;
    const ListedTensor* global;
};

std::int64_t product_of(std::span<const std::int64_t> lengths) {
    std::int64_t product = 1;
    for (const std::int64_t length : lengths) product *= length;
    return product;
}

// Rows and columns of a tensor whose leading dimensions count as rows.
struct Flat {
    std::int64_t rows = 1, columns = 1, slice_rows = 1;
};
Flat flat(const std::vector<std::int64_t>& shape) {
    Flat result;
    if (shape.empty()) return result;
    result.columns = shape.back();
    result.rows = product_of(std::span(shape).first(shape.size() - 1));
    result.slice_rows = shape.size() > 1 ? shape[shape.size() - 2] : 1;
    return result;
}

const BlockFormat* format_of(const View& view) {
    for (const BlockFormat& format : block_formats) {
        if (!(format.element() == view.element) || !(format.scale() == view.scale)) continue;
        if (format.has_e8m0_scales())
            return view.block_rows == 1 || view.block_columns == 1 ? &format : nullptr;
        const bool is_whole = view.block_rows == view.rows && view.block_columns == view.columns;
        if (format.is_whole_tensor() ? is_whole
                                     : format.block_rows == view.block_rows &&
                                           format.block_columns == view.block_columns)
            return &format;
    }
    return nullptr;
}

std::int64_t blocks_of(std::int64_t length, std::int64_t block) {
    return (length + block - 1) / block;
}

// Fills in what the types and shapes of two tensors say. Each step returns a sentence, or "".
class Fitter {
public:
    Fitter(Parts parts, std::string elements_format)
        : parts_(parts), wanted_(std::move(elements_format)) {}

    Expected<View> fit() {
        view_.name = parts_.name;
        view_.convention = parts_.convention.name;
        view_.elements = parts_.elements;
        view_.scales = parts_.scales;
        if (parts_.global != nullptr) {
            view_.global = *parts_.global;
            view_.use = parts_.convention.use;
        }
        if (const std::string wrong = take_types(); !wrong.empty()) return bad_input(wrong);
        const std::string wrong = take_shapes();
        if (!wrong.empty()) return bad_input(wrong);
        const auto needed = static_cast<std::uint64_t>(view_.rows * view_.row_bytes());
        if (needed != view_.elements.size())
            return bad_input("its rows of " + std::to_string(view_.columns) + " elements of " +
                             std::to_string(view_.element.code_bits()) +
                             " bits fill no whole bytes");
        view_.format = format_of(view_);
        return std::move(view_);
    }

private:
    bool is_packed() const { return parts_.elements.type == "u8" || parts_.elements.type == "u32"; }

    std::string take_types() {
        const std::string& scale = parts_.scales.type;
        const ElementFormat* scale_format = find_element_format(scale == "u8" ? "e8m0" : scale);
        const bool is_scale = scale == "u8" || scale == "e8m0" || scale == "e4m3" ||
                              scale == "f32" || scale == "bf16" || scale == "f16";
        if (!is_scale || scale_format == nullptr) return "its scales are " + scale;
        view_.scale = *scale_format;
        if (is_packed()) return "";
        const ElementFormat* element =
            find_element_format(parts_.elements.type == "i8" ? "int8" : parts_.elements.type);
        if (element == nullptr || element->code_bits() > 8)
            return "its elements are " + parts_.elements.type;
        view_.element = *element;
        if (element->code_bits() == 4) view_.order = CodeOrder::low_first;
        if (element->code_bits() == 6) view_.order = CodeOrder::six;
        return "";
    }

    std::string take_shapes() {
        const Flat elements = flat(row_shape());
        Flat scales = flat(parts_.scales.shape);
        view_.rows = elements.rows;
        view_.slice_rows = elements.slice_rows;
        const std::int64_t row_bytes =
            parts_.elements.type == "u32" ? elements.columns * 4 : elements.columns;
        if (!is_packed()) return take_grid(elements.columns, scales);
        return take_packed(row_bytes, scales);
    }

    // gpt-oss has the 16 bytes of a block in a dimension of their own.
    std::vector<std::int64_t> row_shape() const {
        std::vector<std::int64_t> shape = parts_.elements.shape;
        const std::vector<std::int64_t>& scales = parts_.scales.shape;
        if (shape.size() > 1 && shape.size() == scales.size() + 1 && shape.back() == 16 &&
            std::equal(scales.begin(), scales.end(), shape.begin())) {
            shape.pop_back();
            shape.back() *= 16;
        }
        return shape;
    }

    // How many bytes a scale has says what they are.
    std::string take_packed(std::int64_t row_bytes, Flat scales) {
        const std::int64_t count = product_of(parts_.scales.shape);
        std::int64_t per_scale = scales.columns > 0 ? row_bytes / scales.columns : 0;
        const bool is_even = count > 0 && view_.rows * row_bytes % count == 0;
        if (scales.rows != view_.rows && is_even) per_scale = view_.rows * row_bytes / count;
        struct Meaning {
            std::int64_t bytes;
            std::string_view element, scale;
            CodeOrder order;
            std::int64_t block;
        };
        constexpr std::array meanings{
            Meaning{16, "e2m1", "e8m0", CodeOrder::low_first, 32},
            Meaning{8, "e2m1", "e4m3", CodeOrder::low_first, 16},
            Meaning{24, "e3m2", "e8m0", CodeOrder::six, 32},
            Meaning{32, "e4m3", "e8m0", CodeOrder::bytes, 32},
            Meaning{16, "e2m1", "e4m3", CodeOrder::bytes, 16},
        };
        // Scales in another order may be padded, so that there are some more of them.
        for (const Meaning& meaning : meanings) {
            // Scales of an unnamed byte are E8M0, but for MLX's own NVFP4.
            const bool may_be = parts_.scales.type == "u8" &&
                                (meaning.scale == "e8m0" || parts_.convention.name == "MLX");
            const bool is_named = may_be || parts_.scales.type == meaning.scale;
            const std::int64_t columns = row_bytes * meaning.block / meaning.bytes;
            view_.block_columns = meaning.block;
            if (!is_named || !fits_grid(blocks_of(columns, meaning.block))) continue;
            view_.element = *find_element_format(meaning.element);
            const ElementFormat* wanted = find_element_format(wanted_);
            const bool is_byte = meaning.order == CodeOrder::bytes;
            if (wanted != nullptr && wanted->code_bits() <= 8 &&
                (is_byte || wanted->code_bits() == view_.element.code_bits()))
                view_.element = *wanted;
            view_.scale = *find_element_format(meaning.scale);
            view_.order = meaning.order;
            view_.columns = columns;
            return "";
        }
        return "its " + size_text(view_.rows, row_bytes) +
               " bytes of elements and scales of shape " + shape_text(parts_.scales.shape) +
               " are " + std::to_string(per_scale) + " bytes a scale, and no format has that";
    }

    // Do the scales make a grid of `columns` for these rows, in some order?
    bool fits_grid(std::int64_t columns) {
        const Flat scales = flat(parts_.scales.shape);
        const std::int64_t count = product_of(parts_.scales.shape);
        if (count == view_.rows * columns && scales.rows == view_.rows) {
            view_.place = ScalePlace::linear;
            return true;
        }
        if (parts_.scales.shape.size() == 2 && scales.rows == columns &&
            scales.columns == view_.rows) {
            view_.place = ScalePlace::transposed;
            return true;
        }
        const ScaleLayout& tiles = *find_scale_layout("128x4");
        const GridShape padded = fast::padded_shape(tiles, {view_.rows, columns});
        const bool is_padded_grid = scales.rows == padded.rows && scales.columns == padded.columns;
        const bool is_flat = parts_.scales.shape.size() == 1;
        if (columns > 0 && (is_padded_grid || is_flat) && count == padded.rows * padded.columns &&
            view_.scale.code_bytes() == 1) {
            view_.place = ScalePlace::tiles_128x4;
            return true;
        }
        return false;
    }

    // Elements whose type says what they are: the block is what the numbers of scales leave.
    std::string take_grid(std::int64_t columns, Flat scales) {
        view_.columns = columns;
        const std::int64_t count = product_of(parts_.scales.shape);
        if (count == 1 && view_.scale.code_bits() > 8) {
            view_.block_rows = view_.slice_rows = std::max<std::int64_t>(view_.rows, 1);
            view_.block_columns = std::max<std::int64_t>(columns, 1);
            return "";
        }
        const bool is_column = scales.rows == view_.rows && scales.columns == 1;
        const bool is_list = parts_.scales.shape.size() == 1 && scales.columns == view_.rows;
        if ((is_column || is_list) && view_.scale.code_bits() > 8) {
            view_.block_columns = std::max<std::int64_t>(columns, 1);
            return "";
        }
        for (const std::int64_t block : {32, 16, 64, 128}) {
            view_.block_columns = block;
            if (fits_grid(blocks_of(columns, block))) return "";
        }
        view_.place = ScalePlace::linear;
        return take_tall_blocks(scales);
    }

    std::string take_tall_blocks(Flat scales) {
        for (const std::int64_t block : {128, 32, 16}) {
            view_.block_rows = view_.block_columns = block;
            if (scales.rows == view_.grid_rows() && scales.columns == view_.grid_columns())
                return "";
            view_.block_columns = 1;
            if (scales.rows == view_.grid_rows() && scales.columns == view_.columns) return "";
        }
        return "its " + size_text(view_.rows, view_.columns) +
               " elements do not fit scales of shape " + shape_text(parts_.scales.shape);
    }

    Parts parts_;
    std::string wanted_;
    View view_;
};

// --- files of mxcheck quantize -------------------------------------------------------------------

ScalePlace place_of_scales(const std::string& name) {
    if (name == "128x4") return ScalePlace::tiles_128x4;
    if (name == "8x4") return ScalePlace::tiles_8x4;
    if (name == "32x8") return ScalePlace::tiles_32x8;
    return name == "te-padded" ? ScalePlace::te_padded : ScalePlace::linear;
}

CodeOrder order_of_packing(const std::string& name, int bits) {
    if (name == "low_first") return CodeOrder::low_first;
    if (name == "high_first") return CodeOrder::high_first;
    if (name == "six") return CodeOrder::six;
    if (name == "inline" && bits == 4) return CodeOrder::low_first;
    return name == "inline" && bits == 6 ? CodeOrder::six : CodeOrder::bytes;
}

// What is kept beside the tensor, as its quantizer reads it.
void take_number(const Quantizer& quantizer, View& view) {
    view.use = GlobalUse::times;
    if (quantizer.way_back == WayBack::times_scale_amax)
        view.global_value /= 6.0 * quantizer.scale_max;
}

Expected<View> view_of_own_file(const data::TensorListing& listing) {
    data::TensorFile file;
    file.metadata = listing.metadata;
    const auto facts = emulate::read_facts(file, {});
    if (!facts) return facts.error();
    const emulate::BlockNames& names = facts.value().names;
    const auto layout = emulate::layout_of(facts.value().shape, emulate::block_shape(names));
    if (!layout) return layout.error();
    if (layout.value().slices > 1)
        return bad_input("has blocks along the columns of several matrices; only one is read here");
    View view;
    view.name = "elements";
    view.convention = "mxcheck";
    view.dialect = names.dialect;
    view.format = find_block_format(names.format);
    view.element = view.format->element();
    view.scale = view.format->scale();
    view.rows = view.slice_rows = layout.value().rows;
    view.columns = layout.value().columns;
    const Problem p = emulate::problem_of_slice(names, layout.value(), OperationKind::quantize);
    const bool is_col = p.axis == BlockAxis::col, is_tile = p.axis == BlockAxis::tile;
    const bool is_whole = p.axis == BlockAxis::tensor;
    view.block_rows = is_whole            ? std::max<std::int64_t>(view.rows, 1)
                      : is_col || is_tile ? p.block
                                          : 1;
    view.block_columns = is_whole ? std::max<std::int64_t>(view.columns, 1) : is_col ? 1 : p.block;
    view.place = place_of_scales(names.scales);
    view.order = order_of_packing(names.packing, view.element.code_bits());
    if (names.packing == "inline") {
        const int bytes = static_cast<int>(p.block) * view.element.code_bits() / 8;
        view.group = {static_cast<int>(p.block), bytes + 1, bytes, 0, 1};
    }
    for (const emulate::StoredTensor& stored : emulate::stored_tensors(names, layout.value())) {
        const auto found =
            std::find_if(listing.tensors.begin(), listing.tensors.end(),
                         [&](const ListedTensor& tensor) { return tensor.name == stored.name; });
        if (found == listing.tensors.end() || found->type != stored.type ||
            found->shape != stored.shape)
            return bad_input("its metadata need tensor '" + stored.name + "' to be " + stored.type +
                             " of shape " + shape_text(stored.shape));
        if (stored.name == "elements") view.elements = *found;
        if (stored.name == "scales") view.scales = *found;
        if (stored.name == "tensor_scale") view.global = *found;
    }
    if (const Status loaded = load_global(view); !loaded) return loaded.error();
    if (view.global && !is_whole) take_number(*p.dialect, view);
    return view;
}

using ByName = std::map<std::string, const ListedTensor*>;

// --- ggml ----------------------------------------------------------------------------------------

// ggml-org/llama.cpp:ggml/src/ggml-common.h, block_mxfp4 and block_nvfp4. The number of an NVFP4
// tensor is another one, NAME.scale beside NAME.weight, and multiplies (ggml-org/llama.cpp#20505;
// others have written NAME.weight.scale). One of several numbers has one for each expert, and is
// not read: the amax of such a tensor is not judged.
const ListedTensor* number_of_blocks(const ByName& by_name, const std::string& name) {
    constexpr std::string_view ending = ".weight";
    const bool is_weight = name.ends_with(ending);
    const std::string base = is_weight ? name.substr(0, name.size() - ending.size()) : name;
    for (const std::string& each : {base + ".scale", name + ".scale"}) {
        const auto found = by_name.find(each);
        const bool is_number = found != by_name.end() && found->second->type == "f32";
        if (is_number && found->second->size() == sizeof(float)) return found->second;
    }
    return nullptr;
}

std::optional<View> view_of_blocks(const ByName& by_name, const ListedTensor& tensor) {
    const bool is_mxfp4 = tensor.block_type == "MXFP4";
    if ((!is_mxfp4 && tensor.block_type != "NVFP4") || tensor.size() == 0) return std::nullopt;
    const Flat shape = flat(tensor.element_shape);
    View view;
    view.name = tensor.name;
    view.convention = "llama.cpp";
    view.format = find_block_format(is_mxfp4 ? "mxfp4-e2m1" : "nvfp4");
    view.element = view.format->element();
    view.scale = view.format->scale();
    view.rows = shape.rows;
    view.slice_rows = shape.slice_rows;
    view.columns = shape.columns;
    view.block_columns = is_mxfp4 ? 32 : 16;
    view.order = CodeOrder::halves;
    view.group = is_mxfp4 ? Group{32, 17, 0, 1, 1} : Group{64, 36, 0, 4, 4};
    view.elements = tensor;
    const ListedTensor* number = is_mxfp4 ? nullptr : number_of_blocks(by_name, tensor.name);
    if (number != nullptr) {
        view.global = *number;
        view.use = GlobalUse::times;
    }
    return view;
}

// --- checkpoints
// -----------------------------------------------------------------------------------

bool may_be_elements(const std::string& type) {
    const data::TensorType* row = data::find_tensor_type(type);
    return type == "u32" || (row != nullptr && row->bits <= 8 && type != "bool" && type != "e8m0");
}

// The first convention by which `tensor` has scales beside it.
std::optional<Parts> parts_of(const ByName& by_name, const ListedTensor& tensor) {
    const bool is_empty = tensor.size() == 0;
    if (is_empty || !may_be_elements(tensor.type) || !tensor.block_type.empty())
        return std::nullopt;
    const auto find = [&](const std::string& name) {
        const auto found = by_name.find(name);
        return found == by_name.end() ? nullptr : found->second;
    };
    for (const Convention& convention : convention_table) {
        if (!tensor.name.ends_with(convention.elements)) continue;
        const std::string name =
            tensor.name.substr(0, tensor.name.size() - convention.elements.size());
        const ListedTensor* scales = find(name + std::string(convention.scales));
        if (scales == nullptr || scales == &tensor) continue;
        const std::string global_name = name + std::string(convention.global);
        const ListedTensor* global = convention.global.empty() ? nullptr : find(global_name);
        const bool needs_global = convention.name == "ModelOpt";
        if (needs_global && global == nullptr) continue;
        // MLX's own integers have biases beside the scales.
        if (convention.name == "MLX" && (tensor.type != "u32" || find(name + ".biases") != nullptr))
            continue;
        return Parts{convention, name, tensor, *scales, global};
    }
    return std::nullopt;
}

std::string shown_name(const std::string& name) {
    constexpr std::string_view ending = ".weight";
    if (name.empty()) return "tensor";
    return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
}

}  // namespace

std::vector<Convention> conventions() {
    std::vector<Convention> list(convention_table.begin(), convention_table.end());
    list.push_back(
        {"llama.cpp", "", "", "", GlobalUse::none, "ggml-org/llama.cpp:ggml/src/ggml-common.h"});
    return list;
}

Expected<Recognised> recognise(const data::TensorListing& listing,
                               const std::string& elements_format) {
    if (!elements_format.empty()) {
        const auto known = check_name("element format", elements_format, names_of(element_formats));
        if (!known) return known.error();
    }
    Recognised result;
    data::TensorFile names_only;
    names_only.metadata = listing.metadata;
    if (data::is_quantized(names_only)) {
        auto view = view_of_own_file(listing);
        if (!view) return view.error();
        result.views.push_back(std::move(view).value());
        return result;
    }
    ByName by_name;
    for (const ListedTensor& tensor : listing.tensors) by_name[tensor.name] = &tensor;
    std::set<const ListedTensor*> taken;
    for (const ListedTensor& tensor : listing.tensors) {
        if (auto view = view_of_blocks(by_name, tensor)) {
            if (const Status loaded = load_global(*view); !loaded) return loaded.error();
            const bool has_number = view->global.has_value();
            taken.insert(has_number ? by_name.at(view->global->name) : &tensor);
            taken.insert(&tensor);
            result.views.push_back(std::move(*view));
            continue;
        }
        const auto parts = parts_of(by_name, tensor);
        if (!parts) continue;
        for (const ListedTensor* part : {&parts->elements, &parts->scales, parts->global})
            taken.insert(part);
        auto view = Fitter(*parts, elements_format).fit();
        const Status loaded = view ? load_global(view.value()) : Status(view.error());
        if (!loaded) {
            result.misfits.push_back({shown_name(parts->name), std::string(parts->convention.name),
                                      loaded.error().message});
            continue;
        }
        view.value().name = shown_name(view.value().name);
        result.views.push_back(std::move(view).value());
    }
    for (const ListedTensor& tensor : listing.tensors)
        if (!taken.contains(&tensor)) result.others.push_back(tensor);
    return result;
}

namespace {

Status unpack_deflated(ListedTensor& tensor) {
    constexpr std::uint64_t limit = std::uint64_t{1} << 28;
    if (tensor.source->reads_anywhere()) return success();
    if (tensor.size() > limit)
        return bad_input("tensor " + in_quotes(tensor.name) + " is deflated and has " +
                         std::to_string(tensor.size()) + " bytes; up to " + std::to_string(limit) +
                         " are unpacked (numpy.savez keeps them as they are)");
    auto whole = data::read_whole(tensor);
    if (!whole) return whole.error();
    tensor.range = {0, whole.value().bytes.size()};
    tensor.source =
        std::make_shared<data::KeptSource>(std::move(whole.value().bytes), tensor.source->name());
    return success();
}

}  // namespace

Expected<Recognised> open_quantized(const std::string& path, const std::string& elements_format) {
    auto listing = data::list_tensors(path);
    if (!listing) return listing.error();
    for (ListedTensor& tensor : listing.value().tensors)
        if (const Status s = unpack_deflated(tensor); !s)
            return Error{s.error().kind, path + ": " + s.error().message};
    auto result = recognise(listing.value(), elements_format);
    if (!result) return Error{result.error().kind, path + ": " + result.error().message};
    return result;
}

Expected<View> open_view(const std::string& path, const std::string& name,
                         const std::string& elements_format) {
    auto file = open_quantized(path, elements_format);
    if (!file) return file.error();
    std::vector<View>& views = file.value().views;
    std::vector<std::string> names;
    for (View& view : views) {
        if (view.name == name || (name.empty() && views.size() == 1)) return std::move(view);
        names.push_back(view.name);
    }
    for (const Misfit& misfit : file.value().misfits)
        if (name.empty() || misfit.name == name)
            return bad_input(path + ": tensor " + in_quotes(misfit.name) + " has the names of " +
                             misfit.convention + ", but " + misfit.what);
    if (!name.empty())
        return bad_input(path + ": " + check_name("quantized tensor", name, names).error().message);
    return bad_input(path + ": holds " + counted(views.size(), "quantized tensor") +
                     (views.empty() ? "" : "; name one with --tensor: " + joined(names, ", ")));
}

std::string size_text(std::int64_t rows, std::int64_t columns) {
    return std::to_string(rows) + " x " + std::to_string(columns);
}

}  // namespace mx::files
