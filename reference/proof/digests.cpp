// See digests.hpp.
#include "reference/proof/digests.hpp"

#include <algorithm>
#include <charconv>

namespace mx::proof {
namespace {

constexpr std::size_t digest_length = 64;

bool is_hexadecimal(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// False if the line has another shape.
bool parse_line(std::string_view line, Digest& found) {
    const std::size_t gap = line.find("  ", digest_length + 2);
    if (line.size() < digest_length || gap == std::string_view::npos) return false;
    found.digest = line.substr(0, digest_length);
    const std::string_view count = line.substr(digest_length + 2, gap - digest_length - 2);
    const auto [end, error] =
        std::from_chars(count.data(), count.data() + count.size(), found.count);
    found.name = line.substr(gap + 2);
    return is_hexadecimal(found.digest) && line.substr(digest_length, 2) == "  " &&
           error == std::errc{} && end == count.data() + count.size() && !found.name.empty();
}

}  // namespace

std::string print(const Digest& digest) {
    return digest.digest + "  " + std::to_string(digest.count) + "  " + digest.name + "\n";
}

DigestList parse_digests(std::string_view text) {
    DigestList list;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        Digest digest;
        const bool is_comment = line.empty() || line.starts_with('#');
        if (end == std::string_view::npos || (!is_comment && !parse_line(line, digest))) {
            list.bad_line = number;
            return list;
        }
        if (!is_comment) list.digests.push_back(digest);
        text.remove_prefix(end + 1);
    }
    return list;
}

const Digest* find_digest(const std::vector<Digest>& known, std::string_view name) {
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const Digest& digest) { return digest.name == name; });
    return at == known.end() ? nullptr : &*at;
}

std::string digest_complaint(const std::vector<Digest>& known, const Digest& found) {
    const Digest* at = find_digest(known, found.name);
    if (at == nullptr) return "no digest of '" + found.name + "' is known";
    if (at->count != found.count)
        return "'" + found.name + "' compared " + std::to_string(found.count) +
               " inputs, but the known digest is of " + std::to_string(at->count);
    if (at->digest != found.digest)
        return "the exact answers of '" + found.name + "' have the digest " + found.digest +
               ", not the known " + at->digest;
    return "";
}

}  // namespace mx::proof
