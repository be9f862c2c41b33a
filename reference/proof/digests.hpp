// The digests that are checked in, and whether a proof's report agrees with them. A digest is that
// of the exact oracle's answers, so any build on any machine confirms it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/proof/proof.hpp"

namespace mx::proof {

// One line of a file of digests: "DIGEST  COUNT  NAME".
struct Digest {
    std::string digest;  // 64 hexadecimal digits
    std::uint64_t count = 0;
    std::string name;  // of the proof
    bool operator==(const Digest&) const = default;
};

std::string print(const Digest& digest);

// Lines that are empty or begin with # are passed over. A line of any other shape, or one that does
// not end, ends the list: `bad_line` is then its number, counted from 1, else 0.
struct DigestList {
    std::vector<Digest> digests;
    std::size_t bad_line = 0;
};
DigestList parse_digests(std::string_view text);

// reference/proof/digests.txt as it was when this program was built.
const std::vector<Digest>& checked_in_digests();

// nullptr if no digest of that proof is known.
const Digest* find_digest(const std::vector<Digest>& known, std::string_view name);

// Empty if a digest of that name is known, and digest and count are the known ones; else what is
// wrong, as a sentence.
std::string digest_complaint(const std::vector<Digest>& known, const Digest& found);

}  // namespace mx::proof
