// The folder of a survey: its record, what each step found, the pages and the manifest that follow
// from them. Used by survey, which writes them, and by verify, which makes them again.
#pragma once

#include <string>
#include <vector>

#include "conformance/results/survey_record.hpp"
#include "reference/base/status.hpp"

namespace mx::cli {

inline constexpr const char* survey_name = "survey.json";
inline constexpr const char* manifest_name = "manifest.json";

// A survey and the folder it lies in.
struct Bundle {
    std::string folder;
    results::Survey survey;
    std::vector<std::string> findings = {};  // of each step
};

Expected<results::Survey> read_survey(const std::string& folder);
Status write_survey(const results::Survey& survey, const std::string& folder);

// Reads the records. What cannot be read is an error that names it.
Expected<Bundle> bundle_of(const std::string& folder, results::Survey survey);

struct BundleFile {
    std::string path;  // below the folder
    std::string text;
};

// The pages of each record of a run, with what lies beside it, and those of the survey.
Expected<std::vector<BundleFile>> pages_of(const Bundle& bundle);

// Of every file that is there, but the manifest.
Expected<std::vector<results::FileDigest>> digests_of(const std::string& folder);

// What the records say, and these digests.
Expected<results::Manifest> manifest_of(const Bundle& bundle);

// SHA-256 of its text.
std::string digest_of(const BundleFile& file);

// "FOLDER/PATH"
std::string path_in(const std::string& folder, const std::string& path);
// True where the record of a step is that of a run.
bool is_run(const results::SurveyStep& step);

}  // namespace mx::cli
