// What is to be measured, and the device that is measured beside the oracle. Filled by mxcheck
// accuracy and train.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/accuracy/quantizer_names.hpp"
#include "device/host/client.hpp"

namespace mx::accuracy {

struct NamedClient {
    Client client;
    std::string name;
};

struct AccuracyRequest {
    std::string input;                  // a tensor file, of blocks alone
    std::vector<std::string> formats;   // of a GEMM words of factors; empty: the usual ones
    std::vector<std::string> dialects;  // empty: usual_dialects
    std::vector<std::string> data;      // empty: the usual ones
    std::uint64_t elements = 1 << 20;
    std::uint64_t block = 32;
    std::uint64_t seed = 0;
    bool stochastic = false;
    // Of a GEMM alone:
    std::string format_b;             // "": that of A
    std::vector<std::string> models;  // empty: all that take the factors
    std::vector<std::string> outputs{"f32"};
    std::vector<std::string> depths{"128", "1024", "4096"};
    std::vector<std::string> algorithms{"default"};
    std::uint64_t side = 16;  // of D

    std::vector<std::string> dialects_for(const std::string& format) const {
        return dialects.empty() ? usual_dialects(format) : dialects;
    }
};

// How much of what was measured can be right or wrong, and is wrong.
struct Judged {
    std::uint64_t compared = 0, wrong = 0;
};

}  // namespace mx::accuracy
