// See progress.hpp.
#include "conformance/cli/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace mx::cli {
namespace {

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

bool is_capable_terminal(int stream) {
    const char* term = std::getenv("TERM");
    return isatty(stream) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace

bool stderr_is_terminal() {
    return is_capable_terminal(2);
}

bool may_colour(int stream) {
    if (is_set("NO_COLOR")) return false;
    return is_set("CLICOLOR_FORCE") || is_capable_terminal(stream);
}

std::string duration_text(double seconds) {
    char text[48];
    const long whole = static_cast<long>(seconds);
    if (seconds < 60)
        std::snprintf(text, sizeof text, "%.1f s", seconds);
    else if (whole < 3600)
        std::snprintf(text, sizeof text, "%ldm %02lds", whole / 60, whole % 60);
    else
        std::snprintf(text, sizeof text, "%ldh %02ldm", whole / 3600, whole / 60 % 60);
    return text;
}

Progress::Progress(std::string noun, std::uint64_t total)
    : noun_(std::move(noun)),
      total_(total),
      terminal_(stderr_is_terminal()),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
    clear();
}

void Progress::clear() {
    if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
    shown_ = false;
}

std::string Progress::text(std::uint64_t done, const std::string& note) const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
    char numbers[128];
    const std::string of = total_ == 0 ? "" : "/" + std::to_string(total_);
    std::snprintf(numbers, sizeof numbers, "%llu%s %s, %.0f/s",
                  static_cast<unsigned long long>(done), of.c_str(), noun_.c_str(), rate);
    std::string line = numbers;
    if (rate > 0 && done < total_)
        line += ", " + duration_text(static_cast<double>(total_ - done) / rate) + " left";
    return note.empty() ? line : line + ", " + note;
}

void Progress::update(std::uint64_t done, const std::string& note) {
    const auto period = terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10);
    const auto now = Clock::now();
    if (now - last_ < period) return;
    last_ = now;
    std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", text(done, note).c_str());
    std::fflush(stderr);
    shown_ = true;
}

}  // namespace mx::cli
