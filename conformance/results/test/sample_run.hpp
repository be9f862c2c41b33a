// A run with every field filled, and a folder that cleans up after itself. Used by the tests of the
// results file; must not touch the file format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "conformance/results/record.hpp"

namespace mx::results::test {

RunHeader sample_header();  // of one case
Mismatch sample_mismatch();
CaseResult sample_case(std::uint64_t index, Verdict verdict);

class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string file(std::string_view name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

std::string text_of(const std::string& path);
void write_text(const std::string& path, std::string_view text);

}  // namespace mx::results::test
