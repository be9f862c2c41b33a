// See row_evidence.hpp.
#include "conformance/emulate/test/row_evidence.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "conformance/run/evidence.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/session/pack.hpp"
#include "reference/base/hex.hpp"
#include "reference/fast/round.hpp"
#include "reference/spec/words.hpp"
#include "reference/test/conversion_examples.hpp"
#include "reference/test/dialect_examples.hpp"
#include "reference/test/scale_cast_examples.hpp"

namespace mx {
namespace {

// Typed examples are codes of binary32 whatever a row reads, so the combination is not checked.
Case case_named(const std::string& text) {
    const auto c = read_case(text);
    EXPECT_TRUE(c) << text << ": " << (c ? "" : c.error().message);
    return c.value();
}

// With the row's own answers.
Asked asked_of(const Case& c, Sources& sources) {
    const auto source = sources.open(c);
    EXPECT_TRUE(source) << print(c);
    Asked asked{c, make_inputs(c, *source.value()), {}, {}};
    asked.answers = expect(c, asked.inputs);
    return asked;
}

std::string bits_of(std::span<const std::uint32_t> codes, int digits) {
    std::string text = "bits:";
    for (const std::uint32_t code : codes)
        text += (text.back() == ':' ? "" : ",") + hex(code, digits);
    return text;
}

// Of a row that NVIDIA's casts answered for, all of whose codes test_hardware_casts holds: values
// of every size and sign, powers of two and what lies beside them.
Case every_size(std::string_view row) {
    std::vector<std::uint32_t> codes(cast_columns.begin(), cast_columns.end());
    for (std::uint32_t code = 0; code <= 0xFFFF; code += 0x20)
        for (const std::uint32_t beside : {0u, 1u}) codes.push_back(code << 16 | beside);
    return case_named("convert format=e8m0 dialect=" + std::string(row) +
                      " input=f32 layout=dense shape=1x" + std::to_string(codes.size()) +
                      " data=" + bits_of(codes, 8));
}

// The scale, and as many elements as are known.
std::vector<std::vector<bool>> known_of(const Asked& asked, std::size_t known) {
    std::vector<std::vector<bool>> binding{std::vector<bool>(asked.answers[0].count()),
                                           std::vector<bool>(asked.answers[1].count(), true)};
    for (std::size_t element = 0; element + 1 < known; ++element) binding[0][element] = true;
    return binding;
}

bool is_about_rows(const Case& c) {
    return c.dialect != nullptr &&
           (c.operation == OperationKind::quantize || c.operation == OperationKind::encode_scale ||
            casts_to_scale(c) || !c.dialect->has_scales());
}

std::vector<std::vector<bool>> equal_places(const std::vector<CodeTensor>& left,
                                            const std::vector<CodeTensor>& right) {
    std::vector<std::vector<bool>> equal;
    for (std::size_t i = 0; i < left.size(); ++i) {
        equal.emplace_back(left[i].count());
        for (std::size_t at = 0; at < left[i].count(); ++at)
            equal[i][at] = left[i].at(at) == right[i].at(at);
    }
    return equal;
}

session::RecordedAnswers answers_in(std::string_view file) {
    const auto answers = session::RecordedAnswers::read(std::string(MX_VECTORS) + "/" +
                                                        std::string(file) + ".answers");
    EXPECT_TRUE(answers) << (answers ? "" : answers.error().message);
    return answers.value();
}

void add_answer(EvidenceByRow& all, const Case& c, const Client& client, Sources& sources) {
    Asked asked = asked_of(c, sources);
    std::vector<std::vector<std::byte>> storage;
    Evidence evidence;
    evidence.c = c;
    evidence.answer = client.ask(make_question(c, asked.inputs, storage));
    if (evidence.answer.kind == AnswerKind::not_supported) return;
    ASSERT_EQ(evidence.answer.kind, AnswerKind::answered) << print(c) << evidence.answer.reason;
    evidence.expected = asked.answers;
    read_answer(evidence);
    asked.binding = equal_places(asked.answers, evidence.actual);
    all[c.dialect->name].push_back(std::move(asked));
}

void add_conversion(EvidenceByRow& all, const ConversionExample& example, Sources& sources) {
    for (const std::string_view name : words_in(example.dialects))
        for (const std::string_view format : words_in(example.format))
            for (const std::string_view input : words_in(example.input))
                for (const auto& [overflow, rule] : overflows) {
                    const int digits = find_element_format(input)->code_bytes() * 2;
                    const Case c = case_named(
                        "convert format=" + std::string(format) + " dialect=" + std::string(name) +
                        " input=" + std::string(input) + " overflow=" + std::string(overflow) +
                        " shape=1x1 data=" + bits_of(std::span(&example.value, 1), digits));
                    all[find_quantizer(name)->name].push_back(asked_of(c, sources));
                }
}

}  // namespace

EvidenceByRow typed_examples(Sources& sources) {
    EvidenceByRow all;
    for (const BlockExample& example : all_examples())
        for (const std::string_view name : words_in(example.dialects)) {
            Asked asked =
                asked_of(case_named("quantize format=" + std::string(example.format) +
                                    " dialect=" + std::string(name) + " input=f32 shape=1x" +
                                    std::to_string(example.input.size()) +
                                    " data=" + bits_of(example.input, 8)),
                         sources);
            asked.binding = known_of(asked, example.expected.size());
            all[find_quantizer(name)->name].push_back(std::move(asked));
        }
    for (const CastRow& row : cast_table)
        for (const std::string_view name : words_in(row.dialects)) {
            std::vector<std::uint32_t> codes;
            for (std::size_t column = 0; column < cast_column_count; ++column)
                if (row.bytes[column] != unknown) codes.push_back(cast_columns[column]);
            const Case c = case_named("convert format=e8m0 dialect=" + std::string(name) +
                                      " input=f32 shape=1x" + std::to_string(codes.size()) +
                                      " data=" + bits_of(codes, 8));
            all[find_quantizer(name)->name].push_back(asked_of(c, sources));
        }
    for (const ConversionExample& example : conversion_examples)
        add_conversion(all, example, sources);
    return all;
}

EvidenceByRow recorded_answers(Sources& sources) {
    EvidenceByRow all;
    for (const Verification& entry : verifications) {
        for (const std::string_view row : words_in(entry.rows))
            if (entry.known == Known::hardware)
                all[row].push_back(asked_of(every_size(row), sources));
        for (const std::string_view name : words_in(entry.answers)) {
            const auto answers = session::RecordedAnswers::read(std::string(MX_VECTORS) + "/" +
                                                                std::string(name) + ".answers");
            EXPECT_TRUE(answers) << (answers ? "" : answers.error().message);
            if (!answers) continue;
            const Client client = answers.value().client();
            for (const Case& c : answers.value().cases())
                if (is_about_rows(c) && lists(entry.rows, c.dialect->name))
                    add_answer(all, c, client, sources);
        }
    }
    return all;
}

std::set<std::string_view> models_answered(std::string_view file) {
    std::set<std::string_view> models;
    const session::RecordedAnswers answers = answers_in(file);
    for (const Case& c : answers.cases())
        if (is_gemm(c) && c.gemm.model.row != nullptr) models.insert(c.gemm.model.row->name);
    return models;
}

namespace {

constexpr std::array families{"edge.special", "edge.amax",        "edge.scale", "edge.mixed",
                              "edge.tie",     "random.subnormal", "random.bits"};

std::string words_of(const Quantizer& row, const BlockFormat& format, std::string_view input) {
    return "quantize format=" + std::string(format.name) + " dialect=" + std::string(row.name) +
           " input=" + std::string(input) + " ";
}

// One case of many blocks; where the tensor has a number of its own, many small tensors.
void add_probes(RowEvidence& probes, const Quantizer& row, const BlockFormat& format,
                std::string_view input, Sources& sources) {
    const std::string asked = words_of(row, format, input);
    const bool of_tensor = row.tensor_scale != TensorScale::none || format.is_whole_tensor();
    const int columns = format.is_whole_tensor() ? 16 : static_cast<int>(format.block_columns);
    const int rows = format.is_whole_tensor() ? 2 : static_cast<int>(format.block_rows) * 2;
    for (const std::string family : families) {
        const auto add = [&](int height, int index) {
            probes.push_back(asked_of(case_named(asked + "shape=" + std::to_string(height) + "x" +
                                                 std::to_string(columns) + " data=" + family +
                                                 " index=" + std::to_string(index)),
                                      sources));
        };
        if (!of_tensor)
            add(96, 0);
        else
            for (int tensor = 0; tensor < 24; ++tensor) add(rows, 2 * tensor);
    }
}

}  // namespace

// Every code of a type of 16 bits, and the edges of f32.
void add_conversion_probes(RowEvidence& probes, const Quantizer& row, Sources& sources) {
    for (const BlockFormat& format : mx_block_formats)
        for (const std::string_view input : input_types)
            for (const auto& [overflow, rule] : overflows) {
                if (!contains(row.formats, format) || !row.reads(input)) continue;
                const std::string asked = "convert format=" + std::string(format.element().name) +
                                          " dialect=" + std::string(row.name) +
                                          " input=" + std::string(input) +
                                          " overflow=" + std::string(overflow);
                const bool is_large = input == formats::f32.name;
                const std::string data =
                    is_large ? " shape=24x32 data=edge.special" : " shape=2048x32 data=all.bits";
                probes.push_back(asked_of(case_named(asked + data), sources));
            }
}

RowEvidence probes_of(const Quantizer& row, Sources& sources) {
    RowEvidence probes;
    if (!row.has_scales()) add_conversion_probes(probes, row, sources);
    for (const BlockFormat& format : block_formats)
        for (const std::string_view input : {"f32", "bf16"})
            if (row.quantizes(format) && row.reads(input) && format.block_rows <= 1)
                add_probes(probes, row, format, input, sources);
    if (row.formats == FormatSet{}) probes.push_back(asked_of(every_size(row.name), sources));
    return probes;
}

namespace {

bool is_finite(const Asked& asked, std::size_t line) {
    const CodeTensor& values = asked.inputs[0];
    const auto columns = static_cast<std::size_t>(values.columns);
    for (std::size_t at = line * columns; at < (line + 1) * columns; ++at)
        if (fast::unpack(asked.c.type, Code{values.at(at)}).kind != fast::Kind::finite)
            return false;
    return true;
}

// Probes have a block a line, or few lines that share a number.
std::vector<bool> finite_lines(const Asked& asked) {
    std::vector<bool> finite;
    for (std::size_t line = 0; line < static_cast<std::size_t>(asked.inputs[0].rows); ++line)
        finite.push_back(is_finite(asked, line));
    if (has_tensor_number(asked.c)) {
        const bool all = std::ranges::find(finite, false) == finite.end();
        std::fill(finite.begin(), finite.end(), all);
    }
    return finite;
}

}  // namespace

RowEvidence covered(RowEvidence probes, Covers covers) {
    for (Asked& asked : probes) {
        if (covers == Covers::all || asked.c.operation != OperationKind::quantize) continue;
        const std::vector<bool> finite = finite_lines(asked);
        for (std::size_t i = 0; i < asked.answers.size(); ++i) {
            const std::size_t a_line = std::max<std::size_t>(
                1, asked.answers[i].count() / static_cast<std::size_t>(asked.inputs[0].rows));
            asked.binding.emplace_back(asked.answers[i].count());
            for (std::size_t at = 0; at < asked.answers[i].count(); ++at)
                asked.binding[i][at] = covers == Covers::scales ? i == 1 : finite[at / a_line];
        }
    }
    return probes;
}

std::optional<Witness> first_difference(const RowEvidence& evidence, const Quantizer& other) {
    for (const Asked& asked : evidence) {
        Case c = asked.c;
        c.dialect = &other;
        const std::vector<CodeTensor> now = expect(c, asked.inputs);
        for (std::size_t i = 0; i < now.size(); ++i)
            for (std::size_t at = 0; at < now[i].count(); ++at)
                if ((asked.binding.empty() || asked.binding[i][at]) &&
                    now[i].at(at) != asked.answers[i].at(at))
                    return Witness{&asked, i, at};
    }
    return std::nullopt;
}

Case block_of(const Witness& witness) {
    const Asked& asked = *witness.asked;
    Case c = asked.c;
    const CodeTensor& values = asked.inputs[0];
    std::size_t first = witness.element, count = 1;
    if (c.operation == OperationKind::quantize && !has_tensor_number(c) &&
        !c.format->is_whole_tensor()) {
        count = static_cast<std::size_t>(values.columns);
        first = witness.output == 0 ? witness.element / count * count : witness.element * count;
    } else if (c.operation == OperationKind::quantize) {
        return c;
    }
    std::vector<std::uint32_t> codes;
    for (std::size_t at = first; at < first + count; ++at) codes.push_back(values.at(at));
    c.rows = 1;
    c.columns = static_cast<std::int64_t>(count);
    c.index = 0;
    while (codes.size() > 1 && codes.back() == 0) codes.pop_back();
    c.data = bits_of(codes, values.width * 2);
    return c;
}

}  // namespace mx
