// Opens the page in a headless Chromium from disk: it must run its script to the end, complain
// about nothing, ask for nothing and show the model's numbers; the heat map's pixels must be the
// results' counts. Skipped, with exit code 77, where there is no Chromium.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

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
    std::string path =
        output_of("command -v chromium || command -v chromium-browser || command -v google-chrome");
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
        std::string pattern = (std::filesystem::temp_directory_path() / "mx_page_XXXXXX").string();
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
            " --user-data-dir='" +
            folder +
            "/profile' --virtual-time-budget=3000"
            " --enable-logging=stderr --dump-dom 'file://" +
            folder + "/report.html' 2>'" + folder + "/log'";
        Opened opened;
        opened.document = output_of(command);
        opened.log = text_of(folder_ / "log");
        return opened;
    }

private:
    std::filesystem::path folder_;
};

// The text between two marks, "" where they are not there.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
    const std::size_t from = text.find(before);
    if (from == std::string::npos) return "";
    const std::size_t begin = from + before.size();
    return text.substr(begin, text.find(after, begin) - begin);
}

// A number of the page is a value for programs and digits in groups for people.
void expect_number(const std::string& document, const std::string& place, std::uint64_t number) {
    const std::string data = between(document, place + "><data value=\"", "</data>");
    std::string shown = data.substr(std::min(data.size(), data.find('>') + 1));
    std::erase(shown, ',');
    EXPECT_EQ(data.substr(0, data.find('"')), std::to_string(number)) << place;
    EXPECT_EQ(shown, std::to_string(number)) << place;
}

// Straight from the record, past the model that the page is made of.
void expect_numbers(const std::string& document, const results::Run& run) {
    std::map<std::string, std::uint64_t> totals;
    std::map<std::string, std::uint64_t> verdicts;
    for (const results::CaseResult& result : run.cases) {
        totals["elements"] += result.elements;
        totals["scales"] += result.scales;
        totals["mismatched-elements"] += result.mismatched_elements;
        totals["mismatched-scales"] += result.mismatched_scales;
        ++verdicts[std::string(results::name_of(result.verdict))];
    }
    expect_number(document, "id=\"total-cases\"", run.cases.size());
    for (const auto& [name, number] : totals)
        expect_number(document, "id=\"total-" + name + "\"", number);
    for (const auto& [name, number] : verdicts)
        expect_number(document, "data-verdict=\"" + name + "\"", number);
}

TEST_F(PageInBrowser, ShowsTheDataAndComplainsAboutNothing) {
    for (const std::string_view name : {"every_verdict", "hostile_text"}) {
        const results::Run run = fixture(name);
        const Opened opened = open(render_html(run));
        EXPECT_EQ(opened.log.find("CONSOLE"), std::string::npos) << opened.log;
        EXPECT_NE(opened.document.find("data-ready=\"1\""), std::string::npos) << opened.log;
        const std::string clusters =
            "data-clusters=\"" + std::to_string(summarize(run).clusters.size()) + "\"";
        EXPECT_NE(opened.document.find(clusters), std::string::npos) << name;
        expect_numbers(opened.document, run);
        const std::string shown =
            std::to_string(run.cases.size()) + " of " + std::to_string(run.cases.size()) + " shown";
        EXPECT_NE(opened.document.find(shown), std::string::npos) << name;
    }
}

// Writes each pixel of the heat map that is not transparent, and how much else was loaded.
constexpr const char* probe = R"html(<pre id="probe"></pre><script>
const picture = new Image();
picture.onload = () => {
  const canvas = document.createElement("canvas");
  canvas.width = picture.width;
  canvas.height = picture.height;
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const data = context.getImageData(0, 0, canvas.width, canvas.height).data;
  let text = "";
  for (let at = 0; at < data.length; at += 4)
    if (data[at + 3] !== 0)
      text += at / 4 + " " + data[at] + " " + data[at + 1] + " " + data[at + 2] + ";";
  document.querySelector("#probe").textContent = "size " + picture.width + "x" + picture.height +
    " asked " + performance.getEntriesByType("resource").length + " pixels " + text + " end";
};
picture.src = document.querySelector("#heat-inputs image").getAttribute("href");
</script>)html";

// Mismatches of each bfloat16, straight from the record.
std::map<std::uint32_t, std::uint64_t> counts_of(const results::Run& run) {
    std::map<std::uint32_t, std::uint64_t> counts;
    for (const results::CaseResult& result : run.cases)
        for (const results::CellRun& cells : result.input_cells)
            for (std::uint64_t cell = cells.first; cell < cells.first + cells.cells; ++cell)
                counts[static_cast<std::uint32_t>(cell)] += cells.each;
    return counts;
}

// Where the page must draw a bfloat16: exponents from 255 down, then -1.99 to -1, 1 to 1.99.
std::uint32_t pixel_of(std::uint32_t bfloat16) {
    const std::uint32_t mantissa = bfloat16 & 127;
    const std::uint32_t column = bfloat16 >= 0x8000 ? 127 - mantissa : 128 + mantissa;
    return (255 - (bfloat16 >> 7 & 255)) * 256 + column;
}

TEST_F(PageInBrowser, PixelsAreCounts) {
    const results::Run run = heated_run();
    std::string page = render_html(run);
    page.insert(page.find("</body>"), probe);
    const Opened opened = open(page);
    EXPECT_EQ(opened.log.find("CONSOLE"), std::string::npos) << opened.log;
    const std::string seen = between(opened.document, "<pre id=\"probe\">", "</pre>");
    ASSERT_EQ(seen.substr(0, 28), "size 256x256 asked 0 pixels ");
    std::map<std::uint32_t, std::string> colours;
    std::stringstream pixels(between(seen, "pixels ", " end"));
    for (std::string pixel; std::getline(pixels, pixel, ';');)
        colours[static_cast<std::uint32_t>(std::stoul(pixel))] = pixel.substr(pixel.find(' '));
    // Counts of 1, 2 to 3, 4 to 7, ... have a colour each.
    std::map<std::size_t, std::set<std::string>> colours_of_class;
    const auto counts = counts_of(run);
    EXPECT_EQ(colours.size(), counts.size());
    for (const auto& [bfloat16, count] : counts) {
        ASSERT_EQ(colours.count(pixel_of(bfloat16)), 1u) << std::hex << bfloat16;
        colours_of_class[static_cast<std::size_t>(std::bit_width(count))].insert(
            colours[pixel_of(bfloat16)]);
    }
    std::set<std::string> all;
    for (const auto& [width, of_class] : colours_of_class) {
        EXPECT_EQ(of_class.size(), 1u) << "counts of " << width << " bits";
        all.insert(of_class.begin(), of_class.end());
    }
    EXPECT_EQ(all.size(), colours_of_class.size());
}

TEST_F(PageInBrowser, EverySectionIsDrawnWithoutAComplaint) {
    const results::Run run = heated_run(), baseline = fixture("clean_full");
    const results::Attachments beside = everything_beside();
    Material material(run);
    material.attached = &beside;
    material.baseline = &baseline;
    const Opened opened = open(render_html(material));
    EXPECT_EQ(opened.log.find("CONSOLE"), std::string::npos) << opened.log;
    EXPECT_NE(opened.document.find("data-ready=\"1\""), std::string::npos) << opened.log;
    for (const char* id :
         {"heat", "baseline", "accuracy", "scales", "gemm", "training", "throughput", "kills"})
        EXPECT_NE(opened.document.find("<section id=\"" + std::string(id) + "\""),
                  std::string::npos)
            << id;
}

// Runs the accessibility checker axe in the page and writes what it finds.
std::string checked_by_axe(std::string page, const std::string& axe) {
    page.insert(page.rfind("</body>"), "<pre id=\"axe\"></pre><script>" + axe + R"html(
axe.run(document, {resultTypes: ["violations"]}).then(found => {
  document.querySelector("#axe").textContent = "checked " + found.passes.length + " found " +
    found.violations.map(v => v.id + ": " + v.nodes.map(n => n.target).join(" ")).join("; ") + ".";
});
</script>)html");
    return page;
}

// MX_AXE names an axe.min.js, such as that of the PyPI package axe-playwright-python.
TEST_F(PageInBrowser, AxeFindsNothing) {
    const char* path = std::getenv("MX_AXE");
    if (path == nullptr) GTEST_SKIP() << "MX_AXE names no axe.min.js";
    const std::string axe = text_of(path);
    ASSERT_FALSE(axe.empty()) << path;
    const auto found = [&](const std::string& page) {
        return between(open(checked_by_axe(page, axe)).document, "<pre id=\"axe\">checked ",
                       "</pre>");
    };
    const results::Run heated = heated_run(), baseline = fixture("clean_full");
    const results::Attachments beside = everything_beside();
    Material everything(heated);
    everything.attached = &beside;
    everything.baseline = &baseline;
    for (const std::string& page :
         {render_html(fixture("every_verdict")), render_html(fixture("hostile_text")),
          render_html(baseline), render_html(everything)}) {
        const std::string text = found(page);
        EXPECT_TRUE(text.ends_with(" found .")) << text;
        EXPECT_GT(std::atoi(text.c_str()), 20) << text;
    }
    std::string nameless = render_html(baseline);
    nameless.insert(nameless.find("</main>"), "<button></button>");
    EXPECT_NE(found(nameless).find("button-name"), std::string::npos);
}

// The tests above can see a complaint: a page that breaks its own policy is one.
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
