// Which tensors of a file belong together, and whose layout they have: names and shapes as the
// projects' own documents give them. Used by diff, audit, identify and explain; reads no elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/files/view.hpp"

namespace mx::files {

// A quantized tensor by its names whose parts do not fit each other.
struct Misfit {
    std::string name;
    std::string convention;
    std::string what;  // a sentence
};

struct Recognised {
    std::vector<View> views;
    std::vector<data::ListedTensor> others;  // neither elements nor scales of anything
    std::vector<Misfit> misfits;
};

// One way in which projects store quantized tensors. A tensor NAME + elements with a tensor
// NAME + scales beside it is one; `global` is the number of the whole tensor, "" where there is
// none.
struct Convention {
    std::string_view name;
    std::string_view elements, scales, global;
    GlobalUse use;
    std::string_view source;  // repository:path
};
std::vector<Convention> conventions();

// `elements_format` says what six bits, or bytes that could be several formats, are: the name of an
// element format, or "" for the usual one.
Expected<Recognised> recognise(const data::TensorListing& listing,
                               const std::string& elements_format = "");

// list_tensors and recognise. As error, beside theirs: deflated tensors that are too large to be
// unpacked in memory.
Expected<Recognised> open_quantized(const std::string& path,
                                    const std::string& elements_format = "");

// The quantized tensor of that name, or the only one of the file.
Expected<View> open_view(const std::string& path, const std::string& name,
                         const std::string& elements_format = "");

// "rows x columns", as sentences have them.
std::string size_text(std::int64_t rows, std::int64_t columns);

}  // namespace mx::files
