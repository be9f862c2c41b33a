// See measured_blocks.hpp.
#include "conformance/accuracy/measured_blocks.hpp"

#include <cmath>
#include <cstring>

#include "conformance/accuracy/device_codes.hpp"
#include "conformance/accuracy/distributions.hpp"
#include "conformance/case/names.hpp"
#include "conformance/data/tensor_file.hpp"
#include "reference/fast/decode.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::accuracy {
namespace {

// Codes of one sample, and who made them.
struct Coded {
    Quantization quantizer;
    std::string source;
    BlockCodes codes;
};

// f32 holds every bf16 and f16.
std::vector<float> as_floats(const data::HostTensor& tensor, const ElementFormat& type) {
    const auto width = static_cast<std::size_t>(type.code_bytes());
    std::vector<float> values(tensor.bytes.size() / width);
    for (std::size_t i = 0; i < values.size(); ++i) {
        Code code;
        std::memcpy(&code.bits, tensor.bytes.data() + i * width, width);
        values[i] = static_cast<float>(number_of(fast::unpack(type, code)));
    }
    return values;
}

Expected<std::vector<NamedValues>> samples_of_file(const std::string& path) {
    auto file = data::read_tensor_file(path);
    if (!file) return file.error();
    std::vector<NamedValues> samples;
    for (const data::HostTensor& tensor : file.value().tensors) {
        const bool is_value = tensor.type == "f32" || tensor.type == "bf16" || tensor.type == "f16";
        if (!is_value || tensor.bytes.empty()) continue;
        const std::int64_t columns = tensor.shape.empty() ? 1 : tensor.shape.back();
        samples.push_back({tensor.name.empty() ? path : tensor.name,
                           as_floats(tensor, *find_element_format(tensor.type)), columns});
    }
    if (samples.empty())
        return bad_input(path + ": holds no tensor of f32, bf16 or f16 with values");
    return samples;
}

// A float and the codes of it, for each.
constexpr std::uint64_t elements_max = std::uint64_t{1} << 28;

// Whole blocks a row either way, so that the blocks are the same; no device wants one endless row.
std::int64_t columns_of(std::int64_t count) {
    constexpr std::int64_t columns = 4096;
    return count % columns == 0 ? columns : count;
}

std::string rounding_text(const Quantization& quantizer) {
    return quantizer.is_stochastic() ? "stochastic" : "of the dialect";
}

MeasuredBlocks blank(const NamedValues& sample, const Quantization& quantizer) {
    MeasuredBlocks m;
    m.data = sample.name;
    m.format = quantizer.format.name;
    m.dialect = quantizer.rules.name;
    m.rounding = rounding_text(quantizer);
    m.source = oracle;
    return m;
}

MeasuredBlocks measured(const NamedValues& sample, const Coded& coded, const Coded* beside) {
    const Rows rows{sample.values, sample.columns};
    MeasuredBlocks m = blank(sample, coded.quantizer);
    m.source = coded.source;
    m.blocks = coded.codes.scales.size();
    m.accuracy = measure(coded.quantizer, rows, coded.codes);
    if (beside == nullptr) return m;
    m.beside = {std::string(beside->quantizer.rules.name), rounding_text(beside->quantizer),
                beside->source,
                changes({beside->quantizer, beside->codes}, {coded.quantizer, coded.codes},
                        sample.columns)};
    return m;
}

// The device's codes beside the oracle's; its random bits are not known, so nothing of a stochastic
// rounding is asked of it.
Status add_device(const NamedValues& sample, const Coded& expected, const NamedClient& subject,
                  std::vector<MeasuredBlocks>& all) {
    auto codes = encode_on(subject.client, expected.quantizer, {sample.values, sample.columns});
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
Status add_sample(const NamedValues& sample, const std::vector<Quantization>& quantizers,
                  const NamedClient* subject, std::vector<MeasuredBlocks>& all) {
    std::optional<Coded> first;
    for (const Quantization& quantizer : quantizers) {
        Coded coded{quantizer, std::string(oracle),
                    encode(quantizer, {sample.values, sample.columns})};
        const bool is_new = !first || first->quantizer.format.name != quantizer.format.name;
        all.push_back(measured(sample, coded, is_new ? nullptr : &*first));
        if (subject != nullptr && !quantizer.is_stochastic())
            if (const Status added = add_device(sample, coded, *subject, all); !added) return added;
        if (is_new) first = std::move(coded);
    }
    return success();
}

}  // namespace

Expected<std::vector<NamedValues>> samples_of(const AccuracyRequest& request) {
    if (!request.input.empty() && !request.data.empty())
        return bad_input("a tensor file and --data contradict each other");
    if (!request.input.empty()) return samples_of_file(request.input);
    if (request.elements == 0 || request.elements > elements_max)
        return bad_input("--elements " + std::to_string(request.elements) + ": from 1 to " +
                         std::to_string(elements_max));
    std::vector<std::string> known;
    for (const auto& distribution : distributions()) known.emplace_back(distribution.name);
    std::vector<NamedValues> samples;
    for (const std::string& name : request.data.empty() ? known : request.data) {
        if (const Status found = check_name("data", name, known); !found) return found.error();
        const Draw wanted{static_cast<std::int64_t>(request.elements), request.seed};
        samples.push_back({name, draw(*find_distribution(name), wanted), columns_of(wanted.count)});
    }
    return samples;
}

Expected<std::vector<Quantization>> quantizers_of(const AccuracyRequest& request) {
    if (request.block != 16 && request.block != 32 && request.block != 64)
        return bad_input("--block " + std::to_string(request.block) + ": blocks have 16, 32 or 64");
    std::vector<Quantization> quantizers;
    const std::vector<std::string> usual{"mxfp8-e4m3"};
    for (const std::string& format : request.formats.empty() ? usual : request.formats)
        for (const std::string& dialect : request.dialects_for(format)) {
            auto quantizer = quantizer_of({format, dialect});
            if (!quantizer) return quantizer.error();
            if (request.block != 32 && !quantizer.value().format.has_e8m0_scales())
                return bad_input("--block is for MX formats; " + format + " has blocks of its own");
            quantizer.value().block = static_cast<int>(request.block);
            quantizer.value().seed = request.seed;
            quantizers.push_back(quantizer.value());
            if (!request.stochastic || quantizer.value().is_stochastic()) continue;
            quantizers.push_back(quantizer.value());
            quantizers.back().rules.element_rounding = Rounding::stochastic;
        }
    return quantizers;
}

Expected<std::vector<MeasuredBlocks>> measure_blocks(const std::vector<NamedValues>& samples,
                                                     const std::vector<Quantization>& quantizers,
                                                     const NamedClient* subject) {
    std::vector<MeasuredBlocks> all;
    for (const NamedValues& sample : samples)
        if (const Status added = add_sample(sample, quantizers, subject, all); !added)
            return added.error();
    return all;
}

Judged judged(const std::vector<MeasuredBlocks>& all) {
    Judged judged;
    for (const MeasuredBlocks& m : all) {
        if (m.source == oracle || !m.reason.empty()) continue;
        judged.compared += m.accuracy.elements;
        judged.wrong += m.beside->changes.values + m.beside->changes.scales;
    }
    return judged;
}

results::QuantizeAccuracy record_of(const MeasuredBlocks& m) {
    const Accuracy& a = m.accuracy;
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

}  // namespace mx::accuracy
