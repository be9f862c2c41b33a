// See results_folder.hpp.
#include "conformance/session/results_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

namespace mx::session {
namespace {

// A writer holds the file's lock while it lives.
bool is_being_written(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool locked = ::flock(file, LOCK_EX | LOCK_NB) != 0;
    ::close(file);
    return locked;
}

// The first that is free, counted from the oldest.
std::string previous_name(const std::string& path) {
    std::error_code error;
    for (int generation = 1;; ++generation) {
        const std::string number = generation == 1 ? "" : "." + std::to_string(generation);
        const auto name =
            std::filesystem::path(path).replace_extension(".previous" + number + ".jsonl");
        if (!std::filesystem::exists(name, error)) return name.string();
    }
}

// Before the record changes that they speak of: a run that is killed would leave the verdict of the
// one before it. What is not there need not be.
Status remove_reports(const ResultsFolder& folder) {
    for (const std::string& name : folder.reports) {
        const std::string path = (std::filesystem::path(folder.path) / name).string();
        std::error_code error;
        std::filesystem::remove(path, error);
        if (error)
            return Error{
                ErrorKind::system,
                path + ": cannot remove, and it tells of an earlier run: " + error.message()};
    }
    return success();
}

}  // namespace

std::string results_path(const std::string& out) {
    return (std::filesystem::path(out) / "results.jsonl").string();
}

Status prepare_folder(const std::string& out) {
    std::error_code error;
    std::filesystem::create_directories(out, error);
    if (error)
        return Error{ErrorKind::system, "cannot make the folder " + out + ": " + error.message()};
    return success();
}

Status move_aside(const std::string& path, const Say& say) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return success();
    if (is_being_written(path)) return bad_input(path + ": another run is writing it");
    const std::string previous = previous_name(path);
    std::filesystem::rename(path, previous, error);
    if (error) return Error{ErrorKind::system, "cannot move " + path + ": " + error.message()};
    say("the earlier results are now " + previous);
    return success();
}

std::string new_results_path(const std::string& out) {
    return (std::filesystem::path(out) / "results.new.jsonl").string();
}

Expected<FolderRecord> FolderRecord::begin(const ResultsFolder& folder,
                                           const results::RunHeader& header, const Say& say) {
    using results::ExistingFile;
    const std::string& out = folder.path;
    const std::string path = results_path(out);
    std::error_code error;
    const bool has_earlier = std::filesystem::exists(path, error);
    if (has_earlier && is_being_written(path))
        return bad_input(path + ": another run is writing it");
    const std::string begun = has_earlier ? new_results_path(out) : path;
    auto writer = results::ResultsWriter::create(
        begun, header, has_earlier ? ExistingFile::replace : ExistingFile::refuse);
    if (!writer) return writer.error();
    FolderRecord record(out, std::move(writer).value(), say);
    if (has_earlier) record.new_path_ = std::make_unique<const std::string>(begun);
    if (const Status removed = remove_reports(folder); !removed) return removed.error();
    return record;
}

Expected<FolderRecord> FolderRecord::resumed(const ResultsFolder& folder,
                                             results::ResultsWriter writer) {
    if (const Status removed = remove_reports(folder); !removed) return removed.error();
    return FolderRecord(folder.path, std::move(writer), [](const std::string&) {});
}

FolderRecord::~FolderRecord() {
    if (new_path_) ::unlink(new_path_->c_str());
}

Status FolderRecord::take_its_name() {
    if (!new_path_) return success();
    const std::string path = results_path(out_);
    if (const Status moved = move_aside(path, say_); !moved) return moved;
    if (const Status renamed = writer_.rename(path); !renamed) return renamed;
    new_path_.reset();
    return success();
}

Status FolderRecord::append(const results::CaseResult& result) {
    if (const Status named = take_its_name(); !named) return named;
    return writer_.append(result);
}

Status FolderRecord::finish(const results::RunFooter& footer) {
    if (const Status named = take_its_name(); !named) return named;
    return writer_.finish(footer);
}

}  // namespace mx::session
