// Any bytes as what a program behind a pipe says: its greeting, the line of an answer, a line of
// digits. Each is refused with a sentence or has a meaning; digits print back to themselves.
#include <vector>

#include "device/subprocess/messages.hpp"
#include "fuzz/targets/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    const std::string_view line = as_text(data, size);
    if (const auto hello = mx::pipe::parse_hello(line); !hello) require_sentence(hello.error());
    if (const auto answer = mx::pipe::parse_answer(line); !answer) require_sentence(answer.error());
    std::vector<std::byte> bytes(size / 2);
    if (const auto read = mx::pipe::read_hex(line, bytes); !read) {
        require_sentence(read.error());
        return 0;
    }
    std::string again;
    mx::pipe::append_hex_line(again, bytes);
    std::vector<std::byte> bytes_again(bytes.size());
    again.pop_back();  // the end of the line
    require("digits can be read again", mx::pipe::read_hex(again, bytes_again).ok());
    require("no byte was changed", bytes_again == bytes);
    return 0;
}
