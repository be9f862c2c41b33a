// A call of the device ABI in which every tensor is strided: those in other layouts are copied in
// and out by the exact oracle's walks, so that the oracle device answers in every layout without a
// formula that the harness uses too. Used by the oracle device.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "conformance/selftest/oracle_request.hpp"

namespace mx::selftest {

class PlainCall {
public:
    explicit PlainCall(const kit::Arguments& call);

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
    static void load(const Copy& copy);

    const mx_operation* operation_;
    std::deque<std::vector<std::uint8_t>> bytes_;
    std::vector<mx_tensor> inputs_, outputs_;
    std::vector<Copy> input_copies_, output_copies_;
};

}  // namespace mx::selftest
