// See shard.hpp.
#include "conformance/session/shard.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "conformance/case/fields.hpp"

namespace mx::session {
namespace {

enum class Group { test_runner, array, rank, task };

// The name of a part's folder: shard-2-of-8.
constexpr std::string_view name_shard = "shard-";
constexpr std::string_view name_of = "-of-";

// A launcher: the variables of its index and count, and what the first index and the step are.
struct Source {
    Group group;
    const char* name;
    const char* index;
    const char* count;
    const char* first = nullptr;
    const char* step = nullptr;
};
constexpr std::array sources{
    Source{Group::test_runner, "Bazel", "TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS"},
    Source{Group::test_runner, "GoogleTest", "GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS"},
    Source{Group::array, "the Slurm array", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
           "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP"},
    Source{Group::array, "the Kubernetes job", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"},
    Source{Group::rank, "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    Source{Group::rank, "PMI", "PMI_RANK", "PMI_SIZE"},
    Source{Group::task, "the Slurm task", "SLURM_PROCID", "SLURM_NTASKS"},
};

struct Said {
    const Source* source;
    Shard shard;
};

Expected<std::uint64_t> number_in(const char* variable, const std::string& text) {
    return parse_number(std::string("the variable ") + variable, text);
}

Expected<std::uint64_t> number_or(std::uint64_t fallback, const char* variable,
                                  const Environment& environment) {
    const auto text = variable == nullptr ? std::nullopt : environment(variable);
    return text ? number_in(variable, *text) : Expected<std::uint64_t>(fallback);
}

// What one launcher says; nothing if it is not there.
Expected<std::optional<Shard>> said_by(const Source& source, const Environment& environment) {
    const auto index_text = environment(source.index);
    const auto count_text = environment(source.count);
    if (!index_text && !count_text) return std::optional<Shard>();
    // The script of sbatch without -n is a task of no number of tasks.
    if (source.group == Group::task && !count_text) return std::optional<Shard>();
    if (!index_text || !count_text)
        return bad_input(std::string("the variable ") + (index_text ? source.index : source.count) +
                         " is set, and " + (index_text ? source.count : source.index) + " is not");
    const auto index = number_in(source.index, *index_text);
    const auto count = number_in(source.count, *count_text);
    const auto first = number_or(0, source.first, environment);
    const auto step = number_or(1, source.step, environment);
    for (const auto* number : {&index, &count, &first, &step})
        if (!*number) return number->error();
    const std::uint64_t place = index.value() - first.value();
    const bool fits = index.value() >= first.value() && step.value() != 0 &&
                      place % step.value() == 0 && place / step.value() < count.value();
    if (!fits)
        return bad_input(std::string(source.index) + "=" + *index_text + " is no place among the " +
                         source.count + "=" + *count_text + " of " + source.name);
    return std::optional(Shard{place / step.value(), count.value()});
}

// Everything that is said and shards. Slurm's tasks count only where no rank is known: under mpirun
// they are the processes that start the ranks.
Expected<std::vector<Said>> all_said(const Environment& environment) {
    std::vector<Said> one_part, parts;
    bool has_ranks = false;
    for (const Source& source : sources) {
        if (source.group == Group::task && has_ranks) continue;
        const auto shard = said_by(source, environment);
        if (!shard) return shard.error();
        if (!shard.value()) continue;
        has_ranks = has_ranks || source.group == Group::rank;
        (shard.value()->count == 1 ? one_part : parts).push_back({&source, *shard.value()});
    }
    return parts.empty() ? one_part : parts;
}

}  // namespace

std::string text_of(Shard shard) {
    return std::to_string(shard.index) + "/" + std::to_string(shard.count);
}

std::string part_folder(const std::string& out, Shard shard) {
    if (shard.count == 1) return out;
    std::string name(name_shard);
    name += std::to_string(shard.index) + std::string(name_of) + std::to_string(shard.count);
    return (std::filesystem::path(out) / name).string();
}

std::vector<std::string> part_folders(const std::string& out) {
    std::vector<std::string> folders;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(out, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        const std::size_t of = name.find(name_of);
        if (!name.starts_with(name_shard) || of == std::string::npos) continue;
        const auto shard = parse_shard(name.substr(name_shard.size(), of - name_shard.size()) +
                                       "/" + name.substr(of + name_of.size()));
        if (shard && part_folder(out, shard.value()) == entry->path())
            folders.push_back(entry->path());
    }
    std::sort(folders.begin(), folders.end());
    if (folders.empty()) folders.push_back(out);
    return folders;
}

Environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        if (value == nullptr || *value == '\0') return std::nullopt;
        return value;
    };
}

Expected<Shard> shard_of(const std::string& option, const Environment& environment) {
    if (option != "auto") return parse_shard(option);
    const auto said = all_said(environment);
    if (!said) return said.error();
    if (said.value().empty()) {
        std::string names;
        for (const Source& source : sources)
            names += std::string(names.empty() ? "" : ", ") + source.index;
        return bad_input("--shard auto finds no launcher: none of these is set: " + names);
    }
    const Said& first = said.value().front();
    for (const Said& other : said.value())
        if (text_of(other.shard) != text_of(first.shard))
            return bad_input(std::string("--shard auto: ") + first.source->name + " says " +
                             text_of(first.shard) + " and " + other.source->name + " says " +
                             text_of(other.shard) + "; say which with --shard I/N");
    return first.shard;
}

std::string ignored_shard(const Environment& environment) {
    const auto said = all_said(environment);
    if (!said || said.value().empty() || said.value().front().shard.count == 1) return "";
    const Said& first = said.value().front();
    return std::string(first.source->name) + " says shard " + text_of(first.shard) +
           ", and without --shard auto this run does all cases";
}

void acknowledge_shard(const Environment& environment) {
    if (const auto path = environment("TEST_SHARD_STATUS_FILE"); path) std::ofstream touched(*path);
}

}  // namespace mx::session
