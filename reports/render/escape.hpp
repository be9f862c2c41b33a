// Makes any text safe inside HTML, XML and Markdown. Used by all renderers: no text of a record
// reaches a page by another way. Must not know what the text means.
#pragma once

#include <string>
#include <string_view>

namespace mx::reports {

// Valid UTF-8 in which control characters, characters XML forbids, direction overrides and broken
// bytes have become U+FFFD. Tabs and newlines stay.
std::string printable(std::string_view text);

// For element content and for attributes in double or single quotes, in HTML and in XML alike.
std::string escape_markup(std::string_view text);

// For running Markdown text and table cells, on one line.
std::string escape_markdown(std::string_view text);

// A code block with a fence that the text cannot close.
std::string markdown_code_block(std::string_view text);

// A code span on one line; safe in table cells too.
std::string markdown_code_span(std::string_view text);

}  // namespace mx::reports
