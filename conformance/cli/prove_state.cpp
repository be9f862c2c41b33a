// See prove_state.hpp.
#include "conformance/cli/prove_state.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "conformance/cli/environment.hpp"
#include "conformance/data/atomic_file.hpp"

namespace mx::cli {
namespace {

// The commit alone would not tell two builds with local changes apart.
const std::string& first_line() {
    static const std::string line = "# state of mxcheck prove, commit " + program_commit() +
                                    ", program " + file_hash("/proc/self/exe") + "\n";
    return line;
}

Expected<std::string> text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return Error{ErrorKind::bad_input, path + ": cannot be read"};
    return std::move(text).str();
}

}  // namespace

Expected<ProveState> ProveState::open(const std::string& path) {
    std::error_code error;
    if (path.empty() || !std::filesystem::exists(path, error)) return ProveState(path, {});
    const auto text = text_of(path);
    if (!text) return text.error();
    if (!text.value().starts_with("# state of mxcheck prove"))
        return Error{ErrorKind::bad_input, path + ": is no state of mxcheck prove"};
    if (!text.value().starts_with(first_line()))
        return Error{ErrorKind::bad_input,
                     path +
                         ": is the state of another build of mxcheck, whose proofs say nothing "
                         "about this one; remove it or name another file"};
    const proof::DigestList list = proof::parse_digests(text.value());
    if (list.bad_line != 0)
        return Error{ErrorKind::bad_input,
                     path + ": line " + std::to_string(list.bad_line) +
                         " is not 'DIGEST  COUNT  NAME'; remove the file to begin anew"};
    return ProveState(path, list.digests);
}

const proof::Digest* ProveState::find(const std::string& name) const {
    const auto at = std::find_if(held_.begin(), held_.end(),
                                 [&](const proof::Digest& digest) { return digest.name == name; });
    return at == held_.end() ? nullptr : &*at;
}

Status ProveState::add(const proof::Digest& digest) {
    held_.push_back(digest);
    return path_.empty() ? success() : write_digests(path_, first_line(), held_);
}

Status write_digests(const std::string& path, const std::string& first_line,
                     const std::vector<proof::Digest>& digests) {
    std::string text = first_line;
    for (const proof::Digest& digest : digests) text += print(digest);
    return data::write_atomically(path, {std::as_bytes(std::span(text))});
}

}  // namespace mx::cli
