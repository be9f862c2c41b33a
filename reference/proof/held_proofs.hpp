// What a file remembers of proofs that already held, with their digests, for one program alone: a
// file of another is refused, never mixed in. And files of digests. Used by mxcheck prove.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference/base/status.hpp"
#include "reference/proof/digests.hpp"

namespace mx::proof {

class HeldProofs {
public:
    // Reads the file if it exists. An empty path is a file that is never written. `program` is what
    // no other program is called, in one line.
    static Expected<HeldProofs> open(const std::string& path, const std::string& program);

    // nullptr if this proof has not been seen to hold.
    const Digest* find(const std::string& name) const { return find_digest(held_, name); }

    // Writes the file whole or not at all, so that it is valid whenever the program ends.
    Status add(const Digest& digest);

private:
    HeldProofs(std::string path, std::string first_line, std::vector<Digest> held)
        : path_(std::move(path)), first_line_(std::move(first_line)), held_(std::move(held)) {}

    std::string path_, first_line_;
    std::vector<Digest> held_;
};

Expected<std::vector<Digest>> read_digests(const std::string& path);

// A first line of its own, then one line each.
Status write_digests(const std::string& path, const std::string& first_line,
                     const std::vector<Digest>& digests);

}  // namespace mx::proof
