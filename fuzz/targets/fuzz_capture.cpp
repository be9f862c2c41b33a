// Any bytes as a folder of captured calls: its manifest up to the first empty line, then a file of
// a call. Refused with a sentence, or every call is judged or a gap. Run by libFuzzer or by
// replay_main.cpp; must not know which.
#include "conformance/session/capture.hpp"

#include <unistd.h>

#include <fstream>

#include "conformance/run/runner.hpp"
#include "conformance/session/provenance.hpp"
#include "fuzz/targets/text.hpp"

namespace {

namespace fs = std::filesystem;

// One for the process, gone with it.
struct Folder {
    Folder() : path(fs::temp_directory_path() / ("fuzz_capture_" + std::to_string(::getpid()))) {
        fs::create_directories(path);
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    void write(const char* name, std::string_view bytes) const {
        std::ofstream(path / name, std::ios::binary | std::ios::trunc) << bytes;
    }
    fs::path path;
};

// The digest of the file is asked by name: no fuzzer would find it.
std::string with_digest(std::string manifest, const fs::path& file) {
    constexpr std::string_view asked = "$DIGEST";
    const auto at = manifest.find(asked);
    if (at != std::string::npos)
        manifest.replace(at, asked.size(), mx::session::file_hash(file.string()));
    return manifest;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx;
    static const Folder folder;
    const std::string_view text = fuzz::as_text(data, size);
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    folder.write("1.safetensors", text.substr(std::min(end + 2, text.size())));
    folder.write("capture.json",
                 with_digest(std::string(text.substr(0, end)), folder.path / "1.safetensors"));
    const auto capture = session::Capture::read(folder.path.string());
    if (!capture) return fuzz::require_sentence(capture.error()), 0;
    for (const std::string& gap : capture.value().gaps())
        fuzz::require("a gap says something", !gap.empty());
    Sources sources;
    Runner runner(capture.value().client(), sources, {});
    for (const Case& c : capture.value().cases()) {
        fuzz::require("a case names its file", is_file(c));
        const auto judged = runner.run({"captured", c});
        if (!judged) fuzz::require_sentence(judged.error());
    }
    return 0;
}
