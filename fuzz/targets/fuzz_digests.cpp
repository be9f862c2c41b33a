// Any bytes as a file of digests, which the state of proofs is too: the bad line is one of the
// file's, or every digest prints back to itself.
#include <algorithm>

#include "fuzz/targets/text.hpp"
#include "reference/proof/digests.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    const std::string_view text = as_text(data, size);
    const mx::proof::DigestList list = mx::proof::parse_digests(text);
    if (list.bad_line != 0) {
        const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
        require("the bad line is there", list.bad_line <= lines);
        return 0;
    }
    std::string printed;
    for (const mx::proof::Digest& digest : list.digests) printed += print(digest);
    const mx::proof::DigestList again = mx::proof::parse_digests(printed);
    require("what was printed can be parsed", again.bad_line == 0);
    require("nothing was changed", again.digests == list.digests);
    return 0;
}
