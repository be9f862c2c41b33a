// Writes a results file so that it can be read after any crash, kill or full disk. Used by the
// program while cases run. Must not know JSON: record_json does.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "conformance/results/record_json.hpp"
#include "conformance/results/results_file.hpp"

namespace mx::results {
namespace {

constexpr mode_t file_mode = 0644;

// File systems without locks are accepted as they are: only a lock held by somebody else refuses.
Status lock(const FileDescriptor& file, const std::string& path) {
    if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return success();
    return Error{ErrorKind::system, path + ": another run is writing to this file"};
}

std::string text_of(const std::vector<Field>& fields) {
    std::string text;
    for (const Field& field : fields)
        text += (text.empty() ? "" : ", ") + field.key + "=" + field.value;
    return text;
}

// A waiver may have expired since.
std::string text_of(const std::vector<Waiver>& waivers) {
    std::string text;
    for (const Waiver& waiver : waivers) text += (text.empty() ? "" : ", ") + waiver.state;
    return text;
}

std::vector<Field> deciding_fields(const RunHeader& header) {
    return {
        {"version", std::to_string(header.version)},
        {"program_version", header.program_version},
        {"commit", header.commit},
        {"level", header.level},
        {"suites", header.suites},
        {"dialects", header.dialects},
        {"seed", std::to_string(header.seed)},
        {"shard", header.shard},
        {"case_count", std::to_string(header.case_count)},
        {"device", header.device},
        {"device_facts", text_of(header.device_facts)},
        {"table_hashes", text_of(header.table_hashes)},
        {"waivers", text_of(header.waivers)},
        {"demands", text_of(header.demands)},
    };
}

// Results of two different runs must not end up in one file.
Status require_same_run(const std::string& path, const RunHeader& file, const RunHeader& now) {
    // Through the file's own text, where bytes that are not UTF-8 have already been replaced.
    const Expected<Record> as_written = record_of(line_of(now));
    if (!as_written.ok()) return as_written.error();
    const std::vector<Field> before = deciding_fields(file);
    const std::vector<Field> after = deciding_fields(std::get<RunHeader>(as_written.value()));
    for (std::size_t i = 0; i < before.size(); ++i)
        if (before[i] != after[i])
            return bad_input(path + ": cannot resume, " + before[i].key + " was \"" +
                             before[i].value + "\" and is now \"" + after[i].value + "\"");
    return success();
}

}  // namespace

Expected<ResultsWriter> ResultsWriter::create(const std::string& path, const RunHeader& header,
                                              ExistingFile existing) {
    const bool refuse = existing == ExistingFile::refuse;
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (refuse ? O_EXCL : 0);
    FileDescriptor file(::open(path.c_str(), flags, file_mode));
    if (!file.is_open()) {
        if (errno == EEXIST)
            return bad_input(path +
                             ": already exists; resume it, or say that it may be overwritten");
        return system_error(path, "cannot create", errno);
    }
    if (const Status locked = lock(file, path); !locked.ok()) return locked.error();
    // Emptied only under the lock; what cannot be emptied (a pipe, a device) has nothing to lose.
    if (::ftruncate(file.number(), 0) != 0 && errno != EINVAL)
        return system_error(path, "cannot empty", errno);

    ResultsWriter writer(path, std::move(file), 0);
    if (const Status written = writer.write_line(line_of(header)); !written.ok()) {
        if (refuse) ::unlink(path.c_str());  // ours, and empty
        return written.error();
    }
    return writer;
}

Expected<ResultsWriter::Resumed> ResultsWriter::resume(const std::string& path,
                                                       const RunHeader& header) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file.is_open()) return system_error(path, "cannot open", errno);
    if (const Status locked = lock(file, path); !locked.ok()) return locked.error();
    const Expected<std::string> text = read_all(file, path);
    if (!text.ok()) return text.error();
    Expected<ParsedResults> parsed = parse_for_resume(text.value(), path);
    if (!parsed.ok()) return parsed.error();

    Run& run = parsed.value().run;
    if (const Status same = require_same_run(path, run.header, header); !same.ok())
        return same.error();
    const std::uint64_t size = parsed.value().appendable_size;
    if (::ftruncate(file.number(), static_cast<off_t>(size)) != 0)
        return system_error(path, "cannot drop its unfinished end", errno);
    if (::lseek(file.number(), 0, SEEK_END) < 0) return system_error(path, "cannot seek", errno);
    return Resumed{ResultsWriter(path, std::move(file), size), std::move(run.header),
                   std::move(run.cases)};
}

Status ResultsWriter::append(const CaseResult& result) {
    return write_line(line_of(result));
}

Status ResultsWriter::rename(const std::string& path) {
    if (std::rename(path_.c_str(), path.c_str()) != 0)
        return system_error(path, "cannot create", errno);
    path_ = path;
    return success();
}

Status ResultsWriter::finish(const RunFooter& footer) {
    if (const Status written = write_line(line_of(footer)); !written.ok()) return written.error();
    // What cannot be synchronised (a pipe) answers EINVAL or EROFS; that is no failure of the disk.
    if (::fsync(file_.number()) != 0 && errno != EINVAL && errno != EROFS)
        return system_error(path_, "cannot write", errno);
    if (::close(file_.release()) != 0) return system_error(path_, "cannot close", errno);
    return success();
}

Status ResultsWriter::write_line(const std::string& line) {
    if (!file_.is_open())
        return Error{ErrorKind::system, path_ + ": the run is finished, nothing can be added"};
    std::size_t done = 0;
    while (done < line.size()) {
        const ssize_t count = ::write(file_.number(), line.data() + done, line.size() - done);
        if (count > 0) {
            done += static_cast<std::size_t>(count);
            continue;
        }
        const int problem = count < 0 ? errno : ENOSPC;
        if (problem == EINTR) continue;
        // Back to the last whole line. If even that fails, readers drop the unfinished end.
        if (::ftruncate(file_.number(), static_cast<off_t>(size_)) == 0)
            ::lseek(file_.number(), 0, SEEK_END);
        return system_error(path_, "cannot write", problem);
    }
    size_ += line.size();
    return success();
}

}  // namespace mx::results
