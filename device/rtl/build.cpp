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

// The first line that a program printed; "" where it failed.
std::string printed_by(const Words& words) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::tmpfile(), std::fclose);
    if (file == nullptr || run(words, ::fileno(file.get())) != 0) return "";
    std::rewind(file.get());
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    return printable(text.substr(0, text.find('\n')));
}

std::string simulator() {
    return printed_by({"verilator", "--version"});
}
constexpr const char* no_simulator =
    "verilator is not to be found, or does not say its version; on Debian, apt-get install "
    "verilator";

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
        simulator_ = simulator();
        if (simulator_.empty()) return bad_input(description_.path + ": " + no_simulator);
        root_ = printed_by({"verilator", "--getenv", "VERILATOR_ROOT"});
        key_ = device_key();
        const fs::path device = fs::path(kept_folder(key_)) / "device.so";
        if (fs::exists(device, failed)) return device.string();
        model_ = kept_folder("model-" + model_key());
        shared_ = kept_folder("verilator-" + shared_key());
        const Status made = in_new_folder(kept_folder(key_), [&] { return make(); });
        if (!made) return made.error();
        return device.string();
    }

private:
    std::string kept_folder(const std::string& name) const {
        return (fs::path(cache_) / name).string();
    }

    // Fills a folder under another name, so that what has the name is whole. Another process may
    // be faster.
    template <typename Make>
    Status in_new_folder(const std::string& kept, Make make) {
        std::error_code ignored;
        folder_ = kept + "." + std::to_string(::getpid());
        fs::create_directories(folder_, ignored);
        const std::string folder = folder_;
        const Status made = make();
        if (made) fs::rename(folder, kept, ignored);
        fs::remove_all(folder, ignored);
        return made;
    }

    // Of the verilated design, whatever drives it.
    std::string model_key() const {
        Hash hash;
        for (const std::string& word : verilation("")) hash.add(word);
        hash.add(shared_key());
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
    std::string device_key() const {
        Hash hash;
        hash.add(model_key());
        hash.add(whole(description_.path));
        hash.add(description_.path);
        return hash.text();
    }
    // Of what all designs share: Verilator's own sources, the driver and the known-good module.
    std::string shared_key() const {
        Hash hash;
        for (const std::string& word : compilation({})) hash.add(word);
        hash.add(simulator_);
        hash.add(root_);
        for (const CarriedFile& file : carried_files()) hash.add(file.text);
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

    Words verilation(const std::string& folder) const {
        Words words{"verilator",  "--cc",         "--prefix",
                    "Vmx_design", "--top-module", description_.setup.top,
                    "-Mdir",      folder,         "-O3",
                    "-Wno-fatal", "-Wno-lint",    "-Wno-style",
                    "--x-assign", "unique",       "--x-initial",
                    "unique"};
        if (trace_ == Trace::vcd) words.emplace_back("--trace");
        if (trace_ == Trace::fst) words.emplace_back("--trace-fst");
        for (const auto& [name, value] : description_.parameters)
            words.push_back("-G" + name + "=" + value);
        for (const auto& [name, value] : description_.defines)
            words.push_back("+define+" + name + (value.empty() ? "" : "=" + value));
        for (const std::string& include : description_.include) words.push_back("-I" + include);
        words.insert(words.end(), description_.files.begin(), description_.files.end());
        return words;
    }

    Status make() {
        const std::string folder = folder_;
        if (const Status done = verilate(); !done) return done;
        const auto ports = ports_in(whole(fs::path(model_) / "Vmx_design.h"));
        if (const Status fit = check_ports(description_, ports); !fit) return fit;
        folder_ = folder;
        const bool warns =
            whole(fs::path(model_) / "build.log").find("UNOPTFLAT") != std::string::npos;
        const std::string notes =
            std::string("canary passed") +
            (warns ? "; Verilator warned of UNOPTFLAT, where version 5.006 was seen to freeze "
                     "designs"
                   : "");
        const Status written =
            write_text(fs::path(folder_) / "plugin.cpp",
                       plugin_source(description_.setup, ports, trace_, {key_, simulator_, notes}));
        if (!written) return written;
        return link();
    }

    // The design, and the known-good module beside the driver, where they are not kept.
    Status verilate() {
        std::error_code failed;
        if (!fs::exists(model_, failed)) {
            const Status done =
                in_new_folder(model_, [&] { return step("verilator", verilation(folder_)); });
            if (!done) return done;
        }
        if (fs::exists(shared_, failed)) return success();
        return in_new_folder(shared_, [&] {
            for (const CarriedFile& file : carried_files())
                if (const Status written = write_text(fs::path(folder_) / file.path, file.text);
                    !written)
                    return written;
            return step("verilating the known-good module",
                        {"verilator", "--cc", "--prefix", "Vmx_known_good", "-Mdir", folder_,
                         folder_ + "/device/rtl/driver/mx_known_good.sv"});
        });
    }

    Words compilation(const Words& folders) const {
        const std::string include = root_ + "/include";
        Words words{compiler,
                    "-std=c++20",
                    "-O2",
                    "-fPIC",
                    "-w",
                    "-I" + include,
                    "-I" + include + "/vltstd",
                    "-DVERILATOR=1",
                    "-DVM_SC=0",
                    "-DVM_COVERAGE=0",
                    std::string("-DVM_TRACE=") + (trace_ == Trace::none ? "0" : "1"),
                    std::string("-DVM_TRACE_VCD=") + (trace_ == Trace::vcd ? "1" : "0"),
                    std::string("-DVM_TRACE_FST=") + (trace_ == Trace::fst ? "1" : "0")};
        for (const std::string& folder : folders) words.push_back("-I" + folder);
        return words;
    }

    // What the generated makefiles call the global classes: files of Verilator's own folder.
    std::set<std::string> runtime_sources() const {
        std::set<std::string> found;
        for (const std::string& makefile :
             {model_ + "/Vmx_design_classes.mk", shared_ + "/Vmx_known_good_classes.mk"}) {
            std::istringstream lines(whole(makefile));
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

    // An object that is kept.
    Status compile(const std::string& what, const std::string& source, const std::string& object) {
        std::error_code failed;
        if (fs::exists(object, failed)) return success();
        const std::string made = object + "." + std::to_string(::getpid());
        Words words = compilation({shared_});
        words.insert(words.end(), {"-c", source, "-o", made});
        const Status done = step("compiling " + what, words);
        if (done) fs::rename(made, object, failed);
        return done;
    }

    // One object of all sources that Verilator made.
    Status compile_model(const std::string& what, const std::string& folder) {
        std::string all;
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".cpp")
                all += "#include \"" + entry.path().filename().string() + "\"\n";
        const Status written = write_text(folder + "/all.cc", all);
        return written ? compile(what, folder + "/all.cc", folder + "/all.o") : written;
    }

    Status link() {
        Words objects{model_ + "/all.o", shared_ + "/all.o", shared_ + "/driver.o"};
        Status done = compile_model("the design", model_);
        if (done) done = compile_model("the known-good module", shared_);
        if (done)
            done = compile("the driver", shared_ + "/device/rtl/driver/driver.cpp", objects[2]);
        for (const std::string& name : runtime_sources()) {
            if (!done) break;
            objects.push_back(shared_ + "/" + name + ".o");
            done = compile(name + ".cpp of Verilator", root_ + "/include/" + name + ".cpp",
                           objects.back());
        }
        if (!done) return done;
        Words words = compilation({model_, shared_});
        words.insert(words.end(), {"-shared", folder_ + "/plugin.cpp"});
        words.insert(words.end(), objects.begin(), objects.end());
        words.insert(words.end(), {"-pthread", "-o", folder_ + "/device.so"});
        if (trace_ == Trace::fst) words.emplace_back("-lz");
        return step("compiling what belongs to the design", words);
    }

    const Description& description_;
    Trace trace_;
    std::string cache_, simulator_, root_, key_;
    std::string model_, shared_;  // kept: the verilated design; what all designs share
    std::string folder_, log_;    // what is being made, and what the last step said
};

}  // namespace

Expected<std::string> tools() {
    const std::string verilator = simulator(), first_line = printed_by({compiler, "--version"});
    if (verilator.empty()) return bad_input(no_simulator);
    if (first_line.empty())
        return bad_input(std::string("the compiler ") + compiler + " is not to be found");
    return verilator + ", " + first_line;
}

Expected<std::string> built(const Description& description, Trace trace, const std::string& cache) {
    return Build(description, trace, cache).plugin();
}

}  // namespace mx::rtl
