// See record.hpp.
#include "conformance/relation/record.hpp"

#include <algorithm>

namespace mx::relation {
namespace {

using results::Verdict;

// Of what nothing is claimed the device cannot be wrong: it passes no test by it and fails none.
Verdict verdict_of(Standing standing) {
    switch (standing) {
        case Standing::held:
            return Verdict::pass_exact;
        case Standing::broken:
            return Verdict::fail;
        case Standing::seen:
        case Standing::unlike:
        case Standing::unasked:
            return Verdict::not_supported;
        case Standing::faulty:
            return Verdict::device_error;
    }
    return Verdict::untested;
}

std::string reason_of(const Result& result) {
    if (result.standing == Standing::seen)
        return "nothing is claimed: " + result.reason + "; seen to hold";
    if (result.standing == Standing::unlike)
        return "nothing is claimed: " + result.reason + "; seen not to hold";
    return result.reason;
}

// Codes compared. Where two answers to one call differed nothing else was, but they were.
std::uint64_t codes_of(const Result& result) {
    const std::uint64_t least = result.standing == Standing::broken ? 1 : 0;
    return std::max(result.compared, least);
}

// A relation stops at the first place where it breaks: that one is counted, not how many there are.
results::Mismatch mismatch_of(const RelatedCase& related) {
    const Finding& finding = related.result.finding;
    results::Mismatch m;
    m.mismatch_class = results::MismatchClass("unclassified").name;
    m.stage = "element";
    m.direction = finding.broken;
    m.count = 1;
    m.of = codes_of(related.result);
    m.source = "a relation that needs no oracle: " + std::string(related.result.relation->sentence);
    m.note = "the first place alone; first input: " + finding.first +
             "; second input: " + finding.second;
    m.repro = related.repro;
    return m;
}

}  // namespace

results::CaseResult record_of(const RelatedCase& related) {
    const Setting& setting = related.setting;
    const Result& result = related.result;
    const bool is_product = setting.operation == "gemm";
    results::CaseResult made;
    made.suite = "relations";
    made.case_text = "relate" + related.text;
    made.operation = "relate " + setting.operation;
    made.format = is_product ? setting.elements + " times " + setting.elements_b : setting.format;
    made.dialect = is_product ? setting.scaling : setting.dialect;
    made.input = setting.values;
    made.verdict = verdict_of(result.standing);
    made.reason = reason_of(result);
    if (made.verdict == Verdict::pass_exact || made.verdict == Verdict::fail)
        made.elements = codes_of(result);
    if (made.verdict != Verdict::fail) return made;
    made.mismatched_elements = 1;
    made.mismatches.push_back(mismatch_of(related));
    return made;
}

void Standings::add(Standing standing) {
    held += standing == Standing::held ? 1 : 0;
    broken += standing == Standing::broken ? 1 : 0;
    unclaimed += standing == Standing::seen || standing == Standing::unlike ? 1 : 0;
    not_run += standing == Standing::unasked ? 1 : 0;
    failed += standing == Standing::faulty ? 1 : 0;
}

}  // namespace mx::relation
