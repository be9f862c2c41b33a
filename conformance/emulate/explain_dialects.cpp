// The section that lays every dialect's answers side by side. See explain_parts.hpp.
#include "conformance/case/rules.hpp"
#include "conformance/emulate/answers.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/explain_parts.hpp"
#include "conformance/emulate/number_text.hpp"

namespace mx::emulate {
namespace {

// As many dialects as fit side by side.
constexpr std::size_t dialects_in_a_table = 6;

struct Contender {
    Dialect rules;
    Answers answers;
};

std::vector<Contender> contenders(const ExplainTarget& target, Oracle other,
                                  std::string& fault) {
    std::vector<Contender> all;
    for (const Dialect& dialect : dialects) {
        const Dialect rules = rules_in(target, dialect);
        all.push_back({rules, exact_answers(target, rules)});
        const std::string difference =
            disagreement_in({all.back().answers, other(target, rules)});
        if (!difference.empty() && fault.empty())
            fault = "dialect " + std::string(dialect.name) + ", " + difference;
    }
    return all;
}

std::string table_of(const ExplainTarget& target, std::span<const Contender> contenders,
                     const Answers& own) {
    std::vector<Column> columns{{"", Align::right}};
    for (const Contender& contender : contenders)
        columns.push_back({std::string(contender.rules.name)});
    TextTable table(columns);
    for (std::size_t at = 0; at < own.size(); ++at) {
        std::vector<std::string> row{
            own[at].lane == lane_of_scale ? "scale" : "lane " + std::to_string(own[at].lane)};
        for (const Contender& contender : contenders) {
            const Answer& answer = contender.answers[at];
            row.push_back(hex_code(answer_format(target, answer), answer.code) +
                          (answer == own[at] ? "" : " *"));
        }
        table.add(std::move(row));
    }
    return table.print();
}

std::string value_in(std::string_view field_name, const Dialect& rules) {
    for (const DialectField& field : dialect_fields())
        if (field.name == field_name) return std::string(field.value_of(rules));
    return "";
}

std::string parting_text(const ExplainTarget& target, const DialectPair& dialects) {
    const auto& [here, there] = dialects;
    std::string line = std::string(there.name) + " parts from " + std::string(here.name) + " on ";
    bool first = true;
    for (const std::string_view field : parting_fields(target, dialects)) {
        line += (first ? "" : "; ") + std::string(field) + ": " + value_in(field, there) +
                " instead of " + value_in(field, here);
        first = false;
    }
    return paragraph(line);
}

}  // namespace

std::string compare_dialects(const ExplainTarget& target, Oracle other, std::string& fault) {
    if (target.c.operation == "dequantize")
        return paragraph("all dialects dequantize alike: OCP MX 5.1, v = X * P");
    const Dialect rules = rules_of(target.c);
    const Answers own = exact_answers(target, rules);
    const std::vector<Contender> all = contenders(target, other, fault);
    std::string text;
    for (std::size_t first = 0; first < all.size(); first += dialects_in_a_table)
        text += table_of(target,
                         std::span(all).subspan(first, std::min(dialects_in_a_table,
                                                                all.size() - first)),
                         own);
    std::string partings;
    for (const Contender& contender : all)
        if (contender.answers != own)
            partings += parting_text(target, {rules, contender.rules});
    if (partings.empty()) return text + paragraph("no dialect parts from " +
                                                  std::string(rules.name) + " here");
    return text + paragraph("* is not what " + std::string(rules.name) + " says") + partings;
}

}  // namespace mx::emulate
