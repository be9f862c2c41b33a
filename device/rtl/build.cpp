// See build.hpp.
#include "device/rtl/build.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>

#include "device/rtl/carried_files.hpp"
#include "reference/base/files.hpp"
#include "reference/base/text.hpp"

extern char** environ;

namespace mx::rtl {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* compiler = "c++";

Status write_text(const fs::path& path, const std::string& text) {
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    return write_atomically(path.string(), {std::as_bytes(std::span(text))});
}

// Runs a program to its end, both of its streams to `output`. Its exit code, 127 where there is no
// such program.
int run(const Words& words, int output) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, 1);
    ::posix_spawn_file_actions_adddup2(&actions, output, 2);
    pid_t child = -1;
    const int failed =
        ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return 127;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string whole(const fs::path& path) {
    const auto text = text_of_file(path.string());
    return text ? text.value() : std::string();
}

// What a program printed, on one line; "" where it failed.
std::string printed_by(const Words& words) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::tmpfile(), std::fclose);
    if (file == nullptr || run(words, ::fileno(file.get())) != 0) return "";
    std::rewind(file.get());
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    return printable(text);
}

// FNV-1a, of 64 bits: it names a folder, and nobody attacks it.
class Hash {
public:
    void add(const std::string& text) {
        for (const char letter : text + '\0')
            value_ = (value_ ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
    }
    std::string text() const {
        std::array<char, 17> digits{};
        std::snprintf(digits.data(), digits.size(), "%016llx",
                      static_cast<unsigned long long>(value_));
        return digits.data();
    }

private:
    std::uint64_t value_ = 0xcbf29ce484222325u;
};

// The first line that says what is wrong, else the last one.
std::string reason_in(const std::string& log) {
    std::istringstream lines(log);
    std::string line, last;
    while (std::getline(lines, line)) {
        if (line.find("%Error") != std::string::npos || line.find("error:") != std::string::npos)
            return printable(line);
        if (!line.empty()) last = line;
    }
    return printable(last);
}

class Build {
public:
    Build(const Description& description, Trace trace, std::string cache)
        : description_(description), trace_(trace), cache_(std::move(cache)) {}

    Expected<std::string> plugin() {
        std::error_code failed;
        fs::create_directories(cache_, failed);
        if (failed)
            return bad_input("the folder " + cache_ + " cannot be made: " + failed.message());
        simulator_ = printed_by({"verilator", "--version"});
        if (simulator_.empty())
            return bad_input(description_.path +
                             ": verilator is not to be found, or does not say its version; on "
                             "Debian, apt-get install verilator");
        root_ = printed_by({"verilator", "--getenv", "VERILATOR_ROOT"});
        key_ = key();
        const fs::path kept = fs::path(cache_) / key_;
        if (fs::exists(kept / "device.so", failed)) return (kept / "device.so").string();
        folder_ = kept.string() + "." + std::to_string(::getpid());
        const Status made = make();
        if (made) fs::rename(folder_, kept, failed);
        // Another process may have been faster.
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
        if (!made) return made.error();
        return (kept / "device.so").string();
    }

private:
    std::string key() const {
        Hash hash;
        hash.add(simulator_);
        hash.add(std::to_string(static_cast<int>(trace_)));
        hash.add(whole(description_.path));
        hash.add(description_.path);
        for (const auto& [name, value] : description_.parameters) hash.add(name + "=" + value);
        for (const CarriedFile& file : carried_files()) hash.add(file.text);
        Words sources = description_.files;
        for (const std::string& folder : description_.include) {
            std::error_code ignored;
            for (const auto& entry : fs::directory_iterator(folder, ignored))
                if (entry.is_regular_file(ignored)) sources.push_back(entry.path().string());
        }
        std::ranges::sort(sources);
        for (const std::string& source : sources) hash.add(source + whole(source));
        return hash.text();
    }

    // As Error: what the log of the step says.
    Status step(const std::string& what, const Words& words) {
        const fs::path log = fs::path(folder_) / "build.log";
        const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        const int code = output < 0 ? 127 : run(words, output);
        if (output >= 0) ::close(output);
        log_ = whole(log);
        if (code == 0) return success();
        const fs::path kept = fs::path(cache_) / (key_ + ".log");
        std::error_code ignored;
        fs::copy_file(log, kept, fs::copy_options::overwrite_existing, ignored);
        return bad_input(description_.path + ": " + what + " failed: " + reason_in(log_) +
                         " (all of it is in " + kept.string() + ")");
    }

    Words verilation() const {
        Words words{"verilator",    "--cc",
                    "--prefix",     "Vmx_design",
                    "--top-module", description_.setup.top,
                    "-Mdir",        folder_ + "/model",
                    "-O3",          "-Wno-fatal",
                    "-Wno-lint",    "-Wno-style",
                    "--x-assign",   "unique",
                    "--x-initial",  "unique"};
        if (trace_ == Trace::vcd) words.emplace_back("--trace");
        if (trace_ == Trace::fst) words.emplace_back("--trace-fst");
        for (const auto& [name, value] : description_.parameters)
            words.push_back("-G" + name + "=" + value);
        for (const auto& [name, value] : description_.defines)
            words.push_back("+define+" + name + (value.empty() ? "" : "=" + value));
        for (const std::string& folder : description_.include) words.push_back("-I" + folder);
        words.insert(words.end(), description_.files.begin(), description_.files.end());
        return words;
    }

    Status make() {
        for (const CarriedFile& file : carried_files())
            if (const Status written = write_text(fs::path(folder_) / file.path, file.text);
                !written)
                return written;
        if (const Status done = step("verilator", verilation()); !done) return done;
        const std::string frozen =
            log_.find("UNOPTFLAT") == std::string::npos
                ? ""
                : "; Verilator warned of UNOPTFLAT, where version 5.006 was seen to freeze designs";
        const auto ports = ports_in(whole(fs::path(folder_) / "model/Vmx_design.h"));
        if (const Status fit = check_ports(description_, ports); !fit) return fit;
        const Status known_good =
            step("verilating the known-good module",
                 {"verilator", "--cc", "--prefix", "Vmx_known_good", "-Mdir", folder_ + "/model",
                  folder_ + "/device/rtl/driver/mx_known_good.sv"});
        if (!known_good) return known_good;
        const Status written =
            write_text(fs::path(folder_) / "plugin.cpp",
                       plugin_source(description_.setup, ports, trace_,
                                     {key_, simulator_, "canary passed" + frozen}));
        if (!written) return written;
        return compile();
    }

    Words compilation() const {
        const std::string include = root_ + "/include";
        return {compiler,
                "-std=c++20",
                "-O2",
                "-fPIC",
                "-w",
                "-I" + folder_,
                "-I" + folder_ + "/model",
                "-I" + include,
                "-I" + include + "/vltstd",
                "-DVERILATOR=1",
                "-DVM_SC=0",
                "-DVM_COVERAGE=0",
                std::string("-DVM_TRACE=") + (trace_ == Trace::none ? "0" : "1"),
                std::string("-DVM_TRACE_VCD=") + (trace_ == Trace::vcd ? "1" : "0"),
                std::string("-DVM_TRACE_FST=") + (trace_ == Trace::fst ? "1" : "0")};
    }

    // What the generated makefiles call the global classes: files of Verilator's own folder.
    std::set<std::string> runtime_sources() const {
        std::set<std::string> found;
        for (const char* makefile : {"Vmx_design_classes.mk", "Vmx_known_good_classes.mk"}) {
            std::istringstream lines(whole(fs::path(folder_) / "model" / makefile));
            bool is_global = false;
            for (std::string line; std::getline(lines, line);) {
                if (line.starts_with("VM_GLOBAL_")) {
                    is_global = true;
                } else if (line.empty() || line[0] != '\t') {
                    is_global = false;
                } else if (is_global) {
                    const std::size_t end = line.find_first_of(" \\", 1);
                    found.insert(line.substr(1, end - 1));
                }
            }
        }
        return found;
    }

    // Objects of Verilator's own sources, which all designs share.
    Expected<Words> runtime() {
        Hash hash;
        for (const std::string& word : compilation())
            if (word.find(folder_) == std::string::npos) hash.add(word);
        hash.add(simulator_);
        hash.add(root_);
        const fs::path kept = fs::path(cache_) / ("verilator-" + hash.text());
        Words objects;
        for (const std::string& name : runtime_sources()) {
            const std::string object = (kept / (name + ".o")).string();
            objects.push_back(object);
            std::error_code failed;
            if (fs::exists(object, failed)) continue;
            fs::create_directories(kept, failed);
            const std::string made = object + "." + std::to_string(::getpid());
            Words words = compilation();
            words.insert(words.end(), {"-c", root_ + "/include/" + name + ".cpp", "-o", made});
            if (const Status done = step("compiling " + name + ".cpp of Verilator", words); !done)
                return done.error();
            fs::rename(made, object, failed);
        }
        return objects;
    }

    Status compile() {
        std::string all;
        for (const auto& entry : fs::directory_iterator(fs::path(folder_) / "model"))
            if (entry.path().extension() == ".cpp")
                all += "#include \"" + entry.path().filename().string() + "\"\n";
        if (const Status written = write_text(fs::path(folder_) / "model/all.cc", all); !written)
            return written;
        const auto objects = runtime();
        if (!objects) return objects.error();
        Words words = compilation();
        words.insert(words.end(), {"-shared", folder_ + "/model/all.cc", folder_ + "/plugin.cpp"});
        words.insert(words.end(), objects.value().begin(), objects.value().end());
        words.insert(words.end(), {"-pthread", "-o", folder_ + "/device.so"});
        if (trace_ == Trace::fst) words.emplace_back("-lz");
        return step("compiling the design", words);
    }

    const Description& description_;
    Trace trace_;
    std::string cache_, simulator_, root_, key_, folder_, log_;
};

}  // namespace

Expected<std::string> built(const Description& description, Trace trace, const std::string& cache) {
    return Build(description, trace, cache).plugin();
}

}  // namespace mx::rtl
