// A call of the device ABI in which every tensor is strided: those in other layouts are copied in
// and out by the exact oracle's walks, so that the library answers in every layout without a
// formula that the harness uses too. Knows where codes lie; neither names of operations nor values.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "device/kit/call.hpp"

namespace mx::library {

// What of the call is read: nothing, then there are no copies and no data either, only what they
// would be; the inputs; or, where outputs are answers to be judged, these as well.
enum class Loaded { nothing, inputs, everything };

// Does a tensor lie in another layout than "strided"?
bool needs_copies(const kit::Arguments& call);

class PlainCall {
public:
    // Of a call that kit::Call has passed. Refuses a layout that it knows but that does not go with
    // the tensor.
    PlainCall(const kit::Arguments& call, Loaded loaded);
    PlainCall(const PlainCall&) = delete;
    PlainCall& operator=(const PlainCall&) = delete;

    // Valid as long as this object and the tensors of the call.
    kit::Arguments call() const;

    // From the copies of outputs to the outputs themselves, every pad 0.
    void store() const;

private:
    // A tensor in another layout and its copy: codes, and for inline the scales as well.
    struct Copy {
        mx_tensor original;
        std::vector<std::uint8_t>* codes;
        std::vector<std::uint8_t>* scales;
    };
    void add(const mx_tensor& tensor, std::vector<mx_tensor>& plain, std::vector<Copy>& copies);
    std::vector<std::uint8_t>* add_plain(const mx_tensor& like, std::vector<mx_tensor>& plain);
    void load(const Copy& copy) const;
    std::int64_t block_size() const { return operation_->block_size; }

    const mx_operation* operation_;
    bool has_data_;
    std::deque<std::vector<std::uint8_t>> bytes_;
    std::vector<mx_tensor> inputs_, outputs_;
    std::vector<Copy> input_copies_, output_copies_;
};

}  // namespace mx::library
