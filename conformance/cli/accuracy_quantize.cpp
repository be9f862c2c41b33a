// What quantizing loses, on named data or the user's tensors. See accuracy_operations.hpp.
#include "conformance/cli/accuracy_operations.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include "conformance/accuracy/accuracy.hpp"
#include "conformance/accuracy/device_codes.hpp"
#include "conformance/accuracy/distributions.hpp"
#include "conformance/accuracy/quantizer_names.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/device_option.hpp"
#include "conformance/cli/tensor_arguments.hpp"
#include "conformance/emulate/text_table.hpp"
#include "conformance/results/attachments.hpp"
#include "reference/fast/decode.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::cli {
namespace {

struct Sample {
    std::string name;
    std::vector<float> values;
    std::int64_t columns = 0;
};

// Codes of one sample, and who made them.
struct Coded {
    accuracy::Quantization quantizer;
    std::string source;
    accuracy::BlockCodes codes;
};

// What row it is laid beside, and how many codes differ.
struct Beside {
    std::string dialect, rounding, source;
    accuracy::Changes changes;
};

struct Measured {
    std::string data, format, dialect, rounding, source;
    std::size_t blocks = 0;
    accuracy::Accuracy accuracy;
    std::optional<Beside> beside;
    std::string reason;  // why there is none of it, "" where there is
};

constexpr std::string_view oracle = "oracle";

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
        values[i] = static_cast<float>(accuracy::number_of(fast::unpack(type, code)));
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

// Whole blocks a row either way, so that the blocks are the same; no device wants one endless row.
std::int64_t columns_of(std::int64_t count) {
    constexpr std::int64_t columns = 4096;
    return count % columns == 0 ? columns : count;
}

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
                           columns_of(wanted.count)});
    }
    return samples;
}

Expected<std::vector<accuracy::Quantization>> quantizers_of(const AccuracyArguments& arguments) {
    if (arguments.block != 16 && arguments.block != 32 && arguments.block != 64)
        return bad("--block " + std::to_string(arguments.block) + ": blocks have 16, 32 or 64");
    std::vector<accuracy::Quantization> quantizers;
    const std::vector<std::string> usual{"mxfp8-e4m3"};
    for (const std::string& format : arguments.formats.empty() ? usual : arguments.formats)
        for (const std::string& dialect : dialects_of(arguments, format)) {
            auto quantizer = accuracy::quantizer_of({format, dialect});
            if (!quantizer) return quantizer.error();
            if (arguments.block != 32 && !quantizer.value().format.has_e8m0_scales())
                return bad("--block is for MX formats; " + format + " has blocks of its own");
            quantizer.value().block = static_cast<int>(arguments.block);
            quantizer.value().seed = arguments.seed;
            quantizers.push_back(quantizer.value());
            if (!arguments.stochastic || quantizer.value().is_stochastic()) continue;
            quantizers.push_back(quantizer.value());
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

// "ocp", "ocp (stochastic)", "ocp, by cuda"
std::string rules_text(const Measured& m) {
    return m.dialect + (m.rounding == "stochastic" ? " (stochastic)" : "") +
           (m.source == oracle ? "" : ", by " + m.source);
}

void print_notes(const Measured& m) {
    const auto number = [](std::uint64_t count) { return std::to_string(count); };
    const std::string row = m.data + ", " + m.format + ", " + m.dialect + ": ";
    std::string text;
    if (!m.reason.empty()) text += row + m.source + " does not: " + m.reason + "\n";
    if (m.accuracy.not_finite + m.accuracy.lost != 0)
        text += row + number(m.accuracy.not_finite) + " values are NaN or Inf and left out, " +
                number(m.accuracy.lost) + " became NaN or Inf\n";
    if (m.source != oracle && m.reason.empty())
        text += row + "of " + m.source + "'s codes " + number(m.beside->changes.values) +
                " elements and " + number(m.beside->changes.scales) +
                " scales differ from the oracle's\n";
    std::fputs(text.c_str(), stdout);
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
                              {"changed %", Align::right},
                              {"max ulp", Align::right}});
    for (const Measured& m : all) {
        if (!m.reason.empty()) continue;
        const accuracy::Accuracy& a = m.accuracy;
        double ulp = 0;
        for (const auto& [binade, errors] : a.binades) ulp = std::max(ulp, errors.largest);
        table.add({m.data, m.format, rules_text(m), sqnr_text(a), fixed(100 * a.relative_mean(), 3),
                   fixed(100 * a.relative_max, 2), percent(a.saturated, a.elements),
                   percent(a.flushed, a.elements), percent(a.subnormal, a.elements),
                   m.beside ? percent(m.beside->changes.values, a.elements) : "", fixed(ulp, 3)});
    }
    std::fputs(table.print().c_str(), stdout);
    for (const Measured& m : all) print_notes(m);
}

results::QuantizeAccuracy row_of(const Measured& m) {
    const accuracy::Accuracy& a = m.accuracy;
    results::QuantizeAccuracy row;
    row.data = m.data;
    row.format = m.format;
    row.dialect = m.dialect;
    row.rounding = m.rounding;
    row.source = m.source;
    row.reason = m.reason;
    if (!m.reason.empty()) return row;
    row.elements = a.elements;
    row.blocks = m.blocks;
    row.not_finite = a.not_finite;
    row.lost = a.lost;
    row.zeros = a.zeros;
    row.saturated = a.saturated;
    row.flushed = a.flushed;
    row.subnormal = a.subnormal;
    if (std::isfinite(a.sqnr())) row.sqnr_db = a.sqnr();
    row.relative_mean = a.relative_mean();
    row.relative_max = a.relative_max;
    if (m.beside) {
        row.beside = {m.beside->dialect, m.beside->rounding, m.beside->source};
        row.values_changed = m.beside->changes.values;
        row.scales_changed = m.beside->changes.scales;
    }
    for (const auto& [binade, errors] : a.binades)
        row.binades.push_back({binade, errors.elements,
                               errors.sum / static_cast<double>(errors.elements), errors.largest});
    for (std::size_t byte = 0; byte < a.scales.size(); ++byte)
        if (a.scales[byte] != 0) row.scales.push_back({byte, a.scales[byte]});
    return row;
}

std::string rounding_text(const accuracy::Quantization& quantizer) {
    return quantizer.is_stochastic() ? "stochastic" : "of the dialect";
}

Measured blank(const Sample& sample, const accuracy::Quantization& quantizer) {
    Measured m;
    m.data = sample.name;
    m.format = quantizer.format.name;
    m.dialect = quantizer.rules.name;
    m.rounding = rounding_text(quantizer);
    m.source = oracle;
    return m;
}

Measured measured(const Sample& sample, const Coded& coded, const Coded* beside) {
    const accuracy::Rows rows{sample.values, sample.columns};
    Measured m = blank(sample, coded.quantizer);
    m.source = coded.source;
    m.blocks = coded.codes.scales.size();
    m.accuracy = accuracy::measure(coded.quantizer, rows, coded.codes);
    if (beside == nullptr) return m;
    m.beside = {std::string(beside->quantizer.rules.name), rounding_text(beside->quantizer),
                beside->source,
                accuracy::changes({beside->quantizer, beside->codes},
                                  {coded.quantizer, coded.codes}, sample.columns)};
    return m;
}

// The device's codes beside the oracle's; its random bits are not known, so nothing of a stochastic
// rounding is asked of it.
Status add_device(const Sample& sample, const Coded& expected, const NamedClient& subject,
                  std::vector<Measured>& all) {
    auto codes =
        accuracy::encode_on(subject.client, expected.quantizer, {sample.values, sample.columns});
    if (!codes && codes.error().kind != ErrorKind::bad_input) return codes.error();
    if (codes) {
        const Coded actual{expected.quantizer, subject.name, std::move(codes).value()};
        all.push_back(measured(sample, actual, &expected));
        return success();
    }
    all.push_back(blank(sample, expected.quantizer));
    all.back().source = subject.name;
    all.back().reason = codes.error().message;
    return success();
}

// Each dialect and rounding beside the first of its format, and the device beside the oracle.
Status add_sample(const Sample& sample, const std::vector<accuracy::Quantization>& quantizers,
                  const NamedClient* subject, std::vector<Measured>& all) {
    std::optional<Coded> first;
    for (const accuracy::Quantization& quantizer : quantizers) {
        Coded coded{quantizer, std::string(oracle),
                    accuracy::encode(quantizer, {sample.values, sample.columns})};
        const bool is_new = !first || first->quantizer.format.name != quantizer.format.name;
        all.push_back(measured(sample, coded, is_new ? nullptr : &*first));
        if (subject != nullptr && !quantizer.is_stochastic())
            if (const Status added = add_device(sample, coded, *subject, all); !added) return added;
        if (is_new) first = std::move(coded);
    }
    return success();
}

// What a device's rows call for; without a device there is nothing to be wrong.
int exit_code_of(const std::vector<Measured>& all, const NamedClient* subject) {
    if (subject == nullptr) return exit_conformant;
    std::uint64_t compared = 0, changed = 0;
    for (const Measured& m : all) {
        if (m.source == oracle || !m.reason.empty()) continue;
        compared += m.accuracy.elements;
        changed += m.beside->changes.values + m.beside->changes.scales;
    }
    if (changed != 0) return exit_mismatch;
    return compared == 0 ? exit_nothing_tested : exit_conformant;
}

}  // namespace

std::vector<std::string> dialects_of(const AccuracyArguments& arguments,
                                     const std::string& format) {
    if (!arguments.dialects.empty()) return arguments.dialects;
    const BlockFormat* row = find_block_format(format);
    std::vector<std::string> names;
    for (const char* name : {"ocp", "nv"})
        if (row == nullptr || find_quantizer(name)->quantizes(*row)) names.emplace_back(name);
    return names.empty() ? std::vector{usual_quantizer(*row)} : names;
}

int accuracy_of_quantize(const AccuracyArguments& arguments) {
    const auto quantizers = quantizers_of(arguments);
    if (!quantizers) return fail_with(quantizers.error());
    auto opened = open_named(arguments.choice, arguments.timeout_seconds);
    if (!opened) return fail_with(opened.error());
    const NamedClient* subject = opened.value() ? &*opened.value() : nullptr;
    const auto samples = samples_of(arguments);
    if (!samples) return fail_with(samples.error());
    std::vector<Measured> all;
    for (const Sample& sample : samples.value())
        if (const Status added = add_sample(sample, quantizers.value(), subject, all); !added)
            return fail_with(added.error());
    if (!arguments.json) {
        print_table(all);
    } else {
        std::vector<results::QuantizeAccuracy> rows;
        for (const Measured& m : all) rows.push_back(row_of(m));
        std::printf("%s\n", results::json_text(rows).c_str());
    }
    return exit_code_of(all, subject);
}

}  // namespace mx::cli
