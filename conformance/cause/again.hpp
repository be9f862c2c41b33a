// A case of a record made again from its line, so that hypotheses can be held against it; the
// device is not asked. Used by cause.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/data/inputs.hpp"
#include "conformance/results/record.hpp"

namespace mx::cause {

// Opens the kinds of a GEMM, which its judge found; what follows is the text. '#' in it stands for
// whatever number.
inline constexpr std::string_view gemm_kind = "gemm:";

inline bool is_of_gemm(const std::string& kind) {
    return kind.starts_with(gemm_kind);
}
inline bool is_of_any_number(const std::string& kind) {
    return is_of_gemm(kind) && kind.find('#') != std::string::npos;
}

// A case made again, and whether a hypothesis would have changed anything in it: nothing where it
// is none of that case.
struct Again {
    Case c;
    std::function<std::optional<bool>(const std::string& kind)> is_changed_by;

    // These are of blocks alone.
    std::vector<std::string> kinds = {};  // of its hypotheses, the other entries of the table apart
    // An answer where all of these go wrong together; nothing where one is none of that case.
    std::function<std::optional<std::vector<CodeTensor>>(const std::vector<std::string>& kinds)>
        answer_with = {};
};

// Nothing of a case that cannot be made again, is large, or whose right bits are not known one by
// one.
std::optional<Again> made_again(const results::CaseResult& result, Sources& sources);

}  // namespace mx::cause
