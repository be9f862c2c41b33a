// See gemm_inputs.hpp.
#include "conformance/data/gemm_inputs.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "conformance/case/names.hpp"
#include "conformance/data/gemm_code_data.hpp"
#include "conformance/data/gemm_exact_data.hpp"
#include "conformance/data/gemm_scale_out.hpp"
#include "conformance/data/tensor_file.hpp"
#include "reference/spec/gemm.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

struct ExactRow {
    GemmFamily family;
    GemmExactData kind;
};
constexpr std::array exact_rows{
    ExactRow{{"gemm.exact-signs", "0, 1 and 2 with signs; sums that are exact in any order"},
             GemmExactData::signs},
    ExactRow{
        {"gemm.exact-mantissas", "every mantissa bit, as many products as stay exact in any order"},
        GemmExactData::mantissas},
    ExactRow{{"gemm.exact-cancelling",
              "products and nearly their opposites; sums that are exact in any order"},
             GemmExactData::cancelling},
    ExactRow{
        {"gemm.exact-scales", "one block of a row holds elements, under scales of the whole range"},
        GemmExactData::scales},
    ExactRow{{"gemm.lowest-scale",
              "small numbers in one block of a row, half of them under E8M0 code 0, 2^-127"},
             GemmExactData::lowest},
    ExactRow{{"gemm.exact-specials", "NaN, Inf and NaN scales in some rows of exact sums"},
             GemmExactData::specials},
    ExactRow{{"gemm.one-hot", "a row of A has one element, which picks one of each row of B"},
             GemmExactData::one_hot},
    ExactRow{{"gemm.counting", "all elements of a row alike, so that a sum counts its products"},
             GemmExactData::counting},
};

struct CodeRow {
    GemmFamily family;
    GemmCodeData kind;
};
constexpr std::array code_rows{
    CodeRow{{"gemm.element-codes", "an output is one element of B times 1: every finite code"},
            GemmCodeData::elements},
    CodeRow{
        {"gemm.scale-codes", "an output is one product under a scale of A: every code by turns"},
        GemmCodeData::scales},
    CodeRow{{"gemm.nonfinite", "a NaN, an Inf, two of unlike signs or a NaN scale among ones"},
            GemmCodeData::nonfinite},
};

constexpr std::array<GemmFamily, gemm_data_names.size()> random_rows{{
    {"gemm.uniform", "every finite code; of 16 bits and more those of sixteen binades"},
    {"gemm.middle", "values of eight binades around 1"},
    {"gemm.positive", "values of two binades without signs: sums that grow"},
    {"gemm.zeros", "a third zeros"},
    {"gemm.small", "subnormals and the lowest binades"},
    {"gemm.cancelling", "what the next element takes away again"},
    {"gemm.dominant", "one large value among small ones; rows of MX under scales of all sizes"},
    {"gemm.zero-beside", "zeros that meet the largest values, beside small products"},
    {"gemm.special", "NaN, and Inf where there is one, among random codes"},
    {"gemm.zero-rows", "random codes, but every fourth row of A holds zeros"},
}};

template <typename Row, std::size_t N>
auto kind_of(const std::array<Row, N>& rows, std::string_view name) {
    const auto row =
        std::ranges::find(rows, name, [](const Row& each) { return each.family.name; });
    return row == rows.end() ? std::nullopt : std::optional(row->kind);
}

GemmData random_kind(std::string_view name) {
    for (std::size_t i = 0; i < random_rows.size(); ++i)
        if (random_rows[i].name == name) return static_cast<GemmData>(i);
    return GemmData::uniform;
}

// Rows of A and B under scales of the whole range, so that their products leave binary32 and come
// back; some of A as low as E8M0 goes, some of B as high.
std::uint32_t far_scale(const GemmPlace& place, std::uint64_t bits) {
    const auto spread = static_cast<std::uint32_t>(bits % 3);
    const bool is_of_a = place.tensor == static_cast<std::uint32_t>(GemmPart::scales_a);
    if (is_of_a && place.row % 8 == 3) return spread;
    if (!is_of_a && place.row % 8 == 5) return 252 + spread;
    const GemmPlace whole_row{place.seed, place.tensor, place.row, ~std::uint64_t{0}};
    return static_cast<std::uint32_t>(bits_of(whole_row) % 252) + spread;
}

// Scales of small blocks: some binades around 1 with all their mantissa bits.
Code random_scale(GemmData data, const ElementFormat& format, const GemmPlace& place) {
    const std::uint64_t bits = bits_of(place);
    if (data == GemmData::special && (bits >> 40) % 251 == 0) return Code{format.code_nan()};
    if (format == ue4m3) return Code{code_near_one(format, bits, 8)};
    if (data == GemmData::dominant) return Code{far_scale(place, bits)};
    return Code{static_cast<std::uint32_t>(119 + bits % 17)};
}

Code random_code(const GemmTensor& tensor, GemmData data, const GemmPlace& place) {
    const ElementFormat& format = tensor.type;
    if (tensor.content == GemmContent::elements) return gemm_code(data, format, place);
    if (format == formats::e8m0 || format == ue4m3) return random_scale(data, format, place);
    return gemm_number(data, format, place, binades_of(tensor.part));
}

template <typename Plan>
Code exact_code(const Plan& plan, const GemmTensor& tensor, const FactorPlace& place) {
    switch (tensor.part) {
        case GemmPart::a:
        case GemmPart::b:
            return plan.element(place);
        case GemmPart::scales_a:
        case GemmPart::scales_b:
            return plan.scale(place);
        case GemmPart::scale_out:
            return plan.scale_out();
        default:
            return plan.addend(tensor.type, place);
    }
}

template <typename CodeAt>
CodeTensor filled(const GemmTensor& tensor, const CodeAt& code_at) {
    CodeTensor codes = make_tensor(tensor.spec.type, tensor.spec.rows, tensor.spec.columns);
    std::size_t element = 0;
    for (std::int64_t row = 0; row < codes.rows; ++row)
        for (std::int64_t column = 0; column < codes.columns; ++column)
            codes.set(element++, code_at(FactorPlace{tensor.part, row, column}).bits
                                     << tensor.type.spare_bits());
    return codes;
}

}  // namespace

const std::vector<GemmFamily>& gemm_data_families() {
    static const std::vector<GemmFamily> table = [] {
        std::vector<GemmFamily> families;
        for (const ExactRow& row : exact_rows) families.push_back(row.family);
        for (const CodeRow& row : code_rows) families.push_back(row.family);
        families.insert(families.end(), random_rows.begin(), random_rows.end());
        return families;
    }();
    return table;
}

Status check_gemm_data(const Case& c) {
    return check_name("data family of gemm", c.data, names_of(gemm_data_families()));
}

namespace {

class GemmFileSource : public BlockSource {
public:
    explicit GemmFileSource(std::vector<CodeTensor> tensors) : tensors_(std::move(tensors)) {}
    std::uint64_t size() const override { return 1; }
    BlockData block(std::uint64_t) const override { return {}; }
    const std::vector<CodeTensor>* gemm_tensors() const override { return &tensors_; }

private:
    std::vector<CodeTensor> tensors_;
};

Expected<CodeTensor> take_tensor(data::TensorFile& file, const GemmTensor& wanted) {
    CodeTensor codes = make_tensor(wanted.spec.type, wanted.spec.rows, wanted.spec.columns);
    const std::string name(name_of(wanted.part));
    const auto found = std::ranges::find(file.tensors, name, &data::HostTensor::name);
    if (found == file.tensors.end()) return bad_input("has no tensor '" + name + "'");
    const bool is_raw = found->type == "u8" && codes.width == 1;
    if ((!is_raw && found->type != data::tensor_type_of(wanted.type)) ||
        found->bytes.size() != codes.bytes.size())
        return bad_input("tensor '" + name + "' is " + found->type + " of shape " +
                         data::shape_text(found->shape) + ", and the case asks for " +
                         std::string(wanted.type.name) + " of " + std::to_string(codes.rows) + "x" +
                         std::to_string(codes.columns));
    codes.bytes = std::move(found->bytes);
    return codes;
}

}  // namespace

Expected<std::shared_ptr<const BlockSource>> open_gemm_data(const Case& c) {
    if (!is_file(c)) {
        if (const Status known = check_gemm_data(c); !known) return known.error();
        return std::shared_ptr<const BlockSource>(list_source({BlockData{}}));
    }
    const std::string path = c.data.substr(file_prefix.size());
    auto file = data::read_tensor_file(path);
    if (!file) return file.error();
    std::vector<CodeTensor> tensors;
    for (const GemmTensor& wanted : tensors_of(c)) {
        if (is_output(wanted.part)) break;
        auto tensor = take_tensor(file.value(), wanted);
        if (!tensor) return bad_input(path + ": " + tensor.error().message);
        tensors.push_back(std::move(tensor).value());
    }
    return std::shared_ptr<const BlockSource>(std::make_shared<GemmFileSource>(std::move(tensors)));
}

std::vector<CodeTensor> make_gemm_inputs(const Case& c) {
    const auto exact = kind_of(exact_rows, c.data);
    const auto codes = kind_of(code_rows, c.data);
    const int bits = fraction_bits_kept(c.gemm);
    const GemmExactPlan exact_plan(exact.value_or(GemmExactData::signs), c, bits);
    const GemmCodePlan code_plan(codes.value_or(GemmCodeData::elements), c, bits);
    const std::uint64_t seed = seed_of(c);
    const GemmData data = random_kind(c.data);
    const std::vector<GemmTensor> asked = tensors_of(c);
    std::vector<CodeTensor> tensors;
    for (const GemmTensor& tensor : asked) {
        if (is_output(tensor.part)) break;
        if (tensor.part == GemmPart::scale_out &&
            c.gemm.output.scaling == FactorScaling::ue4m3_1x16) {
            // Sums that are exact stay so times a power of two.
            Code scale = fitting_scale_out(c.gemm, asked, tensors);
            if (exact || codes) scale.bits &= formats::f32.code_infinity();
            if (scale.bits == code_of_one(formats::f32)) scale = Code{0x3F000000};  // a half
            tensors.push_back(filled(tensor, [scale](const FactorPlace&) { return scale; }));
            continue;
        }
        if (tensor.part == GemmPart::row_offsets) {
            const std::vector<std::int64_t> offsets = c.gemm.offsets();
            tensors.push_back(filled(tensor, [&offsets](const FactorPlace& place) {
                const auto group = static_cast<std::size_t>(place.column);
                return Code{static_cast<std::uint32_t>(offsets[group])};
            }));
            continue;
        }
        tensors.push_back(filled(tensor, [&](const FactorPlace& place) {
            if (exact) return exact_code(exact_plan, tensor, place);
            if (codes) return exact_code(code_plan, tensor, place);
            return random_code(
                tensor, data,
                {seed, static_cast<std::uint32_t>(place.part),
                 static_cast<std::uint64_t>(place.row), static_cast<std::uint64_t>(place.column)});
        }));
    }
    return tensors;
}

int fraction_bits_kept(const GemmProblem& gemm) {
    int least = formats::f32.mantissa_bits;
    for (const GemmModel& model : gemm_models) {
        if (!lists(model.operands, gemm.a.element.name) ||
            !lists(model.operands, gemm.b.element.name))
            continue;
        const bool ends_in_half = model.accumulator.exponent_bits < formats::f32.exponent_bits;
        if (ends_in_half && gemm.output.element != formats::f16) continue;
        least = std::min({least, model.fraction_bits, model.accumulator.mantissa_bits,
                          model.promoted.mantissa_bits});
    }
    return least;
}

}  // namespace mx
