// Requests as vectors: the tensors of each case of a plan, and the right answers where they are
// asked for, in files that a testbench, a script or NumPy reads without mxcheck. `mxcheck gen`
// writes them. A pack (pack.hpp) is the other form, for a device whose answers come back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/data/inputs.hpp"
#include "device/host/operation.hpp"

namespace mx::session {

// Of the files; grows when one of another version could misread them.
inline constexpr int vectors_version = 1;

enum class VectorForm { readmemh, csv, json, npz };
std::optional<VectorForm> vector_form_named(std::string_view name);

enum class RightAnswers { left_out, given };

// The name says what it holds and whether a device is given it or must give it: "values",
// "expected_elements".
struct VectorTensor {
    std::string name;
    TensorSpec spec;               // row by row without gaps, where it is strided
    std::vector<std::byte> bytes;  // little endian, codes of fewer than 8 bits one a byte
};

struct VectorRequest {
    Case c;
    std::string id;  // as in a pack
    std::vector<VectorTensor> tensors;
    std::string unanswered;  // why there are no right answers though they were asked for
};

// What one case asks, and is answered.
struct VectorPlace {
    std::uint64_t number = 0, total = 0;
};
VectorRequest vectors_of(const Case& c, const std::vector<CodeTensor>& inputs,
                         const VectorPlace& place, RightAnswers answers);

// No more bytes than this: what the files of these cases take.
std::uint64_t vectors_size(const std::vector<Case>& cases, VectorForm form, RightAnswers answers);

struct VectorsTarget {
    std::string path;  // a file; of readmemh a folder that does not exist yet
    VectorForm form = VectorForm::readmemh;
    std::string program;  // who writes them: "mxcheck 0.1.0 (commit ...)"
};

// Writes request after request beside the target, which is there whole after `finish` or not at
// all.
class VectorWriter {
public:
    static Expected<std::unique_ptr<VectorWriter>> open(VectorsTarget target);
    virtual ~VectorWriter() = default;
    virtual Status add(const VectorRequest& request) = 0;
    virtual Status finish() = 0;
};

}  // namespace mx::session
