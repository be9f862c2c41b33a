// mxcheck verify: does what the folder of a survey says follow from what it holds? Asks no device.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "conformance/cli/bundle.hpp"
#include "conformance/cli/claims.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "reference/base/files.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

struct VerifyOptions {
    std::string folder;
    std::string digest;
};

const char* word_of(Standing standing) {
    switch (standing) {
        case Standing::stands:
            return "stands";
        case Standing::falls:
            return "FALSE";
        case Standing::unchecked:
            return "unchecked";
    }
    return "";
}

Claim claim_of_digest(const std::string& digest, const std::string& wanted) {
    if (digest == wanted)
        return {Standing::stands, "digest", "the manifest is the one whose SHA-256 was given"};
    return {Standing::falls, "digest",
            "the manifest has SHA-256 " + digest + ", not the one that was given"};
}

// Of a folder whose records cannot all be read: what the records say, and no more.
void add_whole(const results::Manifest& manifest, const results::Survey& survey,
               const std::string& folder, std::vector<Claim>& claims) {
    const auto bundle = bundle_of(folder, survey);
    const auto made =
        bundle ? manifest_of(bundle.value()) : Expected<results::Manifest>(Error(bundle.error()));
    if (!made) {
        claims.push_back({Standing::falls, "manifest", made.error().message});
        return;
    }
    claims.push_back(claim_of_facts(manifest, made.value()));
    claims.push_back(claim_of_pages(survey, folder));
}

void append(std::vector<Claim>& claims, std::vector<Claim> more) {
    for (Claim& claim : more) claims.push_back(std::move(claim));
}

int conclusion(const std::vector<Claim>& claims, const results::Manifest& manifest) {
    const auto count = [&](Standing standing) {
        return static_cast<std::size_t>(std::ranges::count(claims, standing, &Claim::standing));
    };
    for (const Claim& claim : claims)
        std::printf("%-9s  %s: %s\n", word_of(claim.standing), printable(claim.name).c_str(),
                    printable(claim.sentence).c_str());
    const std::size_t false_ones = count(Standing::falls), open = count(Standing::unchecked);
    if (false_ones != 0) {
        std::printf("%zu of %zu claims are FALSE: this folder is not what a survey wrote\n",
                    false_ones, claims.size());
        return exit_mismatch;
    }
    std::printf(
        "Shown: the records agree with themselves, with the plan and with the recorded answers, "
        "and all else follows from them.\nNot shown: that the device gave these answers, verdicts "
        "beyond the recorded answers, times, and who wrote the folder; whoever forges records, "
        "answers, pages and manifest alike is not seen. A SHA-256 of the manifest that came "
        "another "
        "way (--digest) shows that nothing has changed since.\n");
    if (open != 0) {
        std::printf("%zu of %zu claims could not be checked here\n", open, claims.size());
        return exit_incomplete;
    }
    std::printf("All %zu claims stand. What they say (exit code %d): %s\n", claims.size(),
                manifest.exit_code, printable(manifest.sentence).c_str());
    return exit_conformant;
}

int verify(const VerifyOptions& options) {
    const std::string path = path_in(options.folder, manifest_name);
    const auto text = text_of_file(path);
    if (!text)
        return fail_with({text.error().kind,
                          text.error().message + "; a survey writes it last, when it has ended"});
    const auto manifest = results::parse_manifest(text.value(), path);
    if (!manifest) return fail_with(manifest.error());
    std::vector<Claim> claims;
    if (!options.digest.empty())
        claims.push_back(claim_of_digest(digest_of({manifest_name, text.value()}), options.digest));
    const auto files = digests_of(options.folder);
    if (!files) return fail_with(files.error());
    claims.push_back(claim_of_files(manifest.value().files, files.value()));
    const auto survey = read_survey(options.folder);
    if (!survey) {
        claims.push_back({Standing::falls, "survey", survey.error().message});
        return conclusion(claims, manifest.value());
    }
    if (!survey.value().complete)
        claims.push_back({Standing::falls, "survey", "it has not ended, and has a manifest"});
    append(claims, claims_of_steps(survey.value()));
    append(claims, claims_of_records(survey.value(), options.folder));
    append(claims, claims_of_plans(survey.value(), options.folder));
    append(claims, claims_of_answers(survey.value(), options.folder));
    add_whole(manifest.value(), survey.value(), options.folder, claims);
    return conclusion(claims, manifest.value());
}

}  // namespace

Command verify_command() {
    auto o = std::make_shared<VerifyOptions>();
    return {"verify",
            "does the folder of a survey say what it holds? Every claim made again, no device",
            "mxcheck verify survey\n  mxcheck verify survey --digest 5d41...\n\n"
            "Made again: the digest of every file; each verdict from its counts and mismatches, "
            "footers and\nexit codes from the verdicts; the list of cases from the tables; the "
            "verdicts of the smoke cases\nfrom the answers that the survey recorded; what the "
            "manifest says, and every page. Not shown:\nthat the device gave these answers, "
            "verdicts beyond the recorded answers, times, who wrote it.\nExit code: 0 all claims "
            "stand, whatever they say of the device; 1 one is false; 4 one could not\nbe checked "
            "here, as with another commit; 2 no manifest.",
            {{"DIR", "the folder of a survey", &o->folder, true},
             {"--digest", "SHA-256 of its manifest.json, as it came another way", &o->digest}},
            [o] { return verify(*o); }};
}

}  // namespace mx::cli
