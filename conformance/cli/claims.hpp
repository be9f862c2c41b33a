// What the folder of a survey claims, each claim made again without a device and held against what
// is written. Used by verify; prints nothing.
#pragma once

#include <string>
#include <vector>

#include "conformance/results/survey_record.hpp"

namespace mx::cli {

enum class Standing {
    stands,
    falls,      // what is written is not what was made again
    unchecked,  // it could not be made again here
};

struct Claim {
    Standing standing = Standing::stands;
    std::string name;      // "cpu run, verdicts"
    std::string sentence;  // what was seen
};

// Each file is there, has its digest, and no other file is there.
Claim claim_of_files(const std::vector<results::FileDigest>& listed,
                     const std::vector<results::FileDigest>& found_files);
// Every step of a survey is there, in order, run or not.
std::vector<Claim> claims_of_steps(const results::Survey& survey);
// The records, one by one: verdicts, counts and exit codes.
std::vector<Claim> claims_of_records(const results::Survey& survey, const std::string& folder);
// The cases of each run are those of its level.
std::vector<Claim> claims_of_plans(const results::Survey& survey, const std::string& folder);
// The recorded answers of each device, judged again, give the verdicts of its run.
std::vector<Claim> claims_of_answers(const results::Survey& survey, const std::string& folder);
// The manifest says what the records say, and the pages are made of them.
Claim claim_of_facts(const results::Manifest& manifest, const results::Manifest& made);
Claim claim_of_pages(const results::Survey& survey, const std::string& folder);

}  // namespace mx::cli
