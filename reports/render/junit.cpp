// JUnit XML for continuous integration: one suite per operation, one test case per case. Used by
// the program; a pure function of the run. Must not touch files.
#include "reports/render/junit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "reports/model/phrases.hpp"
#include "reports/model/summary.hpp"
#include "reports/render/escape.hpp"

namespace mx::reports {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Run;

// How continuous integration counts a verdict.
enum class Kind { pass, skipped, failure, error };

Kind kind_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass_exact:
        case Verdict::pass_bounded:
        case Verdict::deviation:
            return Kind::pass;
        case Verdict::not_supported:
        case Verdict::waived:
            return Kind::skipped;
        case Verdict::flaky:
        case Verdict::fail:
            return Kind::failure;
        // A case that never ran, or was not judged, must not look like one left out on purpose.
        case Verdict::insufficient_data:
        case Verdict::untested:
        case Verdict::oracle_disagreement:
        case Verdict::device_error:
        case Verdict::crash:
        case Verdict::timeout:
            return Kind::error;
    }
    return Kind::error;
}

struct Tally {
    std::uint64_t tests = 0, failures = 0, errors = 0, skipped = 0;

    void add(Kind kind) {
        ++tests;
        failures += kind == Kind::failure ? 1 : 0;
        errors += kind == Kind::error ? 1 : 0;
        skipped += kind == Kind::skipped ? 1 : 0;
    }
    void add(const Tally& other) {
        tests += other.tests;
        failures += other.failures;
        errors += other.errors;
        skipped += other.skipped;
    }
    std::string attributes() const {
        return " tests=\"" + std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
               "\" errors=\"" + std::to_string(errors) + "\" skipped=\"" + std::to_string(skipped) +
               "\"";
    }
};

struct Attribute {
    std::string_view name;
    std::string value;
};

std::string attribute(const Attribute& given) {
    std::string text(" ");
    text.append(given.name).append("=\"").append(escape_markup(given.value)).append("\"");
    return text;
}

std::string mismatch_text(const Mismatch& mismatch) {
    std::string text = mismatch.stage + "/" + mismatch.mismatch_class + " " + mismatch.direction +
                       ": " + grouped(mismatch.count) + " of " + grouped(mismatch.of) +
                       ", first at block " + grouped(mismatch.block) + " lane " +
                       grouped(mismatch.lane) +
                       (mismatch.axis.empty() ? "" : " of axis " + mismatch.axis) + "\n";
    const auto line = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) text.append("  ").append(name).append(" ").append(value).append("\n");
    };
    line("input", mismatch.input_bits);
    line("expected scale", mismatch.expected_scale);
    line("actual scale", mismatch.actual_scale);
    line("expected element", mismatch.expected_element);
    line("actual element", mismatch.actual_element);
    line("expected value", mismatch.expected_value);
    line("actual value", mismatch.actual_value);
    line("exact", mismatch.exact_value);
    line("open decision", mismatch.open_decision);
    line("source", mismatch.source);
    line("note", mismatch.note);
    line("repro", mismatch.repro);
    return text;
}

std::string details_of(const CaseResult& result) {
    std::string text;
    if (!result.reason.empty()) text += result.reason + "\n";
    for (const Mismatch& mismatch : result.mismatches) text += mismatch_text(mismatch);
    return text;
}

// One sentence: the message that lists of failures show.
std::string message_of(const CaseResult& result) {
    std::string text = words_of(result.verdict);
    if (!result.reason.empty()) return text + ": " + result.reason;
    if (result.mismatched_elements + result.mismatched_scales == 0) return text;
    return text + ": " + grouped(result.mismatched_elements) + " of " +
           counted(result.elements, "element") + ", " + grouped(result.mismatched_scales) + " of " +
           counted(result.scales, "scale") + " differ";
}

std::string class_name_of(const CaseResult& result) {
    std::string name = "mxcheck";
    for (const std::string* part :
         {&result.operation, &result.format, &result.dialect, &result.input})
        if (!part->empty()) name += "." + *part;
    return name;
}

struct TestCase {
    std::string name, class_name;
    Kind kind = Kind::pass;
    std::string type, message, details;
};

std::string text_of(const TestCase& test) {
    std::string text = "    <testcase" + attribute({"name", test.name}) +
                       attribute({"classname", test.class_name});
    const std::string told = attribute({"message", test.message});
    const std::string typed = attribute({"type", test.type});
    const std::string details = escape_markup(test.details);
    switch (test.kind) {
        case Kind::pass:
            if (test.details.empty()) return text + "/>\n";
            text += ">\n      <system-out>" + details + "</system-out>\n";
            break;
        // The schema of JUnit gives a skipped case a message and no more.
        case Kind::skipped:
            text += ">\n      <skipped" + told + "/>\n";
            break;
        case Kind::failure:
            text += ">\n      <failure" + told + typed + ">" + details + "</failure>\n";
            break;
        case Kind::error:
            text += ">\n      <error" + told + typed + ">" + details + "</error>\n";
            break;
    }
    return text + "    </testcase>\n";
}

TestCase test_case_of(const CaseResult& result) {
    TestCase test{.name = result.case_text,
                  .class_name = class_name_of(result),
                  .kind = kind_of(result.verdict),
                  .type = std::string(results::name_of(result.verdict)),
                  .message = message_of(result),
                  .details = details_of(result)};
    if (result.verdict == Verdict::deviation)
        test.details =
            "deviation: " + std::string(meaning_of(result.verdict)) + "\n" + test.details;
    return test;
}

struct Suite {
    std::string name;
    std::vector<TestCase> tests;
    std::vector<Attribute> properties;

    Tally tally() const {
        Tally tally;
        for (const TestCase& test : tests) tally.add(test.kind);
        return tally;
    }
};

std::string text_of(const Suite& suite, const Run& run) {
    std::string text =
        "  <testsuite" + attribute({"name", suite.name}) + suite.tally().attributes() +
        (run.header.started.empty() ? "" : attribute({"timestamp", run.header.started})) + ">\n";
    if (!suite.properties.empty()) {
        text += "    <properties>\n";
        for (const Attribute& property : suite.properties)
            text += "      <property" + attribute({"name", std::string(property.name)}) +
                    attribute({"value", property.value}) + "/>\n";
        text += "    </properties>\n";
    }
    for (const TestCase& test : suite.tests) text += text_of(test);
    return text + "  </testsuite>\n";
}

// Stands first: what the run as a whole is worth, where no list of green cases can hide it.
Suite run_suite(const Run& run, const Summary& summary) {
    Suite suite{.name = "run", .tests = {}, .properties = {}};
    const std::string class_name = "mxcheck.run";
    for (const std::string& caveat : summary.caveats) {
        const bool limited = caveat.rfind(results::not_a_conformance_run, 0) == 0;
        suite.tests.push_back({caveat, class_name, limited ? Kind::skipped : Kind::error,
                               "incomplete", caveat, caveat});
    }
    const bool nothing = summary.outcome == Outcome::nothing_tested;
    suite.tests.push_back({"some bits were compared", class_name,
                           nothing ? Kind::error : Kind::pass, "nothing_tested", summary.headline,
                           summary.headline});
    suite.properties = {
        {"headline", summary.headline},
        {"cause", summary.cause},
        {"conformant", summary.conformant() ? "yes" : "no"},
        {"device", run.header.device},
        {"level", run.header.level},
        {"seed", std::to_string(run.header.seed)},
        {"shard", run.header.shard},
        {"mxcheck", run.header.program_version},
        {"commit", run.header.commit},
        {"results_format_version", std::to_string(run.header.version)},
    };
    return suite;
}

std::vector<Suite> suites_of(const Run& run, const Summary& summary) {
    std::vector<Suite> suites{run_suite(run, summary)};
    for (const Matrix::Row& row : summary.matrix.rows) {
        const bool known = std::find_if(suites.begin() + 1, suites.end(), [&](const Suite& suite) {
                               return suite.name == row.operation;
                           }) != suites.end();
        if (known) continue;
        Suite& suite = suites.emplace_back(Suite{row.operation, {}, {}});
        for (const CaseResult& result : run.cases)
            if (result.operation == row.operation) suite.tests.push_back(test_case_of(result));
    }
    return suites;
}

std::string seconds_of(const Run& run) {
    if (!run.complete || !std::isfinite(run.footer.seconds)) return "";
    char text[64];
    std::snprintf(text, sizeof text, "%.3f", run.footer.seconds);
    return attribute({"time", text});
}

}  // namespace

std::string render_junit(const Material& material) {
    const Run& run = material.run;
    const Summary summary = summarize(run);
    const std::vector<Suite> suites = suites_of(run, summary);
    Tally tally;
    std::string body;
    for (const Suite& suite : suites) {
        tally.add(suite.tally());
        body += text_of(suite, run);
    }
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" +
           attribute({"name", "mxcheck: " + summary.headline}) + tally.attributes() +
           seconds_of(run) + ">\n" + body + "</testsuites>\n";
}

}  // namespace mx::reports
