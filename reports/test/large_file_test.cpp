// A results file of 100 MB becomes a page below 5 MB, in seconds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "conformance/results/record_json.hpp"
#include "conformance/results/results_file.hpp"
#include "reports/render/html.hpp"
#include "reports/test/fixtures.hpp"

namespace mx::reports::test {
namespace {

using results::Verdict;

// Longer where a build is not optimised, and by what ctest says of emulated processors.
double seconds_max() {
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
    const char* factor = std::getenv("MX_TIME_FACTOR");
    return 20.0 * (factor == nullptr ? 1 : std::atoi(factor));
#else
    return 200;
#endif
}

// Every case fails in its own way, with long texts, full heat maps and reasons that differ.
results::CaseResult worst_case(std::uint64_t index) {
    results::CaseResult result = fixture("every_verdict").cases.at(4);
    result.index = index;
    result.case_text += " number=" + std::to_string(index);
    result.reason = "reason " + std::to_string(index) + std::string(400, '<');
    result.mismatches.front().direction = std::to_string(index) + " codes";
    result.mismatches.front().note = std::string(3000, '&');
    result.verdict = index % 3 == 0   ? Verdict::fail
                     : index % 3 == 1 ? Verdict::not_supported
                                      : Verdict::deviation;
    if (result.verdict == Verdict::deviation) result.mismatches.front().open_decision = "nan_code";
    if (result.verdict == Verdict::not_supported) {
        result.elements = result.scales = result.mismatched_elements = 0;
        result.mismatches.clear();
    }
    for (std::uint64_t cell = index % 7; cell < 1024; cell += 2)
        result.input_cells.push_back({cell * 64, 1, 1 + index % 50});
    return result;
}

TEST(LargeFile, RendersInSecondsToASmallPage) {
    constexpr std::size_t size_wanted = 100'000'000;
    const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                       ("mx_large_" + std::to_string(::getpid()) + ".jsonl");
    {
        std::ofstream file(path, std::ios::binary);
        results::RunHeader header = fixture("every_verdict").header;
        file << results::line_of(header);
        for (std::uint64_t index = 0; static_cast<std::size_t>(file.tellp()) < size_wanted; ++index)
            file << results::line_of(worst_case(index));
    }
    const std::clock_t begin = std::clock();
    const auto run = results::read_results(path.string());
    ASSERT_TRUE(run.ok()) << run.error().message;
    const std::string page = render_html(run.value());
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::filesystem::remove(path);
    std::printf("%zu cases, a page of %zu bytes, %.1f s\n", run.value().cases.size(), page.size(),
                seconds);
    EXPECT_LT(page.size(), 5'000'000u);
    EXPECT_LT(seconds, seconds_max());
}

}  // namespace
}  // namespace mx::reports::test
