// The members of a ZIP archive, stored or deflated, each as bytes that are read in pieces: what
// .npz and torch's .pt are made of. Used by their readers; knows nothing of what a member holds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/data/byte_source.hpp"

namespace mx::data {

struct ZipMember {
    std::string name;
    std::shared_ptr<const ByteSource> bytes;  // named "ARCHIVE: NAME" in messages
};

// The first bytes of an archive that has a member.
inline constexpr std::string_view zip_magic = "PK\3\4";

// As error: no archive, a damaged or encrypted one, one in several parts, a method that is neither
// stored nor deflated, a size that deflate cannot reach. Takes memory for the directory alone; a
// deflated member is unpacked as it is read, from its start whenever one reads backwards.
Expected<std::vector<ZipMember>> list_zip(const std::shared_ptr<const ByteSource>& archive);

}  // namespace mx::data
