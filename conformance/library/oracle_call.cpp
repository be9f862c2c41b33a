// See oracle_call.hpp.
#include "conformance/library/oracle_call.hpp"

#include <algorithm>

#include "conformance/data/gemm_tensors.hpp"
#include "device/kit/groups.hpp"
#include "device/kit/tensor_number.hpp"

namespace mx::library {
namespace {

// Elements of a block are counted in an int.
constexpr std::int64_t largest_block = (std::int64_t{1} << 31) - 1;

std::string word(const char* text) {
    return std::string(kit::text_of(text));
}

// What the tables have, or a refusal with the sentence that says what they lack.
Case known(Expected<Case> found) {
    if (!found) kit::not_supported(found.error().message);
    return std::move(found).value();
}
void expect_known(const Status& status) {
    if (!status) kit::not_supported(status.error().message);
}

// Codes that take less than their byte leave the rest of it 0; a UE4M3 scale has no sign.
void expect_codes(const kit::Strided& tensor, std::string_view role, const ElementFormat& format) {
    const int bits = format.code_bits();
    if (bits >= 8) return;
    kit::for_each_cell(tensor.shape(), [&](kit::Cell cell) {
        const std::uint32_t code = tensor.read(cell);
        if (code >> bits != 0)
            kit::invalid(std::string(role) + ": byte " + std::to_string(code) + " at row " +
                         std::to_string(cell.row) + ", column " + std::to_string(cell.column) +
                         " is no code of type " + std::string(format.name));
    });
}

class Reader {
public:
    Reader(const kit::Arguments& arguments, kit::Buffers buffers, const mx_oracle_options* options)
        : call_(arguments, buffers), options_(options) {}

    OracleCall read() {
        call_.expect_host();
        expect_layouts();
        const std::string_view name = kit::text_of(call_.operation().name);
        const auto row = std::ranges::find(operations(), name, &OperationRow::name);
        if (row == operations().end())
            kit::not_supported("no operation " + kit::in_double_quotes(call_.operation().name) +
                               "; the oracle knows convert, encode_scale, quantize, dequantize and "
                               "gemm");
        if (row->kind == OperationKind::gemm)
            read_gemm();
        else
            read_conversion(*row);
        call_.expect_no_more();
        return std::move(read_);
    }

private:
    const mx_operation& asked() const { return call_.operation(); }
    Problem& p() { return read_.question; }

    // Those that are known are strided by now.
    void expect_layouts() const {
        call_.for_each_tensor([](const std::string& what, const mx_tensor& tensor) {
            if (!kit::Tensor(what, tensor).is_strided())
                kit::not_supported(what + ": the oracle knows no layout " +
                                   kit::in_double_quotes(tensor.layout) + " for type " +
                                   kit::in_double_quotes(tensor.type));
        });
    }

    void read_conversion(const OperationRow& row) {
        const bool dequantizes = row.kind == OperationKind::dequantize;
        const bool has_blocks = dequantizes || row.kind == OperationKind::quantize;
        CaseWords words;
        words.operation = row.name;
        words.format = word(asked().format);
        words.dialect = word(asked().dialect);
        if (has_blocks) {
            read_.blocks = kit::blocks_or_tensor_of(asked());
            words.axis = word(asked().axis);
            words.block = read_.blocks.size;
        }
        take_rules(words);
        const kit::Tensor first = call_.input(dequantizes ? "the codes" : "the values");
        words.type = dequantizes ? type_of_output() : std::string(first.type());
        read_.question = known(case_of(words));
        p().rows = first.shape().rows;
        p().columns = first.shape().columns;
        p().tensor_number = given_number();
        expect_known(check_combination(p()));
        if (const std::string unknown = unknown_scale(p()); !unknown.empty())
            kit::not_supported(unknown);
        if (read_.blocks.axis == kit::Axis::tensor && element_count(p()) > largest_block)
            kit::not_supported("a block of " + kit::text_of(first.shape()) + " elements");
        take_tensors(first);
    }

    void take_rules(CaseWords& words) const {
        words.rounding = word(asked().rounding);
        words.overflow = word(asked().overflow);
        words.subnormals = word(asked().subnormals);
        if (words.operation != name_of(OperationKind::convert) ||
            words.format == formats::e8m0.name)
            return;
        if (words.rounding.empty()) kit::invalid("convert to elements has a rounding, not NULL");
        if (words.overflow.empty()) kit::invalid("convert to elements has an overflow, not NULL");
    }

    std::string type_of_output() const {
        if (call_.arguments().output_count == 0)
            kit::invalid("operation \"dequantize\" has no output 0, the values");
        return word(call_.arguments().outputs->type);
    }

    // A placeholder where it is given: the tensor that holds it comes later.
    std::optional<std::uint32_t> given_number() const {
        if (!mx::has_blocks(read_.question)) return std::nullopt;
        const TensorScale scale = read_.question.dialect->tensor_scale;
        const kit::KeptNumber kept = scale == TensorScale::none      ? kit::KeptNumber::none
                                     : scale == TensorScale::history ? kit::KeptNumber::of_history
                                                                     : kit::KeptNumber::of_tensor;
        const kit::NumberSource source = kit::number_source(asked(), kept);
        if (source == kit::NumberSource::given) return 0;
        const bool dequantizes = read_.question.operation == OperationKind::dequantize;
        if (dequantizes && source == kit::NumberSource::derived)
            kit::invalid("dequantize is given the number that quantize kept");
        return std::nullopt;
    }

    void take_tensors(const kit::Tensor& first) {
        const std::vector<Part> inputs = inputs_of(p());
        read_.inputs.push_back(view(first, inputs[0]));
        for (const Part part : std::span(inputs).subspan(1))
            read_.inputs.push_back(view(call_.input(role_of(part)), part));
        for (const Part part : outputs_of(p()))
            read_.outputs.push_back(view(call_.output(role_of(part)), part));
        if (!call_.has_data()) return;
        for (std::size_t i = 0; i < inputs.size(); ++i) check_codes(inputs[i], read_.inputs[i]);
        if (p().tensor_number) take_number();
    }

    void check_codes(Part part, const kit::Strided& tensor) const {
        if (part == Part::elements)
            expect_codes(tensor, role_of(part), element_format_of(question()));
        if (part == Part::scales) expect_codes(tensor, role_of(part), scale_format_of(question()));
    }

    void take_number() {
        const Code number{read_.input(Part::tensor_number).read({0, 0})};
        if (formats::f32.is_negative(number) && !formats::f32.is_nan(number))
            kit::invalid("the tensor's number is negative, which no amax is, and no scale");
        p().tensor_number = number.bits;
    }

    static std::string_view role_of(Part part) {
        switch (part) {
            case Part::values:
                return "the values";
            case Part::elements:
                return "the codes";
            case Part::scales:
            case Part::value_scales:
                return "the scales";
            case Part::tensor_number:
                return "the number of the tensor";
            case Part::random_bits:
                return "the random bits";
        }
        return "";
    }

    // The grid of scales is that of the kit, which does not hang on the oracle's own.
    kit::Strided view(const kit::Tensor& tensor, Part part) {
        if (part == Part::scales)
            return tensor.implied(scale_format_of(p()).name,
                                  read_.blocks.grid({p().rows, p().columns}));
        const PartShape shape = shape_of(p(), part);
        return tensor.implied(shape.type.name, {shape.rows, shape.columns});
    }

    const Case& question() const { return read_.question; }

    // --- gemm ---

    void read_gemm() {
        const mx_gemm& gemm = call_.maybe_grouped_gemm();
        CaseWords words;
        words.operation = name_of(OperationKind::gemm);
        words.dialect = word(asked().dialect);
        words.epilogue = or_word(gemm.epilogue, "none");
        words.accumulation = or_word(gemm.accumulation, "default");
        words.model = model_word();
        if (words.model == "any" && words.epilogue.find("gelu") != std::string::npos)
            kit::not_supported(
                "GELU is computed by a unit, so it has bits under a model alone: name "
                "one in mx_oracle_options.model");
        GemmProblem& shape = words.rest.gemm;
        shape.alpha = gemm.alpha;
        shape.beta = gemm.beta;
        take_algorithm(gemm, shape);
        take_shape(gemm, shape);
        words.a = factor_word(0, gemm.scaling_a);
        words.b = factor_word(input_of_b(), gemm.scaling_b);
        words.c = c_word(shape);
        words.type = output_word(gemm);
        read_.question = known(case_of(words));
        expect_known(check_combination(p()));
        take_gemm_tensors();
    }

    static std::string or_word(const char* text, const char* otherwise) {
        return text == nullptr ? otherwise : text;
    }

    std::string model_word() const {
        const std::string model = options_ == nullptr ? "" : word(options_->model);
        return model.empty() || model == "exact" ? "any" : model;
    }

    // The one word that changes what a model gives.
    static void take_algorithm(const mx_gemm& gemm, GemmProblem& shape) {
        if (gemm.algorithm == nullptr) return;
        shape.algorithm = gemm.algorithm;
        if (shape.algorithm.find("splitk=") == std::string::npos)
            kit::not_supported("the oracle has no algorithm " +
                               kit::in_double_quotes(gemm.algorithm) +
                               "; it reads splitk=N in the name of one");
        if (parts_of(shape.algorithm) < 1) kit::invalid("algorithm: splitk= is below 1");
    }

    const mx_tensor& tensor(std::size_t input, const char* role) const {
        const kit::Arguments& call = call_.arguments();
        if (input >= call.input_count)
            kit::invalid("operation \"gemm\" has no input " + std::to_string(input) + ", " + role);
        return kit::tensor_at(call.inputs, input);
    }

    const mx_gemm& asked_gemm() const { return *asked().gemm; }
    std::size_t input_of_b() const { return asked_gemm().scaling_a == nullptr ? 1 : 2; }

    void take_shape(const mx_gemm& gemm, GemmProblem& shape) const {
        const mx_tensor &a = tensor(0, "A"), &b = tensor(input_of_b(), "B");
        if (gemm.groups != 0) return take_groups(a, b, shape);
        if (gemm.batches < 1)
            kit::invalid("mx_gemm.batches is " + std::to_string(gemm.batches) + ", and 1 is least");
        if (a.rows % gemm.batches != 0 || b.rows % gemm.batches != 0)
            kit::invalid("A has " + std::to_string(a.rows) + " rows and B " +
                         std::to_string(b.rows) + ", which " + std::to_string(gemm.batches) +
                         " equal batches do not share");
        shape.batches = gemm.batches;
        shape.m = a.rows / gemm.batches;
        shape.n = b.rows / gemm.batches;
        shape.k = a.columns;
    }

    void take_groups(const mx_tensor& a, const mx_tensor& b, GemmProblem& shape) const {
        const kit::RowGroups groups = kit::RowGroups::read(call_, a.rows);
        if (b.rows % groups.count() != 0)
            kit::invalid("B has " + std::to_string(b.rows) + " rows, which " +
                         std::to_string(groups.count()) + " groups do not share");
        for (std::int64_t group = 0; group < groups.count(); ++group)
            shape.groups.push_back(groups.rows(group));
        shape.m = a.rows;
        shape.n = b.rows / groups.count();
        shape.k = a.columns;
    }

    // "e4m3" scaled in blocks of 1x32 is mxfp8-e4m3.
    std::string factor_word(std::size_t input, const char* scaling) const {
        const char* type = tensor(input, "a factor").type;
        const ElementFormat* element = find_element_format(kit::text_of(type));
        if (element == nullptr)
            kit::not_supported("the oracle knows no type " + kit::in_double_quotes(type));
        return name_of(FactorType{*element, scaling_of(scaling)});
    }

    static FactorScaling scaling_of(const char* name) {
        for (const FactorScalingRow& row : factor_scalings)
            if (row.name == kit::text_of(name) && (name == nullptr || *name != '\0'))
                return row.scaling;
        kit::not_supported("the oracle knows no scaling " + kit::in_double_quotes(name));
    }

    std::string c_word(const GemmProblem& shape) const {
        if (!shape.reads_c()) return "none";
        const std::size_t input = input_of_b() + (asked_gemm().scaling_b == nullptr ? 1 : 2);
        return word(tensor(input, "C").type);
    }

    std::string output_word(const mx_gemm& gemm) const {
        const kit::Arguments& call = call_.arguments();
        if (call.output_count == 0) kit::invalid("operation \"gemm\" has no output 0, D");
        const std::string_view type = kit::text_of(call.outputs->type);
        const ElementFormat* element = find_element_format(type);
        if (element == nullptr)
            kit::not_supported("the oracle knows no type " +
                               kit::in_double_quotes(call.outputs->type));
        const FactorScaling scaling = scaling_of(gemm.scaling_out);
        const bool is_fp8 = *element == formats::e4m3 || *element == formats::e5m2;
        if (scaling == FactorScaling::tensor && is_fp8) return std::string(type);
        if (scaling == FactorScaling::none && is_fp8)
            kit::invalid("D of " + std::string(type) + " has a scale, and scaling_out is NULL");
        return name_of(FactorType{*element, scaling});
    }

    void take_gemm_tensors() {
        for (const GemmTensor& wanted : tensors_of(p())) {
            const kit::Shape shape{wanted.spec.rows, wanted.spec.columns};
            const std::string_view role = role_of(wanted.part);
            if (is_output(wanted.part)) {
                read_.outputs.push_back(call_.output(role).implied(wanted.spec.type, shape));
                continue;
            }
            read_.inputs.push_back(call_.input(role).implied(wanted.spec.type, shape));
            if (call_.has_data() && wanted.content == GemmContent::elements)
                expect_codes(read_.inputs.back(), role, wanted.type);
        }
    }

    static std::string_view role_of(GemmPart part) {
        constexpr std::string_view roles[] = {
            "A",        "the scales of A", "B", "the scales of B", "C",
            "the bias", "the scale of D",  "D", "the scales of D", kit::RowGroups::role};
        return roles[static_cast<std::size_t>(part)];
    }

    kit::Call call_;
    const mx_oracle_options* options_;
    OracleCall read_;
};

const kit::Strided& seat_of(Part part, const std::vector<Part>& parts,
                            const std::vector<kit::Strided>& tensors) {
    const auto at = std::ranges::find(parts, part);
    MX_ASSERT(at != parts.end());
    return tensors[static_cast<std::size_t>(at - parts.begin())];
}

}  // namespace

const kit::Strided& OracleCall::input(Part part) const {
    return seat_of(part, inputs_of(question), inputs);
}

std::vector<OracleCall> read_calls(const kit::Arguments& call, kit::Buffers buffers,
                                   const mx_oracle_options* options) {
    std::vector<OracleCall> calls;
    for (const kit::Arguments& side : kit::Sides(call))
        calls.push_back(Reader(side, buffers, options).read());
    return calls;
}

}  // namespace mx::library
