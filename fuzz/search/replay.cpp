// See replay.hpp.
#include "fuzz/search/replay.hpp"

#include <algorithm>
#include <filesystem>

#include "conformance/run/runner.hpp"
#include "fuzz/search/store.hpp"

namespace mx::fuzz {
namespace {

std::filesystem::path finds_of(const std::string& folder) {
    return std::filesystem::path(folder) / "finds";
}

}  // namespace

Expected<results::CaseResult> replay(const Replayer& device, const std::vector<Case>& cases) {
    const auto client = device.open();
    if (!client) return client.error();
    Sources sources;
    Runner runner(client.value(), sources, {device.device_argument});
    Expected<results::CaseResult> result = results::CaseResult{};
    for (const Case& c : cases) result = runner.run({"fuzz", c});
    return result;
}

Status make_finds_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(finds_of(folder), error);
    if (!error) return success();
    return bad_input(folder + ": cannot make this folder: " + error.message());
}

Expected<std::vector<Remembered>> replay_remembered(const Replayer& device,
                                                    const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(finds_of(folder), ignored))
        if (entry.path().extension() == ".case") paths.push_back(entry.path().string());
    std::ranges::sort(paths);
    std::vector<Remembered> all;
    for (const std::string& path : paths) {
        const auto cases = read_find(path);
        if (!cases) return cases.error();
        if (cases.value().empty()) continue;
        const auto result = replay(device, cases.value());
        if (!result) return result.error();
        all.push_back({path, result.value()});
    }
    return all;
}

results::Verdict verdict_of(Outcome outcome) {
    using results::Verdict;
    if (outcome == Outcome::crash) return Verdict::crash;
    if (outcome == Outcome::timeout) return Verdict::timeout;
    if (outcome == Outcome::error) return Verdict::device_error;
    return outcome == Outcome::own_fault ? Verdict::oracle_disagreement : Verdict::fail;
}

}  // namespace mx::fuzz
