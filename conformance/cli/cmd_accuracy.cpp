// mxcheck accuracy: what quantizing loses, on named data or the user's tensors.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/accuracy/accuracy.hpp"
#include "conformance/accuracy/distributions.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/cli/tensor_arguments.hpp"
#include "conformance/emulate/text_table.hpp"
#include "reference/fast/decode.hpp"
#include "reference/spec/dialects.hpp"

namespace mx::cli {
namespace {

struct AccuracyArguments {
    std::string input;
    std::vector<std::string> formats{"mxfp8-e4m3"};
    std::vector<std::string> dialects{"ocp", "nv"};
    std::vector<std::string> data;
    std::uint64_t elements = 1 << 20;
    std::uint64_t block = 32;
    std::uint64_t seed = 0;
    bool stochastic = false;
    bool json = false;
};

struct Sample {
    std::string name;
    std::vector<float> values;
    std::int64_t columns = 0;
};

struct Measured {
    std::string data, format, dialect;
    Rounding rounding;
    accuracy::Accuracy accuracy;
};

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

// f32 holds every bf16 and f16.
std::vector<float> as_floats(const data::HostTensor& tensor, const ElementFormat& type) {
    const auto width = static_cast<std::size_t>(type.code_bytes());
    std::vector<float> values(tensor.bytes.size() / width);
    for (std::size_t i = 0; i < values.size(); ++i) {
        Code code;
        std::memcpy(&code.bits, tensor.bytes.data() + i * width, width);
        const fast::Unpacked value = fast::unpack(type, code);
        const float magnitude =
            value.kind == fast::Kind::nan ? std::nanf("")
            : value.kind == fast::Kind::infinity
                ? HUGE_VALF
                : std::ldexp(static_cast<float>(value.significand), value.exponent);
        values[i] = value.negative ? -magnitude : magnitude;
    }
    return values;
}

Expected<std::vector<Sample>> samples_of_file(const std::string& path) {
    auto file = data::read_tensor_file(path);
    if (!file) return file.error();
    std::vector<Sample> samples;
    for (const data::HostTensor& tensor : file.value().tensors) {
        const bool is_value = tensor.type == "f32" || tensor.type == "bf16" || tensor.type == "f16";
        if (!is_value || tensor.bytes.empty()) continue;
        const std::int64_t columns = tensor.shape.empty() ? 1 : tensor.shape.back();
        samples.push_back({tensor.name.empty() ? path : tensor.name,
                           as_floats(tensor, *find_element_format(tensor.type)), columns});
    }
    if (samples.empty()) return bad(path + ": holds no tensor of f32, bf16 or f16 with values");
    return samples;
}

// A float and the codes of it, for each.
constexpr std::uint64_t elements_max = std::uint64_t{1} << 28;

Expected<std::vector<Sample>> samples_of(const AccuracyArguments& arguments) {
    if (!arguments.input.empty() && !arguments.data.empty())
        return bad("a tensor file and --data contradict each other");
    if (!arguments.input.empty()) return samples_of_file(arguments.input);
    if (arguments.elements == 0 || arguments.elements > elements_max)
        return bad("--elements " + std::to_string(arguments.elements) + ": from 1 to " +
                   std::to_string(elements_max));
    std::vector<std::string> known;
    for (const auto& distribution : accuracy::distributions())
        known.emplace_back(distribution.name);
    std::vector<Sample> samples;
    for (const std::string& name : arguments.data.empty() ? known : arguments.data) {
        if (const Status found = check_name("data", name, known); !found) return found.error();
        const accuracy::Draw wanted{static_cast<std::int64_t>(arguments.elements), arguments.seed};
        samples.push_back({name, accuracy::draw(*accuracy::find_distribution(name), wanted),
                           static_cast<std::int64_t>(arguments.elements)});
    }
    return samples;
}

Expected<std::vector<accuracy::Quantizer>> quantizers_of(const AccuracyArguments& arguments) {
    if (arguments.block != 16 && arguments.block != 32 && arguments.block != 64)
        return bad("--block " + std::to_string(arguments.block) + ": blocks have 16, 32 or 64");
    std::vector<accuracy::Quantizer> quantizers;
    for (const std::string& format : arguments.formats)
        for (const std::string& dialect : arguments.dialects) {
            const emulate::BlockNames names = emulate::completed({format, dialect});
            if (const Status known = emulate::check_names(names); !known) return known.error();
            const BlockFormat* row = find_block_format(format);
            const Dialect* rules = find_dialect(dialect);
            if (row == nullptr || rules == nullptr)
                return bad(format + " in " + dialect +
                           " is a recipe; accuracy takes block formats");
            quantizers.push_back({*row, *rules, static_cast<int>(arguments.block), arguments.seed});
            if (!arguments.stochastic) continue;
            quantizers.push_back(quantizers.back());
            quantizers.back().rules.element_rounding = Rounding::stochastic;
        }
    return quantizers;
}

std::string fixed(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-"
                      : fixed(100.0 * static_cast<double>(part) / static_cast<double>(whole), 3);
}

std::string sqnr_text(const accuracy::Accuracy& measured) {
    if (measured.noise > 0) return fixed(measured.sqnr(), 2);
    return measured.elements == measured.not_finite + measured.lost ? "-" : "exact";
}

void print_table(const std::vector<Measured>& all) {
    using emulate::Align;
    emulate::TextTable table({{"data"},
                              {"format"},
                              {"dialect"},
                              {"SQNR dB", Align::right},
                              {"mean rel %", Align::right},
                              {"max rel %", Align::right},
                              {"saturated %", Align::right},
                              {"flushed %", Align::right},
                              {"subnormal %", Align::right},
                              {"max ulp", Align::right}});
    for (const Measured& m : all) {
        const accuracy::Accuracy& a = m.accuracy;
        double ulp = 0;
        for (const auto& [binade, errors] : a.binades) ulp = std::max(ulp, errors.largest);
        const bool is_stochastic = m.rounding == Rounding::stochastic;
        table.add({m.data, m.format, m.dialect + (is_stochastic ? " (stochastic)" : ""),
                   sqnr_text(a), fixed(100 * a.relative_mean(), 3), fixed(100 * a.relative_max, 2),
                   percent(a.saturated, a.elements), percent(a.flushed, a.elements),
                   percent(a.subnormal, a.elements), fixed(ulp, 3)});
    }
    std::fputs(table.print().c_str(), stdout);
    for (const Measured& m : all)
        if (m.accuracy.not_finite + m.accuracy.lost != 0)
            std::printf(
                "%s, %s, %s: %llu values are NaN or Inf and left out, %llu became NaN or Inf\n",
                m.data.c_str(), m.format.c_str(), m.dialect.c_str(),
                static_cast<unsigned long long>(m.accuracy.not_finite),
                static_cast<unsigned long long>(m.accuracy.lost));
}

nlohmann::ordered_json json_of(const Measured& m) {
    const accuracy::Accuracy& a = m.accuracy;
    nlohmann::ordered_json binades = nlohmann::ordered_json::array();
    for (const auto& [binade, errors] : a.binades)
        binades.push_back({{"binade", binade},
                           {"elements", errors.elements},
                           {"mean_ulp", errors.sum / static_cast<double>(errors.elements)},
                           {"max_ulp", errors.largest}});
    nlohmann::ordered_json scales = nlohmann::ordered_json::array();
    for (std::size_t byte = 0; byte < a.scales.size(); ++byte)
        if (a.scales[byte] != 0) scales.push_back({{"byte", byte}, {"blocks", a.scales[byte]}});
    nlohmann::ordered_json json{
        {"data", m.data},
        {"format", m.format},
        {"dialect", m.dialect},
        {"rounding", m.rounding == Rounding::stochastic ? "stochastic" : "of the dialect"},
        {"elements", a.elements},
        {"not_finite", a.not_finite},
        {"lost", a.lost},
        {"zeros", a.zeros},
        {"saturated", a.saturated},
        {"flushed", a.flushed},
        {"subnormal", a.subnormal},
        {"sqnr_db", nullptr},
        {"relative_mean", a.relative_mean()},
        {"relative_max", a.relative_max},
        {"binades", binades},
        {"scales", scales}};
    if (std::isfinite(a.sqnr())) json["sqnr_db"] = a.sqnr();
    return json;
}

int accuracy_of(const AccuracyArguments& arguments) {
    const auto quantizers = quantizers_of(arguments);
    if (!quantizers) return fail_with(quantizers.error());
    const auto samples = samples_of(arguments);
    if (!samples) return fail_with(samples.error());
    std::vector<Measured> all;
    for (const Sample& sample : samples.value())
        for (const accuracy::Quantizer& quantizer : quantizers.value())
            all.push_back({sample.name, std::string(quantizer.format.name),
                           std::string(quantizer.rules.name), quantizer.rules.element_rounding,
                           accuracy::measure(quantizer, {sample.values, sample.columns})});
    if (!arguments.json) {
        print_table(all);
        return exit_conformant;
    }
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Measured& m : all) json.push_back(json_of(m));
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return exit_conformant;
}

}  // namespace

Command accuracy_command() {
    auto o = std::make_shared<AccuracyArguments>();
    return {"accuracy",
            "what quantizing loses: noise, relative errors, what is clamped or flushed",
            "mxcheck accuracy --format mxfp8-e4m3,mxfp4-e2m1 --dialect ocp,nv\n"
            "  mxcheck accuracy weights.safetensors --stochastic --json",
            {{"INPUT", "a .npy or .safetensors; blocks along the last dimension", &o->input},
             {"--format", "block formats", &o->formats},
             {"--dialect", "dialects side by side", &o->dialects},
             {"--data", "instead of a file: normal, uniform, ... (default: each)", &o->data},
             {"--elements", "of each named kind of data", &o->elements},
             {"--block", "lanes of a block", &o->block},
             {"--seed", "of the data and of stochastic rounding", &o->seed},
             {"--stochastic", "each dialect once more, its elements rounded stochastically",
              &o->stochastic},
             {"--json", "with errors per binade and the scales, for machines", &o->json}},
            [o] { return accuracy_of(*o); }};
}

}  // namespace mx::cli
