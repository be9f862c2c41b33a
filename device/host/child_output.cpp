// See child_output.hpp.
#include "device/host/child_output.hpp"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "device/host/child_setup.hpp"

namespace mx {
namespace {

constexpr char first_of_two = '\xC2';  // of U+0080 to U+00BF

void close_if_open(int& descriptor) {
    if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
}

void write_to_standard_error(std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;  // nobody reads it
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

// U+0080 to U+009F are control characters too: U+009B opens a sequence as ESC [ does.
bool is_control(unsigned char byte, bool is_second) {
    const bool is_plain = byte == '\n' || byte == '\t' || byte == '\r';
    if (is_second) return byte >= 0x80 && byte < 0xA0;
    return (byte < 0x20 && !is_plain) || byte == 0x7F;
}

std::string escaped(unsigned char byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    return std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
}

}  // namespace

std::string shown(std::string_view text, std::string& held) {
    std::string safe;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        const bool is_second = !held.empty();
        if (!is_second && letter == first_of_two) {
            held = letter;
            continue;
        }
        if (is_control(byte, is_second))
            safe += is_second ? escaped(static_cast<unsigned char>(first_of_two)) + escaped(byte)
                              : escaped(byte);
        else
            safe += std::exchange(held, "") + letter;
        held.clear();
    }
    return safe;
}

Expected<ChildOutput> ChildOutput::open() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
        for (int& end : ends) end = beyond_standard_streams(end);
        if (ends[0] >= 0 && ends[1] >= 0 && ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
            return ChildOutput(ends[0], ends[1]);
    }
    const Error error{ErrorKind::system, std::string("cannot open a pipe for what the device's "
                                                     "process prints: ") +
                                             ::strerror(errno)};
    for (int& end : ends) close_if_open(end);
    return error;
}

ChildOutput::ChildOutput(ChildOutput&& other) noexcept
    : reading_(std::exchange(other.reading_, -1)),
      writing_(std::exchange(other.writing_, -1)),
      held_(std::move(other.held_)) {}

ChildOutput& ChildOutput::operator=(ChildOutput&& other) noexcept {
    std::swap(reading_, other.reading_);
    std::swap(writing_, other.writing_);
    std::swap(held_, other.held_);
    return *this;
}

ChildOutput::~ChildOutput() {
    close_if_open(reading_);
    close_if_open(writing_);
}

void ChildOutput::become_standard_error() const {
    ::dup2(writing_, STDERR_FILENO);
}

void ChildOutput::close_writing_end() {
    close_if_open(writing_);
}

void ChildOutput::forward() {
    std::array<char, 4096> chunk{};
    constexpr int pipe_chunks = 16;
    for (int i = 0; i < pipe_chunks && reading_ >= 0; ++i) {
        const ssize_t count = ::read(reading_, chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return;
        if (count == 0) return close_if_open(reading_);
        write_to_standard_error(shown({chunk.data(), static_cast<std::size_t>(count)}, held_));
    }
}

}  // namespace mx
