// See gemm_request.hpp.
#include "device/cpu/gemm_request.hpp"

#include <bit>
#include <utility>

namespace mx::cpu {
namespace {

Plane plane_of(const mx_tensor& tensor) {
    return {static_cast<std::uint8_t*>(tensor.data), tensor.row_stride, tensor.column_stride};
}

std::int64_t blocks_in(std::int64_t depth, std::int64_t block) {
    return depth / block + (depth % block != 0 ? 1 : 0);
}

// How mx_device.h names a scaling, and the type and shape of its scales.
struct ScalingRow {
    std::string_view name;
    FactorScaling scaling;
    std::string_view type;
    std::ptrdiff_t block;  // along k; 0: one serves all of a row
};
constexpr ScalingRow scaling_rows[] = {{"", FactorScaling::none, "", 0},
                                       {"tensor", FactorScaling::tensor, "f32", 0},
                                       {"row", FactorScaling::row, "f32", 0},
                                       {"1x32", FactorScaling::e8m0, "e8m0", 32},
                                       {"1x16", FactorScaling::ue4m3, "ue4m3", 16}};

struct EpilogueRow {
    std::string_view name;
    bool adds_bias, has_relu;
};
constexpr EpilogueRow epilogue_rows[] = {
    {"", false, false}, {"bias", true, false}, {"relu", false, true}, {"bias-relu", true, true}};

// The row of that name, or the first one and a refusal.
template <typename Row, std::size_t N>
const Row& choose(Reader& reader, const Row (&rows)[N], const char* name, const std::string& kind) {
    for (const Row& row : rows)
        if (row.name == text_of(name)) return row;
    reader.refuse(not_supported(kind + " " + quoted(name) + " of a gemm"));
    return rows[0];
}

class GemmReader {
public:
    explicit GemmReader(Reader& reader) : reader_(reader) {}

    std::variant<Work, Refusal> read() {
        read_names();
        if (!reader_.refused()) read_factors();
        if (!reader_.refused()) read_others();
        if (reader_.refused()) return reader_.refusal();
        return Work{job_, std::move(staged_), std::move(staged_out_)};
    }

private:
    const mx_gemm& asked() const { return *reader_.operation().gemm; }

    void read_names() {
        if (reader_.operation().gemm == nullptr || asked().struct_size < sizeof(mx_gemm))
            return reader_.refuse(invalid("operation \"gemm\" has no mx_gemm of this ABI"));
        if (asked().batches < 1) reader_.refuse(invalid("a gemm has at least one batch"));
        scaling_ = &choose(reader_, scaling_rows, asked().scaling_a, "scaling");
        if (text_of(asked().scaling_a) != text_of(asked().scaling_b))
            reader_.refuse(not_supported("scalings " + quoted(asked().scaling_a) + " and " +
                                         quoted(asked().scaling_b) + " in one gemm"));
        const std::string_view out = text_of(asked().scaling_out);
        is_nvfp4_ = out == "1x16";
        has_blocks_ = out == "1x32" || is_nvfp4_;
        has_scale_ = out == "tensor" || is_nvfp4_;
        if (!out.empty() && !has_scale_ && !has_blocks_)
            reader_.refuse(not_supported("scaling " + quoted(asked().scaling_out) + " of D"));
        if (asked().accumulation != nullptr)
            reader_.refuse(not_supported("accumulation " + quoted(asked().accumulation)));
        const EpilogueRow epilogue = choose(reader_, epilogue_rows, asked().epilogue, "epilogue");
        adds_bias_ = epilogue.adds_bias;
        job_.has_relu = epilogue.has_relu;
        if (asked().algorithm != nullptr)
            job_.summation = choose(reader_, summations, asked().algorithm, "algorithm");
        job_.alpha = std::bit_cast<float>(asked().alpha);
        job_.beta = std::bit_cast<float>(asked().beta);
        const std::size_t scales = scaling_->scaling == FactorScaling::none ? 0 : 2;
        reader_.expect_inputs(2 + scales + (job_.beta != 0 ? 1 : 0) + (adds_bias_ ? 1 : 0) +
                              (has_scale_ ? 1 : 0));
        reader_.expect_outputs(has_blocks_ ? 2 : 1);
    }

    const mx_tensor& next_input() { return reader_.input(next_++); }

    void read_factors() {
        const mx_tensor& a = next_input();
        read_factor(a, job_.a);
        const mx_tensor& b = next_input();
        read_factor(b, job_.b);
        job_.batches = asked().batches;
        if (a.columns != b.columns)
            reader_.refuse(invalid("A has rows of " + std::to_string(a.columns) +
                                   " along k, and B of " + std::to_string(b.columns)));
        if (a.rows % asked().batches != 0 || b.rows % asked().batches != 0)
            reader_.refuse(invalid("factors of " + std::to_string(a.rows) + " and " +
                                   std::to_string(b.rows) + " rows are no " +
                                   std::to_string(asked().batches) + " equal batches"));
        job_.rows = a.rows / asked().batches;
        job_.columns = b.rows / asked().batches;
        job_.depth = a.columns;
    }

    void read_factor(const mx_tensor& codes, Factor& factor) {
        factor.element = find_element_type(text_of(codes.type));
        factor.codes = plane_of(codes);
        if (factor.element) {
            const Layout layout = reader_.layout_of_codes(codes, *factor.element);
            const int bits = element_of(*factor.element).sign_place + 1;
            if (layout.kind == LayoutKind::inline_scales)
                reader_.refuse(not_supported("a factor in layout \"inline\""));
            if (layout.kind != LayoutKind::strided)
                factor.codes = staged_plane({layout, codes, 0, bits, {}, {}});
        } else {
            factor.value = reader_.value_type(codes);
        }
        factor.scaling = scaling_->scaling;
        if (scaling_->block != 0) factor.block = scaling_->block;
        if (factor.scaling != FactorScaling::none) read_scales(codes, factor);
    }

    void read_scales(const mx_tensor& codes, Factor& factor) {
        const mx_tensor& scales = next_input();
        reader_.expect_type(scales, scaling_->type);
        const bool is_whole = factor.scaling == FactorScaling::tensor;
        const std::int64_t columns =
            scaling_->block == 0 ? 1 : blocks_in(codes.columns, factor.block);
        reader_.expect_shape(scales, {is_whole ? 1 : codes.rows, columns});
        factor.scales = plane_of(scales);
        const bool is_nvfp4 = factor.scaling == FactorScaling::ue4m3;
        if (scaling_->block != 0 && !factor.element)
            reader_.refuse(not_supported("block scales of values of type " + quoted(codes.type)));
        if (is_nvfp4 && factor.element != ElementType::e2m1)
            reader_.refuse(not_supported("scales of 1x16 with elements other than e2m1"));
        if (scaling_->block == 0) return reader_.expect_strided(scales);
        const Layout layout = layout_of_scales(scales);
        if (layout.kind != LayoutKind::strided)
            factor.scales = staged_plane({layout, scales, 0, 8, {}, {}});
    }

    Layout layout_of_scales(const mx_tensor& scales) {
        const auto layout = find_layout(text_of(scales.layout));
        const bool is_strided = layout && layout->kind == LayoutKind::strided;
        const bool is_known = layout && layout->kind == LayoutKind::scales && layout->axis == "row";
        if (!is_strided && !is_known)
            reader_.refuse(not_supported("scales of a gemm in layout " + quoted(scales.layout)));
        return layout.value_or(Layout{});
    }

    Plane staged_plane(Staged staged) { return stage(std::move(staged), staged_); }

    // A dense copy, with its memory only where there will be something to compute.
    Plane stage(Staged staged, std::vector<Staged>& among) {
        const mx_tensor& tensor = staged.tensor;
        if (!reader_.refused() && reader_.buffers() == Buffers::present)
            staged.dense.resize(static_cast<std::size_t>(tensor.rows * tensor.columns));
        const Plane plane{staged.dense.data(), tensor.columns, 1};
        among.push_back(std::move(staged));
        return plane;
    }

    // A plane of an output's bytes, or of a dense copy that is packed afterwards.
    Plane output_plane(const mx_tensor& tensor, const Layout& layout, int bits) {
        if (layout.kind == LayoutKind::strided) return plane_of(tensor);
        return stage({layout, tensor, 0, bits, {}, {}}, staged_out_);
    }

    // What D's blocks are made by: a dialect, whose elements are those of D's type, or cuBLASLt's
    // recipe of NVFP4.
    void read_blocks(const mx_tensor& d, ElementType element) {
        const mx_tensor& scales = reader_.output(1);
        reader_.expect_type(scales, is_nvfp4_ ? "ue4m3" : "e8m0");
        reader_.expect_scale_shape(d, scales, {Axis::row, is_nvfp4_ ? nvfp4_block : row_block});
        const Layout layout = reader_.layout_of_codes(d, element);
        if (layout.kind == LayoutKind::inline_scales)
            reader_.refuse(not_supported("a D in layout \"inline\""));
        const Layout scale_layout = layout_of_scales(scales);
        const bool is_known = text_of(reader_.operation().dialect) == "cublaslt-nvfp4";
        if (is_nvfp4_ && (element != ElementType::e2m1 || !is_known))
            reader_.refuse(not_supported("scaling \"1x16\" of a D of type " + quoted(d.type) +
                                         " by dialect " + quoted(reader_.operation().dialect)));
        const DialectRule rule = is_nvfp4_ ? DialectRule{} : reader_.dialect_rule(element);
        if (reader_.refused()) return;
        const Extent extent{d.rows, d.columns};
        const Plane codes = output_plane(d, layout, element_of(element).sign_place + 1);
        const Plane scale_plane = output_plane(scales, scale_layout, 8);
        if (is_nvfp4_)
            job_.d_nvfp4 = Nvfp4Job{extent, {}, codes, scale_plane};
        else
            job_.d_blocks = BlockJob{{ValueType::f32, element, rule.scale, rule.nan_code},
                                     extent,
                                     {1, row_block},
                                     {},
                                     codes,
                                     scale_plane};
    }

    void read_others() {
        const mx_tensor& d = reader_.output(0);
        const Reader::Shape shape{job_.batches * job_.rows, job_.columns};
        if (job_.beta != 0) job_.c = values_of(next_input(), shape);
        if (adds_bias_) job_.bias = values_of(next_input(), {1, job_.columns});
        const auto element = find_element_type(text_of(d.type));
        const bool is_fp8 = element == ElementType::e4m3 || element == ElementType::e5m2;
        const bool is_narrow = is_fp8 || (element == ElementType::e2m1 && has_blocks_);
        if (is_narrow) {
            job_.d_element = element;
            job_.d.plane = plane_of(d);
            if (!has_blocks_) reader_.expect_strided(d);
            reader_.expect_shape(d, shape);
        } else {
            job_.d = values_of(d, shape);
        }
        if (has_scale_) read_scale();
        if (asked().scaling_out != nullptr && !is_narrow)
            return reader_.refuse(not_supported("scales of a D of type " + quoted(d.type)));
        if (has_blocks_) read_blocks(d, *element);
    }

    void read_scale() {
        const mx_tensor& scale = next_input();
        reader_.expect_type(scale, "f32");
        reader_.expect_strided(scale);
        reader_.expect_shape(scale, {1, 1});
        job_.scale_d = plane_of(scale);
    }

    Values values_of(const mx_tensor& tensor, Reader::Shape shape) {
        const ValueType type = reader_.value_type(tensor);
        reader_.expect_shape(tensor, shape);
        return {type, plane_of(tensor)};
    }

    Reader& reader_;
    GemmJob job_;
    const ScalingRow* scaling_ = &scaling_rows[0];
    bool adds_bias_ = false, has_blocks_ = false, has_scale_ = false, is_nvfp4_ = false;
    std::vector<Staged> staged_, staged_out_;
    std::size_t next_ = 0;
};

}  // namespace

std::variant<Work, Refusal> gemm_work(Reader& reader) {
    return GemmReader(reader).read();
}

}  // namespace mx::cpu
