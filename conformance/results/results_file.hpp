// The results file: JSON Lines, a header, one line per case, a footer; schema.json describes it.
// Written by the program, read by everything that reports on a run. Must not know devices, oracles
// or any page made from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results/file_descriptor.hpp"
#include "conformance/results/record.hpp"
#include "reference/base/status.hpp"

namespace mx::results {

// Reads a whole file. A last line without its newline was never finished and is dropped; anything
// else that is not as written by ResultsWriter is an error that names the line. A missing footer is
// no error: the run was interrupted, and complete is false.
Expected<Run> read_results(const std::string& path);

// The same for text already in memory; `name` stands for the path in errors.
Expected<Run> parse_results(std::string_view text, const std::string& name);

// The footer that these cases call for; seconds and exit_code are left for the caller.
RunFooter count_cases(std::span<const CaseResult> cases);

enum class ExistingFile { refuse, replace };

// Appends one whole line at a time with write(2). Whatever fails, the file on disk ends with a
// whole line, so that every result before the failure can be read. While it lives, the file is
// locked against a second writer.
class ResultsWriter {
public:
    static Expected<ResultsWriter> create(const std::string& path, const RunHeader& header,
                                          ExistingFile existing = ExistingFile::refuse);

    // Goes on where an earlier run stopped. Refuses a file whose header differs from `header` in
    // anything that decides the cases or the bits. A finished file loses its footer and can be
    // finished again. The header in the file stays as it was.
    struct Resumed;
    static Expected<Resumed> resume(const std::string& path, const RunHeader& header);

    Status append(const CaseResult& result);

    // Gives the file another name in its folder, while it is written. What has that name is lost.
    Status rename(const std::string& path);

    // Writes the footer, waits for the disk and closes. Nothing may be appended afterwards.
    Status finish(const RunFooter& footer);

private:
    ResultsWriter(std::string path, FileDescriptor file, std::uint64_t size)
        : path_(std::move(path)), file_(std::move(file)), size_(size) {}
    Status write_line(const std::string& line);

    std::string path_;
    FileDescriptor file_;
    std::uint64_t size_ = 0;  // of the whole lines written so far
};

struct ResultsWriter::Resumed {
    ResultsWriter writer;
    RunHeader header;               // as it stands in the file
    std::vector<CaseResult> cases;  // those already done
};

// What a parse finds beside the run; for ResultsWriter::resume.
struct ParsedResults {
    Run run;
    std::uint64_t appendable_size = 0;  // bytes up to where the next case line belongs
};
Expected<ParsedResults> parse_for_resume(std::string_view text, const std::string& name);

// Reads all of an open file; `path` is for the error.
Expected<std::string> read_all(const FileDescriptor& file, const std::string& path);

// "PATH: WHAT: No such file or directory", from errno as it was when the call failed.
Error system_error(const std::string& path, std::string_view what, int error_number);

}  // namespace mx::results
