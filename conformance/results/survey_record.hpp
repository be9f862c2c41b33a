// The record of a survey: what survey.json holds, its steps and how each ended, and manifest.json,
// by which others can check the folder. Plain data and its JSON. Used by the program and by
// reports; knows neither commands nor pages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results/record.hpp"
#include "reference/base/status.hpp"

namespace mx::results {

inline constexpr int survey_format_version = 1;

// A step that ended, or that was not run.
struct SurveyStep {
    std::string name;     // "run"
    std::string subject;  // the folder of its device in the bundle, "" of a step of the machine
    std::string asks;     // a sentence: what it asks
    std::string record;   // what it wrote, below the bundle's folder; a file
    std::vector<std::string> commands;  // as typed
    std::string not_run;                // why it was not run, "" if it was
    int exit_code = 0;
    double seconds = 0;  // of its last piece, where it was cut
    bool operator==(const SurveyStep&) const = default;
    // "cpu run"
    std::string title() const { return subject.empty() ? name : subject + " " + name; }
};

// A device of a survey.
struct SurveySubject {
    std::string folder;  // in the bundle
    std::string device;  // as named on the command line
    std::vector<Field> facts;
    bool operator==(const SurveySubject&) const = default;
};

struct Survey {
    int version = survey_format_version;
    std::string program_version, commit;
    bool dirty = false;
    std::string started;    // UTC, ISO 8601
    std::string effort;     // full or quick
    std::string fuzz_time;  // "5m"
    std::string waivers;    // file, "" without
    std::vector<SurveySubject> subjects;
    std::vector<Field> environment, table_hashes;
    std::vector<SurveyStep> steps;  // those that ended, in order
    bool complete = false;
};

struct FileDigest {
    std::string path;  // below the folder, with '/'
    std::uint64_t bytes = 0;
    std::string sha256;
    bool operator==(const FileDigest&) const = default;
};

// What a finished survey comes to. All but the digests is said in the records, too, so that
// whoever checks the folder can make it again.
struct Manifest {
    int version = survey_format_version;
    std::string sentence;
    int exit_code = 0;
    std::string program_version, commit;
    bool dirty = false;
    std::vector<SurveySubject> subjects;
    std::vector<Field> environment, table_hashes;
    std::vector<std::string> waivers;  // a sentence each
    std::vector<std::string> not_run;  // a sentence each
    std::vector<FileDigest> files;     // all but this one
};

std::string text_of(const Survey& survey);
std::string text_of(const Manifest& manifest);
Expected<Survey> parse_survey(std::string_view text, const std::string& name);
Expected<Manifest> parse_manifest(std::string_view text, const std::string& name);

}  // namespace mx::results
