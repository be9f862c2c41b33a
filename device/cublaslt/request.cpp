// See request.hpp.
#include "device/cublaslt/request.hpp"

#include <array>
#include <limits>
#include <utility>

namespace mx::cublaslt {
namespace {

constexpr std::int64_t alignment = 16;  // of narrow matrices and their rows, and of scales

struct EpilogueRow {
    std::string_view name;
    cublasLtEpilogue_t value;
};
constexpr std::array epilogues{
    EpilogueRow{"bias", CUBLASLT_EPILOGUE_BIAS},
    EpilogueRow{"relu", CUBLASLT_EPILOGUE_RELU},
    EpilogueRow{"bias-relu", CUBLASLT_EPILOGUE_RELU_BIAS},
    EpilogueRow{"gelu", CUBLASLT_EPILOGUE_GELU},
    EpilogueRow{"bias-gelu", CUBLASLT_EPILOGUE_GELU_BIAS},
};

cublasLtEpilogue_t epilogue_of(const char* name) {
    if (name == nullptr) return CUBLASLT_EPILOGUE_DEFAULT;
    for (const EpilogueRow& row : epilogues)
        if (row.name == name) return row.value;
    not_supported("epilogue " + in_double_quotes(name) +
                  "; this device knows bias, relu, bias-relu, gelu "
                  "and bias-gelu");
}
bool has_bias(cublasLtEpilogue_t epilogue) {
    return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
}
bool is_zero(std::uint32_t binary32) {
    return (binary32 & 0x7FFFFFFFu) == 0;
}

const Scaling* scaling_of(const char* name, const char* what) {
    if (name == nullptr) return nullptr;
    const Scaling* scaling = find_scaling(name);
    if (scaling == nullptr) not_supported("scaling " + in_double_quotes(name) + " of " + what);
    return scaling;
}

std::string layout_refusal(const mx_tensor& tensor) {
    if (has_known_layout(tensor)) return "";
    return " has layout " + in_double_quotes(tensor.layout) +
           "; cuBLASLt reads strided matrices, packed-low codes of 4 bits, and scales"
           " that are strided or 128x4";
}

void expect_shape(const std::string& what, const mx_tensor& tensor, Extents wanted) {
    if (tensor.rows == wanted.rows && tensor.columns == wanted.columns) return;
    invalid(what + ": " + shape_text(tensor) + " where " + std::to_string(wanted.rows) + " x " +
            std::to_string(wanted.columns) + " belongs");
}
void expect_aligned(const std::string& what, const mx_tensor& tensor) {
    if (!is_on_gpu(tensor) || reinterpret_cast<std::uintptr_t>(tensor.data) % alignment == 0)
        return;
    not_supported(what + ": the address is no multiple of 16, as cuBLASLt wants it");
}

const Type& type_of(const std::string& what, const mx_tensor& tensor) {
    const Type* type = find_type(text_of(tensor.type));
    if (type == nullptr) not_supported(what + " is of type " + in_double_quotes(tensor.type));
    return *type;
}

// The tensors of a call by their meaning; those that it has not are NULL.
struct Tensors {
    const mx_tensor* a = nullptr;
    const mx_tensor* scales_a = nullptr;
    const mx_tensor* b = nullptr;
    const mx_tensor* scales_b = nullptr;
    const mx_tensor* c = nullptr;
    const mx_tensor* bias = nullptr;
    const mx_tensor* scale_d = nullptr;
    const mx_tensor* d = nullptr;
    const mx_tensor* scales_out = nullptr;
};

// What a scaling of D means: a scale that is given for all of it, scales that cuBLASLt makes for
// its blocks by a rule of its own, or both.
struct OutputScaling {
    const char* name;
    bool has_given_scale;
    const char* dialect;  // NULL: no blocks
};
constexpr std::array output_scalings{
    OutputScaling{"", false, nullptr}, OutputScaling{"tensor", true, nullptr},
    OutputScaling{"1x32", false, "cublaslt"}, OutputScaling{"1x16", true, "cublaslt-nvfp4"}};

const OutputScaling& output_scaling_of(const char* name) {
    for (const OutputScaling& row : output_scalings)
        if (text_of(name) == row.name) return row;
    not_supported("scaling " + in_double_quotes(name) +
                  " of D; this device knows tensor, 1x32 and 1x16");
}

// What a call asks for, its names looked up.
struct Settings {
    const mx_gemm& gemm;
    const Scaling* scaling_a;
    const Scaling* scaling_b;
    const Scaling* scaling_out;
    cublasLtEpilogue_t epilogue;

    const OutputScaling* output;  // what scaling_out asks of D

    bool scales_d() const { return output->has_given_scale; }
    bool quantizes_d() const { return output->dialect != nullptr; }
};

// cuBLASLt makes the scales of D by rules of its own, which nothing in a call can change. Of E2M1
// under E8M0 it documents none, and is left to say that it has no such D.
void check_dialect(const Settings& settings, const Call& call) {
    const char* dialect = call.operation->dialect;
    const bool is_undocumented = settings.scaling_out->name == "1x32" && call.output_count != 0 &&
                                 text_of(tensor_at(call.outputs, 0).type) == "e2m1";
    if (dialect == nullptr || text_of(dialect) == settings.output->dialect || is_undocumented)
        return;
    not_supported("dialect " + in_double_quotes(dialect) +
                  " of D's blocks; cuBLASLt has a rule of its own, dialect " +
                  in_double_quotes(settings.output->dialect));
}

Settings settings_of(const mx_gemm& gemm, const Call& call) {
    const Settings settings{gemm,
                            scaling_of(gemm.scaling_a, "A"),
                            scaling_of(gemm.scaling_b, "B"),
                            scaling_of(gemm.scaling_out, "D"),
                            epilogue_of(gemm.epilogue),
                            &output_scaling_of(gemm.scaling_out)};
    if (settings.quantizes_d()) check_dialect(settings, call);
    if (gemm.accumulation != nullptr && text_of(gemm.accumulation) != "fast")
        not_supported("accumulation " + in_double_quotes(gemm.accumulation));
    if (gemm.batches < 1) invalid(std::to_string(gemm.batches) + " batches");
    if (gemm.batches > std::numeric_limits<std::int32_t>::max())
        not_supported(std::to_string(gemm.batches) + " batches, more than cuBLASLt can count");
    return settings;
}

Tensors tensors_of(const Call& call, const Settings& settings) {
    Tensors tensors;
    std::size_t inputs = 0, outputs = 0;
    const auto take = [](const mx_tensor* all, std::size_t count, std::size_t& taken) {
        return taken++ < count ? &tensor_at(all, taken - 1) : nullptr;
    };
    const auto input = [&] { return take(call.inputs, call.input_count, inputs); };
    const auto output = [&] { return take(call.outputs, call.output_count, outputs); };
    tensors.a = input();
    if (settings.scaling_a != nullptr) tensors.scales_a = input();
    tensors.b = input();
    if (settings.scaling_b != nullptr) tensors.scales_b = input();
    if (!is_zero(settings.gemm.beta)) tensors.c = input();
    if (has_bias(settings.epilogue)) tensors.bias = input();
    if (settings.scales_d()) tensors.scale_d = input();
    tensors.d = output();
    if (settings.quantizes_d()) tensors.scales_out = output();
    if (inputs != call.input_count || outputs != call.output_count)
        invalid("this gemm takes " + std::to_string(inputs) + " inputs and " +
                std::to_string(outputs) + " outputs, not " + std::to_string(call.input_count) +
                " and " + std::to_string(call.output_count));
    return tensors;
}

// Makes the parts of a problem, once all names and the number of tensors are right.
class Builder {
public:
    Builder(const Settings& settings, const Tensors& tensors)
        : settings_(settings), tensors_(tensors) {}

    Problem build();

private:
    void check_shapes();
    void check_narrow(const std::string& what, const mx_tensor& tensor);
    void check_bytes_of_rows(const mx_tensor& d);
    Matrix matrix(const std::string& what, const mx_tensor& tensor);
    Scale scale(const std::string& what, const Scaling& scaling, const mx_tensor& scales,
                const mx_tensor& elements);
    void add_need(Need need);
    void add_scales();
    void add_c();
    void add_bias();
    std::int64_t batches() const { return settings_.gemm.batches; }

    const Settings& settings_;
    const Tensors& tensors_;
    Problem problem_;
};

void Builder::check_shapes() {
    const mx_tensor &a = *tensors_.a, &b = *tensors_.b, &d = *tensors_.d;
    if (a.columns != b.columns)
        invalid("A is " + shape_text(a) + " and B is " + shape_text(b) +
                ": their columns, K, differ");
    if (a.rows % batches() != 0 || b.rows % batches() != 0)
        invalid("A is " + shape_text(a) + " and B is " + shape_text(b) +
                ": their rows do not divide into " + std::to_string(batches()) + " batches");
    const Extents wanted{a.rows, b.rows / batches()};
    expect_shape("D", d, wanted);
    if (tensors_.c != nullptr) expect_shape("C", *tensors_.c, wanted);
    if (tensors_.bias != nullptr) expect_shape("the bias", *tensors_.bias, {1, wanted.columns});
}

// What every FP8 and FP4 kernel wants of a factor.
void Builder::check_narrow(const std::string& what, const mx_tensor& tensor) {
    const Type& type = type_of(what, tensor);
    if (!type.is_narrow()) return;
    const auto bytes_text = [&](std::int64_t count) {
        return std::to_string(count) + " elements of " + std::string(type.name) +
               " are no multiple"
               " of 16 bytes, as cuBLASLt wants it of FP8 and FP4";
    };
    const std::int64_t unit = alignment * 8 / type.bits;
    if (tensor.columns % unit != 0) not_supported("K = " + bytes_text(tensor.columns));
    if (text_of(tensor.layout) == "strided" && tensor.rows > 1 && tensor.row_stride % unit != 0)
        not_supported("the row stride of " + what + ", " + bytes_text(tensor.row_stride));
}

// Rows of the ABI begin with a byte of their own. A matrix of cuBLASLt counts elements, two a byte.
void Builder::check_bytes_of_rows(const mx_tensor& d) {
    if (type_of("D", d).bits != 4 || d.columns % 2 == 0) return;
    not_supported("D has rows of " + std::to_string(d.columns) +
                  " elements of e2m1, which cuBLASLt would not begin at a byte each");
}

void Builder::add_need(Need need) {
    for (const Need& known : problem_.needs)
        if (known.what == need.what) return;
    problem_.needs.push_back(std::move(need));
}

Matrix Builder::matrix(const std::string& what, const mx_tensor& tensor) {
    const Type& type = type_of(what, tensor);
    const char* layout = type.bits == 4 ? "packed-low" : "strided";
    if (text_of(tensor.layout) != layout)
        not_supported("cuBLASLt reads matrices of type " + std::string(type.name) +
                      " in layout \"" + layout + "\", and " + what + " has " +
                      in_double_quotes(tensor.layout));
    const bool is_strided = type.bits != 4;
    if (is_strided && tensor.columns > 1 && tensor.column_stride != 1)
        not_supported("the elements of a row of " + what + " lie " +
                      std::to_string(tensor.column_stride) + " apart, and should lie side by side");
    if (is_strided && tensor.rows > 1 && tensor.row_stride < tensor.columns)
        not_supported("the rows of " + what + " overlap: " + std::to_string(tensor.columns) +
                      " elements every " + std::to_string(tensor.row_stride));
    add_need({std::string(type.name), type.capabilities});
    Matrix matrix;
    matrix.data = tensor.data;
    matrix.type = type.id;
    matrix.rows = tensor.columns;
    matrix.columns = tensor.rows / batches();
    matrix.leading = is_strided && tensor.rows > 1 ? tensor.row_stride : tensor.columns;
    matrix.batch_stride = matrix.columns * matrix.leading;
    return matrix;
}

Scale Builder::scale(const std::string& what, const Scaling& scaling, const mx_tensor& scales,
                     const mx_tensor& elements) {
    if (text_of(scales.type) != scaling.type)
        invalid(what + ": type " + in_double_quotes(scales.type) + " where " +
                std::string(scaling.type) + " belongs");
    expect_shape(what, scales, grid_of(scaling, {elements.rows, elements.columns}));
    if (const auto reason = misplaced(scaling, scales)) not_supported(what + ": " + *reason);
    const Extents one{elements.rows / batches(), elements.columns};
    if (batches() > 1)
        if (const auto reason = misplaced_batches(scaling, one)) not_supported(*reason);
    expect_aligned(what, scales);
    add_need({"scaling \"" + std::string(scaling.name) + "\"", scaling.capabilities});
    return {scales.data, scaling.mode, byte_extent(scales)};
}

void Builder::add_scales() {
    if (tensors_.scales_b != nullptr)
        problem_.scale_a =
            scale("the scales of B", *settings_.scaling_b, *tensors_.scales_b, *tensors_.b);
    if (tensors_.scales_a != nullptr)
        problem_.scale_b =
            scale("the scales of A", *settings_.scaling_a, *tensors_.scales_a, *tensors_.a);
    if (tensors_.scale_d != nullptr)
        problem_.scale_d =
            scale("the scale of D", *find_scaling("tensor"), *tensors_.scale_d, *tensors_.d);
    if (tensors_.scales_out != nullptr)
        problem_.scale_out =
            scale("the scales of D", *settings_.scaling_out, *tensors_.scales_out, *tensors_.d);
}

// Without a C its type still chooses the kernel: that of D, or a half of 16 bits where D is FP8.
void Builder::add_c() {
    if (tensors_.c != nullptr) {
        problem_.c = matrix("C", *tensors_.c);
        return;
    }
    problem_.c = problem_.d;
    if (!type_of("D", *tensors_.d).is_narrow()) return;
    problem_.c.data = nullptr;
    const bool is_f16 = tensors_.bias != nullptr && text_of(tensors_.bias->type) == "f16";
    problem_.c.type = is_f16 ? CUDA_R_16F : CUDA_R_16BF;
}

void Builder::add_bias() {
    if (tensors_.bias == nullptr) return;
    const Matrix bias = matrix("the bias", *tensors_.bias);
    problem_.bias = bias.data;
    problem_.bias_type = bias.type;
}

Problem Builder::build() {
    check_shapes();
    const mx_gemm& gemm = settings_.gemm;
    problem_.a = matrix("B", *tensors_.b);
    problem_.b = matrix("A", *tensors_.a);
    problem_.d = matrix("D", *tensors_.d);
    add_c();
    check_bytes_of_rows(*tensors_.d);
    if (problem_.writes_nothing()) return problem_;
    if (tensors_.a->columns == 0)
        not_supported("K is 0, and this device gives cuBLASLt no empty factors");
    check_narrow("A", *tensors_.a);
    check_narrow("B", *tensors_.b);
    if (type_of("A", *tensors_.a).is_narrow() || type_of("B", *tensors_.b).is_narrow()) {
        expect_aligned("A", *tensors_.a);
        expect_aligned("B", *tensors_.b);
        expect_aligned("D", *tensors_.d);
        if (tensors_.c != nullptr) expect_aligned("C", *tensors_.c);
    }
    add_scales();
    add_bias();
    problem_.epilogue = settings_.epilogue;
    problem_.fast_accumulation = gemm.accumulation != nullptr ? 1 : 0;
    problem_.batches = static_cast<std::int32_t>(gemm.batches);
    problem_.alpha = gemm.alpha;
    problem_.beta = gemm.beta;
    problem_.algorithm = text_of(gemm.algorithm);
    return problem_;
}

}  // namespace

Problem problem_of(const Call& call, Buffers buffers) {
    const mx_gemm& gemm = checked_gemm(call, buffers, {"cuBLASLt", layout_refusal});
    const Settings settings = settings_of(gemm, call);
    const Tensors tensors = tensors_of(call, settings);
    return Builder(settings, tensors).build();
}

}  // namespace mx::cublaslt
