// Opens the page in a headless Chromium from disk: it must run its script to the end, complain
// about nothing and show the model's numbers. Skipped, with exit code 77, where there is no
// Chromium.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "reports/model/summary.hpp"
#include "reports/render/html.hpp"
#include "reports/test/fixtures.hpp"

namespace mx::reports::test {
namespace {

constexpr int skipped_exit_code = 77;

std::string output_of(const std::string& command) {
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return "";
    std::string output;
    std::array<char, 4096> chunk{};
    for (std::size_t count = 0; (count = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;)
        output.append(chunk.data(), count);
    ::pclose(pipe);
    return output;
}

std::string browser() {
    std::string path = output_of(
        "command -v chromium || command -v chromium-browser || command -v google-chrome");
    return path.substr(0, path.find('\n'));
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct Opened {
    std::string document;  // as it stands after the script
    std::string log;
};

class PageInBrowser : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "mx_page_XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    Opened open(const std::string& page) const {
        std::ofstream(folder_ / "report.html", std::ios::binary) << page;
        const std::string folder = folder_.string();
        const std::string command =
            "HOME='" + folder + "' timeout 90 '" + browser() +
            "' --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage"
            " --user-data-dir='" + folder + "/profile' --virtual-time-budget=3000"
            " --enable-logging=stderr --dump-dom 'file://" + folder + "/report.html' 2>'" +
            folder + "/log'";
        Opened opened;
        opened.document = output_of(command);
        opened.log = text_of(folder_ / "log");
        return opened;
    }

private:
    std::filesystem::path folder_;
};

TEST_F(PageInBrowser, ShowsTheDataAndComplainsAboutNothing) {
    for (const std::string_view name : {"every_verdict", "hostile_text"}) {
        const results::Run run = fixture(name);
        const Opened opened = open(render_html(run));
        EXPECT_EQ(opened.log.find("CONSOLE"), std::string::npos) << opened.log;
        EXPECT_NE(opened.document.find("data-ready=\"1\""), std::string::npos) << opened.log;
        const std::string clusters =
            "data-clusters=\"" + std::to_string(summarize(run).clusters.size()) + "\"";
        EXPECT_NE(opened.document.find(clusters), std::string::npos) << name;
        const std::string shown = std::to_string(run.cases.size()) + " of " +
                                  std::to_string(run.cases.size()) + " shown";
        EXPECT_NE(opened.document.find(shown), std::string::npos) << name;
    }
}

// The test above can see a complaint: a page that breaks its own policy is one.
TEST_F(PageInBrowser, AForbiddenImageAndAnErrorAreNoticed) {
    std::string page = render_html(fixture("clean_full"));
    page.insert(page.find("</main>"), "<img src=\"https://example.invalid/x.png\" alt=\"\">");
    EXPECT_NE(open(page).log.find("CONSOLE"), std::string::npos);
    page = render_html(fixture("clean_full"));
    page.insert(page.find("root.dataset.ready"), "missing_function();");
    const Opened broken = open(page);
    EXPECT_NE(broken.log.find("CONSOLE"), std::string::npos);
    EXPECT_EQ(broken.document.find("data-ready=\"1\""), std::string::npos);
}

}  // namespace
}  // namespace mx::reports::test

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (mx::reports::test::browser().empty()) {
        std::puts("skipped: no Chromium here");
        return mx::reports::test::skipped_exit_code;
    }
    return RUN_ALL_TESTS();
}
