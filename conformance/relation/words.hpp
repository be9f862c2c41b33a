// The words by which relations are asked for, as options have them: what setting they come to, what
// sample a repro line names, and the line that names it. Used by mxcheck relate; asks only in
// `results_of`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/relation/suite.hpp"

namespace mx::relation {

struct Words {
    std::vector<std::string> operations;
    std::string format = "mxfp8-e4m3", dialect, values = "f32";
    std::string elements, elements_b, scales, scaling, accumulation;  // "": those of the format
    std::uint64_t block = 0;                                          // 0: likewise
    std::vector<std::string> names, claims;
    std::uint64_t seed = 0, samples = 4;
    std::string shape, bits, scale_bits;  // of the one sample that a repro line names

    std::string elements_or_usual() const;
    std::string scales_or_usual() const;
};

const std::vector<std::string>& operation_names();
std::vector<std::string> relation_names();  // each once

// What relations do not do: their samples are rows and columns of values, and nothing beside.
Status check_row(const Words& words);

Setting setting_of(const Words& words, const std::string& operation);

// The sample that `shape`, `bits` and `scale_bits` name.
Expected<Sample> sample_of(const Words& words, const Subject& subject, const Relation& relation);

// All samples of all relations, or the one that is named.
Expected<std::vector<Result>> results_of(const Words& words, Subject& subject,
                                         const std::function<bool()>& is_enough);

// " --op gemm ... --relation NAME": what is asked, whoever answers, without the samples.
std::string command_of(const Words& words, const Setting& setting, const Result& result);

// " --op ... --bits ...": asks both inputs again; the first is written out, and the second follows
// from it and the seed.
std::string repro_of(const Words& words, const Setting& setting, const Result& result);

}  // namespace mx::relation
