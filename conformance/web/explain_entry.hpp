// What the page asks for and gets: one block explained, as `mxcheck explain` prints it. Compiled
// into the module of the page and, by the test of both, natively; knows nothing of a browser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mx::web {

// The exit codes of mxcheck explain.
enum class PageCode { explained = 0, refused = 2, broken = 5 };

struct PageAnswer {
    PageCode code = PageCode::explained;
    std::string text;  // the explanation, or one sentence
};

// Lines of NAME=TEXT: values, format, dialect and input as the options of mxcheck explain, or case,
// block and axis, where a case is a line that a failure printed. An unknown name is refused.
PageAnswer answer_to(std::string_view request);

// What the page offers: a line for each block format, "FORMAT DIALECT DIALECT ...", the first of
// its dialects being the one that stands where none is named.
std::string offered_tables();

// The SHA-256 of the answers to the blocks first, ..., first + count - 1 of a fixed sequence:
// formats and dialects by turns, lanes of any bits, among them NaN, infinities, subnormals and
// ties.
std::string digest_of_blocks(std::uint32_t first, std::uint32_t count);

}  // namespace mx::web
