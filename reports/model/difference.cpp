// See difference.hpp.
#include "reports/model/difference.hpp"

#include <algorithm>
#include <unordered_map>

namespace mx::reports {
namespace {

using results::CaseResult;
using results::Field;
using results::Run;
using results::RunHeader;

using ByText = std::unordered_map<std::string_view, const CaseResult*>;

ByText by_text(const Run& run) {
    ByText cases;
    for (const CaseResult& result : run.cases) cases.emplace(result.case_text, &result);
    return cases;
}

bool is_same(const CaseResult& before, const CaseResult& after) {
    return before.verdict == after.verdict &&
           before.mismatched_elements == after.mismatched_elements &&
           before.mismatched_scales == after.mismatched_scales;
}

// A device that does not support a case any more has lost what it had; one that refuses what it
// got wrong has gained.
Change change_of(const CaseResult& before, const CaseResult& after) {
    const results::Worth was = worth_of(before.verdict), is = worth_of(after.verdict);
    if (was == is) return Change::changed;
    return was < is ? Change::better : Change::worse;
}

std::vector<Field> fields_of(const RunHeader& header) {
    std::vector<Field> fields{{"device", header.device},
                              {"mxcheck", header.program_version},
                              {"commit", header.commit + (header.dirty ? " with changes" : "")},
                              {"level", header.level},
                              {"suites", header.suites},
                              {"dialects", header.dialects},
                              {"seed", std::to_string(header.seed)},
                              {"shard", header.shard}};
    for (const auto* list : {&header.device_facts, &header.environment, &header.table_hashes})
        fields.insert(fields.end(), list->begin(), list->end());
    return fields;
}

// In either direction, so that a fact which only one of them has is seen.
std::vector<std::string> headers_of(const RunHeader& before, const RunHeader& after) {
    const std::vector<Field> old_fields = fields_of(before), new_fields = fields_of(after);
    const auto value_in = [](const std::vector<Field>& fields, const std::string& key) {
        const auto found = std::find_if(fields.begin(), fields.end(),
                                        [&](const Field& field) { return field.key == key; });
        return found == fields.end() ? std::string("unknown") : found->value;
    };
    std::vector<std::string> differences;
    const auto compare = [&](const std::string& key) {
        const std::string first = value_in(old_fields, key), second = value_in(new_fields, key);
        const std::string line = key + ": \"" + first + "\", now \"" + second + "\"";
        const bool is_known =
            std::find(differences.begin(), differences.end(), line) != differences.end();
        if (first != second && !is_known) differences.push_back(line);
    };
    for (const Field& field : old_fields) compare(field.key);
    for (const Field& field : new_fields) compare(field.key);
    return differences;
}

}  // namespace

std::string_view name_of(Change change) {
    constexpr std::array<std::string_view, changes.size()> names{"worse", "better", "changed",
                                                                 "added", "removed"};
    return names.at(static_cast<std::size_t>(change));
}

std::uint64_t Difference::of(Change change) const {
    return static_cast<std::uint64_t>(
        std::count_if(cases.begin(), cases.end(),
                      [&](const ChangedCase& each) { return each.change == change; }));
}

Difference difference_of(const Run& before, const Run& after) {
    Difference difference;
    difference.headers = headers_of(before.header, after.header);
    const ByText older = by_text(before), newer = by_text(after);
    for (const CaseResult& result : after.cases) {
        const auto found = older.find(result.case_text);
        if (found == older.end())
            difference.cases.push_back({Change::added, nullptr, &result});
        else if (is_same(*found->second, result))
            ++difference.same;
        else
            difference.cases.push_back({change_of(*found->second, result), found->second, &result});
    }
    for (const CaseResult& result : before.cases)
        if (newer.count(result.case_text) == 0)
            difference.cases.push_back({Change::removed, &result, nullptr});
    std::stable_sort(difference.cases.begin(), difference.cases.end(),
                     [](const auto& a, const auto& b) { return a.change < b.change; });
    return difference;
}

}  // namespace mx::reports
