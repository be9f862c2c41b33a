// What identify and explain take of a quantized file, in place of a device or a case.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/cli/arguments.hpp"
#include "conformance/emulate/explain_target.hpp"

namespace mx::cli {

struct FileArguments {
    std::string file;
    std::string tensor;
    std::string original;
    std::string elements;
};

// --file, --tensor, --original and --elements; the arguments must outlive them.
std::vector<Option> options_of(FileArguments& arguments);

// mxcheck identify --file: which dialect gives these codes from those values?
int identify_file(const FileArguments& arguments, bool json);

// A block of the file, as mxcheck explain --file shows it. `remark` says, of a block with its
// original values, what the file has beside the dialect's answer.
struct FileTarget {
    emulate::ExplainTarget target;
    std::string remark;
};
Expected<FileTarget> target_of_file(const FileArguments& arguments, std::uint64_t block,
                                    const std::string& dialect);

}  // namespace mx::cli
