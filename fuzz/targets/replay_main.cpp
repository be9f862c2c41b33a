// Runs a fuzz target over every file of a corpus folder, in any build: replay FOLDER. Stands in for
// libFuzzer's own main; knows nothing of the target but its one function.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argument_count, char** arguments) {
    if (argument_count != 2) {
        std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
        return 2;
    }
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(arguments[1], error))
        if (entry.is_regular_file()) files.push_back(entry.path());
    if (files.empty()) {
        std::fprintf(stderr, "%s: no corpus files there\n", arguments[1]);
        return 2;
    }
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& path : files) {
        // Printed first: after a crash the last line names the culprit.
        std::printf("%s\n", path.filename().c_str());
        std::fflush(stdout);
        std::ifstream stream(path, std::ios::binary);
        const std::vector<char> text{std::istreambuf_iterator<char>(stream), {}};
        std::vector<std::uint8_t> bytes(text.begin(), text.end());
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    std::printf("%zu files\n", files.size());
    return 0;
}
