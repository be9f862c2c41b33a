// See held_proofs.hpp.
#include "reference/proof/held_proofs.hpp"

#include <filesystem>
#include <span>

#include "reference/base/files.hpp"

namespace mx::proof {
namespace {

// `way_out` ends the sentence about a bad line.
Expected<std::vector<Digest>> parsed(const std::string& path, const std::string& text,
                                     const std::string& way_out) {
    DigestList list = parse_digests(text);
    if (list.bad_line == 0) return std::move(list.digests);
    return bad_input(path + ": line " + std::to_string(list.bad_line) +
                     " is not 'DIGEST  COUNT  NAME'" + way_out);
}

}  // namespace

Expected<HeldProofs> HeldProofs::open(const std::string& path, const std::string& program) {
    const std::string first_line = "# state of mxcheck prove, " + program + "\n";
    std::error_code error;
    if (path.empty() || !std::filesystem::exists(path, error))
        return HeldProofs(path, first_line, {});
    const auto text = text_of_file(path);
    if (!text) return text.error();
    if (!text.value().starts_with("# state of mxcheck prove"))
        return bad_input(path + ": is no state of mxcheck prove");
    if (!text.value().starts_with(first_line))
        return bad_input(path +
                         ": is the state of another build of mxcheck, whose proofs say nothing "
                         "about this one; remove it or name another file");
    auto held = parsed(path, text.value(), "; remove the file to begin anew");
    if (!held) return held.error();
    return HeldProofs(path, first_line, std::move(held).value());
}

Status HeldProofs::add(const Digest& digest) {
    held_.push_back(digest);
    return path_.empty() ? success() : write_digests(path_, first_line_, held_);
}

Expected<std::vector<Digest>> read_digests(const std::string& path) {
    const auto text = text_of_file(path);
    if (!text) return text.error();
    return parsed(path, text.value(), "");
}

Status write_digests(const std::string& path, const std::string& first_line,
                     const std::vector<Digest>& digests) {
    std::string text = first_line;
    for (const Digest& digest : digests) text += print(digest);
    return write_atomically(path, {std::as_bytes(std::span(text))});
}

}  // namespace mx::proof
