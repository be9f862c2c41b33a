// See survey_record.hpp.
#include "conformance/results/survey_record.hpp"

#include "conformance/results/field_json.hpp"
#include "reference/base/json_record.hpp"

namespace mx::results {

using json::Json;

template <typename Archive, json::Either<SurveyStep> Given>
void describe(Archive& archive, Given& step) {
    archive("name", step.name);
    archive("subject", step.subject);
    archive("asks", step.asks);
    archive("record", step.record);
    archive("commands", step.commands);
    archive("not_run", step.not_run);
    archive("exit_code", step.exit_code);
    archive("seconds", step.seconds);
}

template <typename Archive, json::Either<SurveySubject> Given>
void describe(Archive& archive, Given& subject) {
    archive("folder", subject.folder);
    archive("device", subject.device);
    archive("facts", subject.facts);
}

template <typename Archive, json::Either<Survey> Given>
void describe(Archive& archive, Given& survey) {
    archive("version", survey.version);
    archive("program_version", survey.program_version);
    archive("commit", survey.commit);
    archive("dirty", survey.dirty);
    archive("started", survey.started);
    archive("effort", survey.effort);
    archive("fuzz_time", survey.fuzz_time);
    archive("waivers", survey.waivers);
    archive("subjects", survey.subjects);
    archive("environment", survey.environment);
    archive("table_hashes", survey.table_hashes);
    archive("steps", survey.steps);
    archive("complete", survey.complete);
}

template <typename Archive, json::Either<FileDigest> Given>
void describe(Archive& archive, Given& file) {
    archive("path", file.path);
    archive("bytes", file.bytes);
    archive("sha256", file.sha256);
}

template <typename Archive, json::Either<Manifest> Given>
void describe(Archive& archive, Given& manifest) {
    archive("version", manifest.version);
    archive("sentence", manifest.sentence);
    archive("exit_code", manifest.exit_code);
    archive("program_version", manifest.program_version);
    archive("commit", manifest.commit);
    archive("dirty", manifest.dirty);
    archive("subjects", manifest.subjects);
    archive("environment", manifest.environment);
    archive("table_hashes", manifest.table_hashes);
    archive("waivers", manifest.waivers);
    archive("not_run", manifest.not_run);
    archive("files", manifest.files);
}

namespace {

Error bad(const std::string& name, const std::string& what) {
    return bad_input(name + ": " + what);
}

template <typename Record>
Expected<Record> parse(std::string_view text, const std::string& name) {
    Record record;
    try {
        const Json json = Json::parse(text);
        int version = 0;
        if (const Status read = json::read_key(json, "version", version); !read)
            return bad(name, read.error().message);
        if (version != survey_format_version)
            return bad(name, "has format version " + std::to_string(version) +
                                 ", and this program reads " +
                                 std::to_string(survey_format_version));
        if (const Status read = json::read_record(json, record); !read)
            return bad(name, read.error().message);
    } catch (const Json::parse_error& problem) {
        return bad(name, "is not JSON, from byte " + std::to_string(problem.byte));
    } catch (const Json::exception&) {
        return bad(name, "is no object, or holds a number that no reader can keep");
    }
    return record;
}

}  // namespace

std::string text_of(const Survey& survey) {
    return json::lines_of(survey) + "\n";
}
std::string text_of(const Manifest& manifest) {
    return json::lines_of(manifest) + "\n";
}
Expected<Survey> parse_survey(std::string_view text, const std::string& name) {
    return parse<Survey>(text, name);
}
Expected<Manifest> parse_manifest(std::string_view text, const std::string& name) {
    return parse<Manifest>(text, name);
}

}  // namespace mx::results
