// mxcheck selftest: the planted bugs, how many this build catches, and what other rules miss.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/jobs.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/selftest/generated.hpp"
#include "conformance/selftest/selftest.hpp"
#include "reference/base/files.hpp"

namespace mx::cli {
namespace {

struct SelftestOptions {
    std::string mutants;
    std::string level = "quick";
    std::string on = "all";
    std::string json;
    std::string out;
    std::uint64_t generated = 0;
    std::uint64_t seed = 0;
    std::uint64_t jobs = 0;  // 0: as many as the cores, within bounds
    bool names_causes = false;
};

std::size_t jobs_of(const SelftestOptions& options) {
    return options.jobs != 0 ? options.jobs : jobs_for_cores();
}

// Beside the program: in its build folder, else where it is installed.
std::string default_mutants_folder() {
    const std::filesystem::path program = executable_folder();
    const auto built = (program / ".." / "lib" / "mutants").lexically_normal();
    std::error_code ignored;
    if (std::filesystem::is_directory(built, ignored)) return built.string();
    return (program / ".." / "lib" / "mxcheck" / "mutants").lexically_normal().string();
}

struct TextFile {
    std::string path;
    std::string text;
};

// False after a complaint.
bool write_files(const std::vector<TextFile>& files) {
    bool written = true;
    for (const TextFile& file : files) {
        const Status status = write_atomically(file.path, {std::as_bytes(std::span(file.text))});
        if (status) continue;
        complain(status.error().message);
        written = false;
    }
    return written;
}

std::vector<TextFile> files_of(const SelftestOptions& options, const selftest::KillTable& table) {
    std::vector<TextFile> files;
    if (!options.json.empty()) files.push_back({options.json, render_json(table)});
    if (options.out.empty()) return files;
    const std::filesystem::path folder = options.out;
    files.push_back({(folder / "kill_table.json").string(), render_json(table)});
    files.push_back({(folder / "kill_table.md").string(), render_markdown(table)});
    return files;
}

// False after a complaint. Before the work, so that it is not done in vain.
bool make_folder(const std::string& folder) {
    std::error_code error;
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    if (error) complain(folder + ": cannot be made: " + error.message());
    return !error;
}

Expected<selftest::KillTable> run_with_progress(const selftest::Subjects& subjects,
                                                const SelftestOptions& options) {
    std::optional<Progress> progress;
    selftest::Settings settings;
    settings.level = options.level;
    settings.names_causes = options.names_causes;
    settings.jobs = jobs_of(options);
    settings.progress = [&progress](const selftest::Step& step) {
        if (!progress) progress.emplace("steps", step.total);
        progress->update(step.done, step.name);
    };
    return selftest::run_selftest(subjects, settings);
}

// Problems first: where some of the bugs could not be run, what was run may still have failed.
int exit_code_of(const SelftestOptions& options, const selftest::KillTable& table) {
    if (!table.problems.empty()) return exit_self_test;
    if (options.on != "gpu" || table.gpu.not_run.empty()) return exit_conformant;
    complain("nothing was tested: " + table.gpu.not_run);
    return exit_nothing_tested;
}

bool is_pattern(const std::string& on) {
    return on.find('*') != std::string::npos;
}

// Those bugs alone whose names match, with the bases and canaries of their libraries.
Expected<selftest::Subjects> matching(selftest::Subjects subjects, const std::string& pattern) {
    std::size_t count = 0;
    for (auto* bugs :
         {&subjects.bugs, &subjects.real_scales.bugs, &subjects.gemm.bugs, &subjects.gpu.bugs}) {
        std::erase_if(
            *bugs, [&](const selftest::Subject& bug) { return !matches_glob(pattern, bug.name); });
        count += bugs->size();
    }
    if (count == 0) return bad_input("no planted bug matches '" + pattern + "'");
    return subjects;
}

Expected<selftest::Subjects> chosen_subjects(const std::string& on, const std::string& folder) {
    if (on == "gpu") return selftest::find_gpu_subjects(folder);
    auto subjects = selftest::find_subjects(folder);
    if (!subjects || !is_pattern(on)) return subjects;
    return matching(std::move(subjects).value(), on);
}

// False after a complaint.
bool are_known(const SelftestOptions& options) {
    for (const Status& known :
         {check_jobs(options.jobs),
          check_name("level of the self-test", options.level, {"smoke", "quick"}),
          is_pattern(options.on)
              ? success()
              : check_name("part of the self-test", options.on, {"all", "gpu"})}) {
        if (known) continue;
        complain(known.error().message);
        return false;
    }
    return true;
}

// Bugs that are drawn, instead of those that were planted.
int test_causes(const SelftestOptions& options) {
    Progress progress("bugs", options.generated);
    const selftest::GeneratedTable table =
        selftest::hunt_generated(options.generated, options.seed, jobs_of(options),
                                 [&](std::size_t done) { progress.update(done, ""); });
    for (const std::string& problem : table.problems) complain(problem);
    std::fputs(render_text(table).c_str(), stdout);
    return table.problems.empty() ? exit_conformant : exit_self_test;
}

int self_test(const SelftestOptions& options) {
    if (!are_known(options) || !make_folder(options.out)) return exit_usage;
    if (options.generated > 0) return test_causes(options);
    const std::string folder = options.mutants.empty() ? default_mutants_folder() : options.mutants;
    const auto subjects = chosen_subjects(options.on, folder);
    if (!subjects) {
        complain(subjects.error().message);
        const bool is_default = options.mutants.empty() && !is_pattern(options.on);
        return is_default ? exit_self_test : exit_usage;
    }
    const auto table = run_with_progress(subjects.value(), options);
    if (!table) {
        complain(table.error().message);
        return exit_self_test;
    }
    for (const std::string& problem : table.value().problems) complain(problem);
    const bool written = write_files(files_of(options, table.value()));
    std::fputs(render_text(table.value()).c_str(), stdout);
    const int code = exit_code_of(options, table.value());
    return code == exit_conformant && !written ? exit_usage : code;
}

}  // namespace

Command selftest_command() {
    auto o = std::make_shared<SelftestOptions>();
    return {
        "selftest",
        "the planted bugs: how many of them this build catches, and by which case",
        "mxcheck selftest --out out",
        {{"--causes", "say of each whether the cause that a run names is right; takes longer",
          &o->names_causes},
         {"--generated", "so many bugs drawn by number instead: is the right cause named?",
          &o->generated},
         {"--seed", "of --generated: others than those of seed 0", &o->seed},
         {"--mutants", "folder of the planted bugs (default beside the program)", &o->mutants},
         {"--level", "smoke or quick; smoke alone lets a quarter of them survive", &o->level},
         {"--on", "all; gpu: those of a GPU alone; or those of such a name: 'gemm_*'", &o->on},
         {"--jobs", "processes that share the work (default one per core, at most 16)", &o->jobs},
         {"--json", "write the kill table to this file", &o->json},
         {"--out", "folder for kill_table.json and kill_table.md", &o->out}},
        [o] { return self_test(*o); }};
}

}  // namespace mx::cli
