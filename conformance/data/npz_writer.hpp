// Writes NumPy's .npz: a ZIP archive of .npy files, stored without compression and without dates,
// so that the same arrays make the same bytes. Used by the vectors that `mxcheck gen` writes; reads
// nothing.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "conformance/data/host_tensor.hpp"

namespace mx::data {

class NpzWriter {
public:
    // What the headers of such an archive have room for.
    static constexpr std::uint64_t size_max = 0xFFFFFFFF;
    static constexpr std::size_t arrays_max = 0xFFFF;

    // `to` must outlive the writer; whether it took the bytes is for its owner to ask.
    explicit NpzWriter(std::ostream& to) : to_(to) {}

    // The array that np.load(path)[tensor.name] gives. The error names a tensor that has no type in
    // .npy, or that is one too many.
    Status add(const HostTensor& tensor);

    // The directory at the end of the archive, without which nobody finds an array.
    void finish();

private:
    struct Entry {
        std::string name;
        std::uint32_t crc = 0, size = 0, offset = 0;
    };

    void put(const std::string& bytes);

    std::ostream& to_;
    std::uint64_t written_ = 0;
    std::vector<Entry> entries_;
};

}  // namespace mx::data
