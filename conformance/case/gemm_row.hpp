// A row of the table of models as JSON and back: a model file of the user's, or the word of a case
// that is judged by such a row. Used by the grammar, and by whoever reads or writes model files.
#pragma once

#include <memory>
#include <string>

#include "reference/base/status.hpp"
#include "reference/problem/problem.hpp"

namespace mx {

// Longer names than this are no names.
inline constexpr std::size_t model_name_max = 64;

// The text of a model file. What a row has as most rows do is not written.
std::string model_file_text(const GemmModel& row);

// What such a text says. The error is a sentence about the first key, name or number that can be in
// no row; a name of the table of models is one of them.
Expected<std::shared_ptr<const OwnModel>> read_model_text(const std::string& text);

// The same of a file, whose path begins the sentence.
Expected<std::shared_ptr<const OwnModel>> read_model_file(const std::string& path);

// The word of a case: the row in one line, without its source. It begins with '{'.
Expected<std::shared_ptr<const OwnModel>> read_model_word(const std::string& word);

}  // namespace mx
