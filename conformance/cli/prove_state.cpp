// See prove_state.hpp.
#include "conformance/cli/prove_state.hpp"

#include <filesystem>

#include "conformance/cli/environment.hpp"
#include "reference/base/files.hpp"

namespace mx::cli {
namespace {

// The commit alone would not tell two builds with local changes apart.
const std::string& first_line() {
    static const std::string line = "# state of mxcheck prove, commit " + this_build().commit +
                                    ", program " + session::file_hash("/proc/self/exe") + "\n";
    return line;
}

// `way_out` ends the sentence about a bad line.
Expected<std::vector<proof::Digest>> parsed(const std::string& path, const std::string& text,
                                            const std::string& way_out) {
    proof::DigestList list = proof::parse_digests(text);
    if (list.bad_line == 0) return std::move(list.digests);
    return Error{ErrorKind::bad_input, path + ": line " + std::to_string(list.bad_line) +
                                           " is not 'DIGEST  COUNT  NAME'" + way_out};
}

}  // namespace

Expected<ProveState> ProveState::open(const std::string& path) {
    std::error_code error;
    if (path.empty() || !std::filesystem::exists(path, error)) return ProveState(path, {});
    const auto text = text_of_file(path);
    if (!text) return text.error();
    if (!text.value().starts_with("# state of mxcheck prove"))
        return Error{ErrorKind::bad_input, path + ": is no state of mxcheck prove"};
    if (!text.value().starts_with(first_line()))
        return Error{ErrorKind::bad_input,
                     path +
                         ": is the state of another build of mxcheck, whose proofs say nothing "
                         "about this one; remove it or name another file"};
    auto held = parsed(path, text.value(), "; remove the file to begin anew");
    if (!held) return held.error();
    return ProveState(path, std::move(held).value());
}

const proof::Digest* ProveState::find(const std::string& name) const {
    return proof::find_digest(held_, name);
}

Status ProveState::add(const proof::Digest& digest) {
    held_.push_back(digest);
    return path_.empty() ? success() : write_digests(path_, first_line(), held_);
}

Expected<std::vector<proof::Digest>> read_digests(const std::string& path) {
    const auto text = text_of_file(path);
    if (!text) return text.error();
    return parsed(path, text.value(), "");
}

Status write_digests(const std::string& path, const std::string& first_line,
                     const std::vector<proof::Digest>& digests) {
    std::string text = first_line;
    for (const proof::Digest& digest : digests) text += print(digest);
    return write_atomically(path, {std::as_bytes(std::span(text))});
}

}  // namespace mx::cli
