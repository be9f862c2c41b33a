// The section that lays every dialect's answers side by side: those that agree are one column. See
// explain_parts.hpp.
#include <algorithm>

#include "conformance/emulate/answers.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/explain_parts.hpp"
#include "conformance/emulate/number_text.hpp"
#include "reference/problem/problem.hpp"

namespace mx::emulate {
namespace {

// As many columns as fit side by side.
constexpr std::size_t columns_in_a_table = 10;

// Dialects that answer alike.
struct Group {
    std::string label;  // A, B, ... Z, AA, ...
    Answers answers;
    std::vector<Quantizer> members;
};

std::string label_of(std::size_t index) {
    const std::string last(1, static_cast<char>('A' + index % 26));
    return index < 26 ? last : label_of(index / 26 - 1) + last;
}

// The target's own dialect and those that agree with it come first.
std::vector<Group> grouped(const ExplainTarget& target, Oracle other, std::string& fault) {
    const Quantizer own = rules_of(target.c);
    std::vector<Group> groups{{label_of(0), exact_answers(target, own), {own}}};
    for (const Quantizer& dialect : quantizers) {
        const Quantizer rules = rules_in(target, dialect);
        if (rules.name == own.name || !applies(target, dialect)) continue;
        const Answers answers = exact_answers(target, rules);
        const std::string difference = disagreement_in({answers, other(target, rules)});
        if (!difference.empty() && fault.empty())
            fault = "dialect " + std::string(dialect.name) + ", " + difference;
        const auto found = std::ranges::find(groups, answers, &Group::answers);
        if (found != groups.end())
            found->members.push_back(rules);
        else
            groups.push_back({label_of(groups.size()), answers, {rules}});
    }
    return groups;
}

std::string names_of_members(std::span<const Quantizer> members) {
    std::string names;
    for (const Quantizer& member : members)
        names += (names.empty() ? "" : ", ") + std::string(member.name);
    return names;
}

std::string table_of(const ExplainTarget& target, std::span<const Group> groups,
                     const Answers& own) {
    std::vector<Column> columns{{"", Align::right}};
    for (const Group& group : groups) columns.push_back({group.label});
    TextTable table(columns);
    for (std::size_t at = 0; at < own.size(); ++at) {
        std::vector<std::string> row{
            own[at].lane == lane_of_scale ? "scale" : "lane " + std::to_string(own[at].lane)};
        for (const Group& group : groups) {
            const Answer& answer = group.answers[at];
            row.push_back(hex_code(answer_format(target, answer), answer.code) +
                          (answer == own[at] ? "" : " *"));
        }
        table.add(std::move(row));
    }
    return table.print();
}

// "scale_rounding: toward_positive instead of toward_zero; ..."
std::string reasons_text(const FieldNames& fields, const DialectPair& dialects) {
    std::string text;
    for (const std::string_view field : fields)
        text += (text.empty() ? "" : "; ") + std::string(field) + ": " +
                value_in(field, dialects.there) + " instead of " + value_in(field, dialects.here);
    return text;
}

// One line for the members that part for the same reasons.
std::string partings_of(const ExplainTarget& target, const Quantizer& own, const Group& group) {
    std::vector<std::pair<std::string, std::vector<Quantizer>>> reasons;
    for (const Quantizer& member : group.members) {
        std::string text;
        for (const FieldNames& fields : parting_fields(target, {own, member}))
            text += (text.empty() ? "" : "; or on ") + reasons_text(fields, {own, member});
        const auto found = std::ranges::find(reasons, text, [](const auto& r) { return r.first; });
        if (found != reasons.end())
            found->second.push_back(member);
        else
            reasons.push_back({text, {member}});
    }
    std::string lines;
    for (const auto& [text, members] : reasons)
        lines += paragraph(names_of_members(members) + (members.size() == 1 ? " parts" : " part") +
                           " from " + std::string(own.name) + " on " + text);
    return lines;
}

// The dialects of the format that have no column, and why.
std::string left_out(const ExplainTarget& target) {
    if (casts_to_scale(target.c)) return "";
    std::string lines;
    for (const Quantizer& dialect : quantizers) {
        if (!makes_them(target.c, dialect) || applies(target, dialect)) continue;
        const std::string why = dialect.is_known() ? "does not read " + type_name(target.c)
                                                   : "waits for " + std::string(dialect.waits);
        lines += paragraph("not here: " + std::string(dialect.name) + ", which " + why);
    }
    return lines;
}

}  // namespace

std::string compare_dialects(const ExplainTarget& target, Oracle other, std::string& fault) {
    if (target.c.operation == OperationKind::dequantize)
        return paragraph("all dialects dequantize alike: OCP MX 5.1, v = X * P");
    const Quantizer own = rules_of(target.c);
    const std::vector<Group> groups = grouped(target, other, fault);
    std::string text;
    for (const Group& group : groups)
        text += paragraph(group.label + ": " + names_of_members(group.members));
    text += "\n";
    for (std::size_t first = 0; first < groups.size(); first += columns_in_a_table)
        text += table_of(
            target,
            std::span(groups).subspan(first, std::min(columns_in_a_table, groups.size() - first)),
            groups[0].answers);
    if (groups.size() == 1)
        text += paragraph("no dialect parts from " + std::string(own.name) + " here");
    else
        text += paragraph("* is not what " + std::string(own.name) + " says");
    for (const Group& group : std::span(groups).subspan(1)) text += partings_of(target, own, group);
    return text + left_out(target);
}

}  // namespace mx::emulate
