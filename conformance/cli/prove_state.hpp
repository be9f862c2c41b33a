// What `mxcheck prove --state FILE` remembers: the proofs that already held, with their digests,
// for this very program. A file of another program is refused, never mixed in.
#pragma once

#include <string>
#include <vector>

#include "reference/base/status.hpp"
#include "reference/proof/digests.hpp"

namespace mx::cli {

class ProveState {
public:
    // Reads the file if it exists. An empty path is a state that is never written.
    static Expected<ProveState> open(const std::string& path);

    // nullptr if this proof has not been seen to hold.
    const proof::Digest* find(const std::string& name) const;

    // Writes the file whole or not at all, so that it is valid whenever the program ends.
    Status add(const proof::Digest& digest);

private:
    ProveState(std::string path, std::vector<proof::Digest> held)
        : path_(std::move(path)), held_(std::move(held)) {}

    std::string path_;
    std::vector<proof::Digest> held_;
};

Expected<std::vector<proof::Digest>> read_digests(const std::string& path);

// A file of digests: a first line of its own, then one line each.
Status write_digests(const std::string& path, const std::string& first_line,
                     const std::vector<proof::Digest>& digests);

}  // namespace mx::cli
