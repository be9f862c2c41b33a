// schema.json and what is written agree: every key written is described, every described key is
// written. A small walk of its own over the few words of JSON Schema that the schema uses.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "conformance/results/record_json.hpp"
#include "conformance/results/results_file.hpp"
#include "conformance/results/test/sample_run.hpp"

namespace mx::results::test {
namespace {

using nlohmann::json;

json schema() {
    std::ifstream stream(MX_RESULTS_SCHEMA);
    EXPECT_TRUE(stream) << MX_RESULTS_SCHEMA;
    return json::parse(stream);
}

std::string type_of(const json& value) {
    if (value.is_number_integer()) return "integer";
    return value.type_name();
}

class Walk {
public:
    explicit Walk(const json& root) : root_(root) {}

    void check(const json& rule, const json& value, const std::string& place) {
        if (rule.contains("$ref")) {
            const std::string target = rule["$ref"].get<std::string>().substr(1);
            return check(root_.at(json::json_pointer(target)), value, place);
        }
        if (rule.contains("const") && rule["const"] != value)
            complain(place, "is not the constant");
        if (rule.contains("type") && rule["type"] != type_of(value))
            complain(place, "has type " + type_of(value));
        if (rule.contains("enum")) {
            const json& names = rule["enum"];
            if (std::find(names.begin(), names.end(), value) == names.end())
                complain(place, "is not in the list of values");
        }
        if (value.is_object()) check_keys(rule, value, place);
        if (value.is_array())
            for (const json& item : value) check(rule.at("items"), item, place + "[]");
    }

    const std::vector<std::string>& problems() const { return problems_; }

private:
    void complain(const std::string& place, const std::string& what) {
        problems_.push_back(place + " " + what);
    }

    void check_keys(const json& rule, const json& value, const std::string& place) {
        for (const auto& [key, item] : value.items()) {
            if (rule.at("properties").contains(key))
                check(rule["properties"][key], item, place + "." + key);
            else
                complain(place + "." + key, "is not described");
        }
        for (const auto& [key, described] : rule.at("properties").items()) {
            if (!value.contains(key)) complain(place + "." + key, "is described, never written");
            if (!described.contains("description")) complain(place + "." + key, "says nothing");
        }
        for (const json& key : rule.at("required"))
            if (!value.contains(key)) complain(place + "." + key.get<std::string>(), "is missing");
    }

    const json& root_;
    std::vector<std::string> problems_;
};

std::vector<std::string> problems_of(const json& rules, const char* definition, const json& line) {
    Walk walk(rules);
    walk.check(rules["$defs"][definition], line, definition);
    return walk.problems();
}

struct Sample {
    const char* definition;
    json line;
};

std::vector<Sample> samples() {
    const CaseResult result = sample_case(0, Verdict::waived);
    RunFooter footer = count_cases(std::vector{result});
    footer.close_fault = "killed by signal 11";
    footer.unmet = {"--max-not-supported 0 is exceeded"};
    footer.cause = "Every tie is rounded up; nothing else is wrong (4 of 4 explained).";
    footer.cause_kinds = {"ties:up"};
    return {
        {"header", json::parse(line_of(sample_header()))},
        {"case", json::parse(line_of(result))},
        {"footer", json::parse(line_of(footer))},
    };
}

TEST(Schema, DescribesExactlyWhatIsWritten) {
    const json rules = schema();
    for (const Sample& sample : samples())
        for (const std::string& problem : problems_of(rules, sample.definition, sample.line))
            ADD_FAILURE() << problem;
}

TEST(Schema, TheWalkSeesAKeyTooManyATypeTooOddAndAKeyTooFew) {
    const json rules = schema();
    for (const Sample& sample : samples()) {
        for (const auto& [key, value] : sample.line.items()) {
            json fewer = sample.line;
            fewer.erase(key);
            EXPECT_FALSE(problems_of(rules, sample.definition, fewer).empty()) << key;
            json other = sample.line;
            other[key] = nullptr;
            EXPECT_FALSE(problems_of(rules, sample.definition, other).empty()) << key;
        }
        json more = sample.line;
        more["surprise"] = 1;
        EXPECT_FALSE(problems_of(rules, sample.definition, more).empty());
    }
}

TEST(Schema, ListsTheVerdictsInOrder) {
    const json rules = schema();
    const json& names = rules["$defs"]["case"]["properties"]["verdict"]["enum"];
    ASSERT_EQ(names.size(), static_cast<std::size_t>(verdict_count) + 1);
    for (std::size_t position = 0; position + 1 < names.size(); ++position)
        EXPECT_EQ(names[position], name_of(static_cast<Verdict>(position)));
    EXPECT_EQ(names.back(), "mistrusted") << "which older records have";
}

// The program can write no other: a class that is not in the list does not compile.
TEST(Schema, ListsTheClassesOfMismatches) {
    const json rules = schema();
    const json& names = rules["$defs"]["mismatch"]["properties"]["mismatch_class"]["enum"];
    EXPECT_EQ(names, json(mismatch_classes));
}

TEST(Schema, ListsTheStatesOfWaivers) {
    const json rules = schema();
    EXPECT_EQ(rules["$defs"]["waiver"]["properties"]["state"]["enum"], json(waiver_states));
}

TEST(Schema, OffersEveryKindOfLine) {
    const json rules = schema();
    std::set<std::string> offered;
    for (const json& kind : rules["oneOf"]) offered.insert(kind["$ref"].get<std::string>());
    EXPECT_EQ(offered, (std::set<std::string>{"#/$defs/header", "#/$defs/case", "#/$defs/footer"}));
    EXPECT_EQ(rules["$defs"]["header"]["properties"]["version"]["const"], format_version);
}

}  // namespace
}  // namespace mx::results::test
