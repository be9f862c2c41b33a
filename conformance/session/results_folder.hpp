// The folder that a run is written to, and results.jsonl in it. Used by campaigns, relate, merge
// and bench.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/results/results_file.hpp"
#include "conformance/session/listener.hpp"

namespace mx::session {

struct ResultsFolder {
    std::string path = "out";
    std::vector<std::string> reports = {};  // names of files in it that speak of its record
};

// "out/results.jsonl"
std::string results_path(const std::string& out);

// Makes the folder if it is not there.
Status prepare_folder(const std::string& out);

// An earlier file of this path is kept beside it, and `say` is told its name:
// "out/bench.previous.jsonl", and the next as "out/bench.previous.2.jsonl", so that none is ever
// lost.
Status move_aside(const std::string& path, const Say& say);

// Where a new record lies until it has its first case, "out/results.new.jsonl". It is there after
// the end of a run alone if that was killed before.
std::string new_results_path(const std::string& out);

// The results file of a folder, being written. An earlier one stays where it is until the new one
// has its first case, and is then moved aside: a run that comes to nothing costs no record. The
// reports of the folder are removed at once, for they do not speak of the new record.
class FolderRecord {
public:
    static Expected<FolderRecord> begin(const ResultsFolder& folder,
                                        const results::RunHeader& header, const Say& say);
    static Expected<FolderRecord> resumed(const ResultsFolder& folder,
                                          results::ResultsWriter writer);
    FolderRecord(FolderRecord&&) = default;
    // Removes a new record that has no case and stands beside an earlier one.
    ~FolderRecord();

    Status append(const results::CaseResult& result);
    Status finish(const results::RunFooter& footer);

private:
    FolderRecord(const std::string& out, results::ResultsWriter writer, const Say& say)
        : out_(out), writer_(std::move(writer)), say_(say) {}
    Status take_its_name();

    std::string out_;
    results::ResultsWriter writer_;
    Say say_;
    std::unique_ptr<const std::string> new_path_ = {};  // until it takes its name
};

}  // namespace mx::session
