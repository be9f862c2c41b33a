// See results_folder.hpp.
#include "conformance/cli/results_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace mx::cli {
namespace {

// A writer holds the file's lock while it lives.
bool is_being_written(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool locked = ::flock(file, LOCK_EX | LOCK_NB) != 0;
    ::close(file);
    return locked;
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

Status move_aside(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return success();
    if (is_being_written(path))
        return Error{ErrorKind::bad_input, path + ": another run is writing it"};
    const std::string previous =
        std::filesystem::path(path).replace_extension(".previous.jsonl").string();
    std::filesystem::rename(path, previous, error);
    if (error) return Error{ErrorKind::system, "cannot move " + path + ": " + error.message()};
    std::fprintf(stderr, "mxcheck: the earlier results are now %s\n", previous.c_str());
    return success();
}

Expected<results::ResultsWriter> new_results(const std::string& out,
                                             const results::RunHeader& header) {
    const std::string path = results_path(out);
    if (const Status moved = move_aside(path); !moved) return moved.error();
    return results::ResultsWriter::create(path, header);
}

}  // namespace mx::cli
