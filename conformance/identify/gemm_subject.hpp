// The black box that multiplies: probes in, bits of binary32 out. Each probe is a row of A and a
// row of B, so a GEMM of n x n answers n of them on its diagonal, and n * n in all.
// Used by gemm_identify.cpp and gemm_census.cpp; knows no model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/identify/gemm_machine.hpp"
#include "device/host/client.hpp"
#include "reference/base/status.hpp"

namespace mx::identify {

// How codes of 4 bits and the scales of blocks of 16 and 32 lie.
enum class GemmLayout {
    tiled,   // as tensor cores read them: packed-low and 128x4
    linear,  // strided
};

// M x N x K; of the rows the first ones hold probes, and the others zeros.
struct GemmShape {
    std::int64_t m = 0, n = 0, k = 0;
};
std::string text_of(const GemmShape& shape);

class GemmSubject {
public:
    GemmSubject(Client client, GemmProblem setting)
        : client_(std::move(client)), setting_(std::move(setting)) {}

    const GemmProblem& setting() const { return setting_; }
    std::uint64_t calls() const { return calls_; }
    std::uint64_t outputs_read() const { return outputs_read_; }

    // The answers to the probes, one each. All probes are of depth shape.k; those that have alpha,
    // beta and what else belongs to a whole GEMM in common share a call, as many as fit.
    Expected<std::vector<Code>> ask(const GemmShape& shape, std::span<const GemmProbe> probes);

    // All outputs of one GEMM: row i of A and what goes with it from left[i], row j of B from
    // right[j]; alpha and beta from left[0]. C is that of left[i]. Row-major, each NaN with the
    // bits that the device gave it.
    Expected<std::vector<Code>> ask_all(std::span<const GemmProbe> left,
                                        std::span<const GemmProbe> right);

    Expected<std::vector<std::string>> algorithms(const GemmShape& shape);

    // Every pattern of bits that stood for NaN, in the order in which they came.
    const std::vector<Code>& nans() const { return nans_; }

private:
    Expected<std::vector<Code>> run(const GemmShape& shape, std::span<const GemmProbe> left,
                                    std::span<const GemmProbe> right);
    DeviceAnswer answer_to(const GemmShape& shape, std::span<const GemmProbe> left,
                           std::span<const GemmProbe> right);

    Client client_;
    GemmProblem setting_;
    GemmLayout layout_ = GemmLayout::tiled;
    std::vector<Code> nans_;
    std::uint64_t calls_ = 0;
    std::uint64_t outputs_read_ = 0;
};

// Does the device multiply so at all? Asked with one problem of zeros.
bool takes(const Client& device, const GemmProblem& setting);

}  // namespace mx::identify
