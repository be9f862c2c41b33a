// See gemm_request.hpp.
#include "device/cpu/gemm_request.hpp"

#include <bit>
#include <utility>
#include <vector>

#include "device/kit/groups.hpp"

namespace mx::cpu {
namespace {

using kit::Named;

kit::Shape row_blocks(const kit::Tensor& codes, std::int64_t size) {
    return kit::Blocks{kit::Axis::row, size}.grid(codes.shape());
}

// What mx_device.h means by a scaling: the type and shape of its scales.
struct Scaling {
    FactorScaling scaling;
    std::string_view type;
    std::ptrdiff_t block;  // along k; 0: one serves all of a row
};
constexpr Named<Scaling> scalings[] = {{"", {FactorScaling::none, "", 0}},
                                       {"tensor", {FactorScaling::tensor, "f32", 0}},
                                       {"row", {FactorScaling::row, "f32", 0}},
                                       {"1x32", {FactorScaling::e8m0, "e8m0", 32}},
                                       {"1x16", {FactorScaling::ue4m3, "ue4m3", 16}}};

// The blocks of a D of NVFP4; gemm fills in the values.
RealScaleJob nvfp4_job(Extent extent, const Plane& codes, const Plane& scales) {
    const RealScaleFormat& format = *find_real_scale_format("nvfp4");
    RealScaleJob job;
    job.rule = *find_real_scale_rule("cublaslt-nvfp4");
    job.extent = extent;
    job.block = {1, format.size};
    job.codes = codes;
    job.scales = scales;
    return job;
}

struct OutputScaling {
    bool has_blocks, has_scale, is_nvfp4;
};
constexpr Named<OutputScaling> output_scalings[] = {{"", {false, false, false}},
                                                    {"tensor", {false, true, false}},
                                                    {"1x32", {true, false, false}},
                                                    {"1x16", {true, true, true}}};

struct Epilogue {
    bool adds_bias, has_relu;
};
constexpr Named<Epilogue> epilogues[] = {{"", {false, false}},
                                         {"bias", {true, false}},
                                         {"relu", {false, true}},
                                         {"bias-relu", {true, true}}};

class GemmReader {
public:
    explicit GemmReader(kit::Call& call) : call_(call), asked_(call.maybe_grouped_gemm()) {}

    Work read() {
        read_names();
        read_factors();
        read_others();
        return {job_, std::move(staged_), std::move(staged_out_)};
    }

private:
    void read_names() {
        if (asked_.batches < 1) kit::invalid("a gemm has at least one batch");
        scaling_ = kit::choose(scalings, asked_.scaling_a, "scaling");
        if (kit::text_of(asked_.scaling_a) != kit::text_of(asked_.scaling_b))
            kit::not_supported("scalings " + kit::in_double_quotes(asked_.scaling_a) + " and " +
                               kit::in_double_quotes(asked_.scaling_b) + " in one gemm");
        out_ = kit::choose(output_scalings, asked_.scaling_out, "scaling of D");
        if (asked_.accumulation != nullptr)
            kit::not_supported("accumulation " + kit::in_double_quotes(asked_.accumulation));
        const Epilogue epilogue = kit::choose(epilogues, asked_.epilogue, "epilogue");
        adds_bias_ = epilogue.adds_bias;
        job_.has_relu = epilogue.has_relu;
        if (asked_.algorithm != nullptr) job_.summation = summation_of(asked_.algorithm);
        job_.alpha = std::bit_cast<float>(asked_.alpha);
        job_.beta = std::bit_cast<float>(asked_.beta);
    }

    static Summation summation_of(const char* name) {
        for (const Summation& summation : summations)
            if (summation.name == name) return summation;
        kit::not_supported("algorithm " + kit::in_double_quotes(name) + " of a gemm");
    }

    void read_factors() {
        const std::int64_t parts = is_grouped() ? asked_.groups : asked_.batches;
        const kit::Shape a = read_factor("A", job_.a), b = read_factor("B", job_.b);
        if (a.columns != b.columns)
            kit::invalid("A has rows of " + std::to_string(a.columns) + " along k, and B of " +
                         std::to_string(b.columns));
        if ((!is_grouped() && a.rows % parts != 0) || b.rows % parts != 0)
            kit::invalid("factors of " + std::to_string(a.rows) + " and " + std::to_string(b.rows) +
                         " rows are no " + std::to_string(parts) +
                         (is_grouped() ? " groups" : " equal batches"));
        rows_ = a.rows;
        job_.columns = b.rows / parts;
        job_.depth = a.columns;
        const kit::RowGroups groups = is_grouped() ? kit::RowGroups::read(call_, rows_)
                                                   : kit::RowGroups::equal(parts, a.rows / parts);
        job_.offsets = offsets_of(groups);
        for (const TiledScales& tiled : tiled_)
            place_tiles(tiled, tiled.factor == &job_.a
                                   ? groups
                                   : kit::RowGroups::equal(parts, job_.columns));
    }

    bool is_grouped() const { return asked_.groups != 0; }

    static std::vector<std::ptrdiff_t> offsets_of(const kit::RowGroups& groups) {
        std::vector<std::ptrdiff_t> offsets;
        for (std::int64_t group = 0; group <= groups.count(); ++group)
            offsets.push_back(groups.first(group));
        return offsets;
    }

    // Scales in tiles that begin anew with each group.
    struct TiledScales {
        Factor* factor;
        kit::Tensor scales;
        std::int64_t unit, columns;
    };
    void place_tiles(const TiledScales& tiled, const kit::RowGroups& groups) const {
        const kit::RowGroups tiles = groups.in_tiles(tiled.unit);
        // Without data nobody knows which rows of A belong to which group.
        if (call_.has_data() || tiled.factor != &job_.a)
            tiled.scales.expect_shape({tiles.end(), tiled.columns});
        tiled.factor->scale_offsets = offsets_of(tiles);
    }

    kit::Shape read_factor(const std::string& name, Factor& factor) {
        const kit::Tensor codes = call_.input(name);
        factor.element = find_element_type(codes.type());
        factor.codes = plane_of(codes);
        if (factor.element) {
            const Layout layout = layout_of_codes(codes, *factor.element);
            const int bits = element_of(*factor.element).sign_place + 1;
            if (layout.kind == LayoutKind::inline_scales)
                kit::not_supported("a factor in layout \"inline\"");
            if (layout.kind != LayoutKind::strided)
                factor.codes = stage({layout, codes.raw(), 0, bits, {}, {}}, staged_);
        } else {
            factor.value = value_type(codes);
        }
        factor.scaling = scaling_.scaling;
        if (scaling_.block != 0) factor.block = scaling_.block;
        if (factor.scaling != FactorScaling::none)
            read_scales(codes, call_.input("the scales of " + name), factor);
        return codes.shape();
    }

    void read_scales(const kit::Tensor& codes, const kit::Tensor& scales, Factor& factor) {
        scales.expect_type(scaling_.type);
        const bool is_whole = factor.scaling == FactorScaling::tensor;
        const bool has_blocks = scaling_.block != 0;
        const kit::Shape shape = has_blocks ? row_blocks(codes, factor.block)
                                            : kit::Shape{is_whole ? 1 : codes.shape().rows, 1};
        const bool has_tiles = is_grouped() && has_blocks && !scales.is_strided();
        if (!has_tiles) scales.expect_shape(shape);
        factor.scales = plane_of(scales);
        if (has_blocks && !factor.element)
            kit::not_supported("block scales of values of type " +
                               kit::in_double_quotes(codes.type()));
        if (factor.scaling == FactorScaling::ue4m3 && factor.element != ElementType::e2m1)
            kit::not_supported("scales of 1x16 with elements other than e2m1");
        if (!has_blocks) return scales.expect_strided();
        const Layout layout = layout_of_scales(scales, kit::Axis::row);
        if (has_tiles) tiled_.push_back({&factor, scales, layout.outer_tile, shape.columns});
        if (layout.kind != LayoutKind::strided)
            factor.scales = stage({layout, scales.raw(), 0, 8, {}, {}}, staged_);
    }

    // A dense copy, with its memory only where there will be something to compute.
    Plane stage(Staged staged, std::vector<Staged>& among) const {
        const mx_tensor& tensor = staged.tensor;
        if (call_.has_data())
            staged.dense.resize(static_cast<std::size_t>(tensor.rows * tensor.columns));
        const Plane plane{staged.dense.data(), tensor.columns, 1};
        among.push_back(std::move(staged));
        return plane;
    }

    // A plane of an output's bytes, or of a dense copy that is packed afterwards.
    Plane output_plane(const kit::Tensor& tensor, const Layout& layout, int bits) {
        if (layout.kind == LayoutKind::strided) return plane_of(tensor);
        return stage({layout, tensor.raw(), 0, bits, {}, {}}, staged_out_);
    }

    // What D's blocks are made by: a dialect, whose elements are those of D's type, or cuBLASLt's
    // recipe of NVFP4.
    void read_blocks(const kit::Tensor& d, const kit::Tensor& scales, ElementType element) {
        scales.expect_type(out_.is_nvfp4 ? "ue4m3" : "e8m0");
        scales.expect_shape(
            row_blocks(d, out_.is_nvfp4 ? find_real_scale_format("nvfp4")->size : row_block));
        const Layout layout = layout_of_codes(d, element);
        if (layout.kind == LayoutKind::inline_scales)
            kit::not_supported("a D in layout \"inline\"");
        const Layout scale_layout = layout_of_scales(scales, kit::Axis::row);
        const char* dialect = call_.operation().dialect;
        const bool is_known = kit::text_of(dialect) == "cublaslt-nvfp4";
        if (out_.is_nvfp4 && (element != ElementType::e2m1 || !is_known))
            kit::not_supported("scaling \"1x16\" of a D of type " +
                               kit::in_double_quotes(d.type()) + " by dialect " +
                               kit::in_double_quotes(dialect));
        const DialectRule rule =
            out_.is_nvfp4 ? DialectRule{} : dialect_rule(call_.operation(), element);
        const Plane codes = output_plane(d, layout, element_of(element).sign_place + 1);
        const Plane scale_plane = output_plane(scales, scale_layout, 8);
        if (out_.is_nvfp4)
            job_.d_nvfp4 = nvfp4_job(extent_of(d), codes, scale_plane);
        else
            job_.d_blocks = BlockJob{{ValueType::f32, element, rule.scale, rule.nan_code},
                                     extent_of(d),
                                     {1, row_block},
                                     {},
                                     codes,
                                     scale_plane};
    }

    void read_others() {
        const kit::Shape shape{rows_, job_.columns};
        if (job_.beta != 0) job_.c = values_of(call_.input("C"), shape);
        if (adds_bias_) job_.bias = values_of(call_.input("the bias"), {1, job_.columns});
        if (out_.has_scale) read_scale();
        if (is_grouped()) call_.input(kit::RowGroups::role);
        if (is_grouped() && out_.has_blocks) kit::invalid("a grouped gemm with a D in blocks");
        const kit::Tensor d = call_.output("D");
        std::optional<kit::Tensor> scales;
        if (out_.has_blocks) scales = call_.output("the scales of D");
        const auto element = find_element_type(d.type());
        const bool is_fp8 = element == ElementType::e4m3 || element == ElementType::e5m2;
        const bool is_narrow = is_fp8 || (element == ElementType::e2m1 && out_.has_blocks);
        if (is_narrow) {
            job_.d_element = element;
            job_.d.plane = plane_of(d);
            if (!out_.has_blocks) d.expect_strided();
            d.expect_shape(shape);
        } else {
            job_.d = values_of(d, shape);
        }
        if (asked_.scaling_out != nullptr && !is_narrow)
            kit::not_supported("scales of a D of type " + kit::in_double_quotes(d.type()));
        if (scales) read_blocks(d, *scales, *element);
    }

    void read_scale() {
        const kit::Tensor scale = call_.input("the scale of D");
        scale.expect_type("f32");
        scale.expect_strided();
        scale.expect_shape({1, 1});
        job_.scale_d = plane_of(scale);
    }

    static Values values_of(const kit::Tensor& tensor, kit::Shape shape) {
        const ValueType type = value_type(tensor);
        tensor.expect_shape(shape);
        return {type, plane_of(tensor)};
    }

    kit::Call& call_;
    const mx_gemm& asked_;
    GemmJob job_;
    Scaling scaling_{};
    OutputScaling out_{};
    bool adds_bias_ = false;
    std::int64_t rows_ = 0;  // of A
    std::vector<TiledScales> tiled_;
    std::vector<Staged> staged_, staged_out_;
};

}  // namespace

Work gemm_work(kit::Call& call) {
    return GemmReader(call).read();
}

}  // namespace mx::cpu
