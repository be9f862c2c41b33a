// A case: a problem, and where its data come from. Command line, suite line and repro line are the
// same text. Plain data; opens no file and asks no device.
#pragma once

#include <cstdint>
#include <string>

#include "reference/base/status.hpp"
#include "reference/problem/problem.hpp"

namespace mx {

struct Case : Problem {
    std::string data;         // a data family, bits:HEX,HEX,... or file:PATH
    std::uint64_t index = 0;  // the family's block that stands in block 0 of the tensor
    std::uint64_t seed = 0;

    bool operator==(const Case&) const = default;
};

// "quantize format=mxfp8-e4m3 dialect=ocp input=f32 axis=row block=32 layout=dense shape=1x32
// data=edge.tie index=499 seed=0", on one line. Every field that the case has is written, so that a
// repro line keeps its meaning when a default changes. A GEMM is written
// "gemm a=mxfp8-e4m3 b=mxfp8-e5m2 output=f32 shape=64x64x256 batches=1 alpha=1 beta=0 c=none
// epilogue=none accumulation=default algorithm=default model=any layout=dense scales=linear
// packing=bytes data=gemm.exact-signs index=0 seed=0".
std::string print(const Case& c);

// The inverse of print. format (of a GEMM a and b), shape and data must be given; the other fields
// have defaults.
// The error names the word that is wrong, and the nearest right one.
Expected<Case> parse_case(const std::string& text);

// The two halves of parse_case, which reads a line of an old record as its successor, too: the
// fields with their defaults, their names looked up, and whether they go together. A suite passes
// over combinations that do not.
Expected<Case> read_case(const std::string& text);
Status check_combination(const Problem& p);

// What a line says, word by word: the edge at which names become rows and enumerators. Made of a
// line's fields by read_case; of options or metadata by whoever has those.
struct CaseWords {
    std::string operation;
    std::string format;
    std::string dialect;
    std::string type = "f32";  // of a GEMM the output
    std::string axis;          // "" where it was not given: what the format says
    std::string tensor;        // the number of the whole tensor, "derived" or its code; "" likewise
    std::string rounding, overflow, subnormals;  // "" likewise
    std::string layout = "dense";
    std::string scales = "linear";
    std::string packing = "bytes";
    std::string a, b, c;  // of a GEMM, as the next
    std::string epilogue = "none";
    std::string accumulation = "default";
    std::string model = "any";
    std::int64_t block = 0;  // 0 where it was not given: what the format says
    Case rest;               // what no table names: numbers, data, the device's algorithm
};

// The case with the names looked up. The error names the first that no table has; whether the
// fields go together is check_combination's question.
Expected<Case> case_of(const CaseWords& words);

// The words that stand in a case line for what the problem holds; "" for what it lacks.
std::string format_name(const Problem& p);
std::string dialect_name(const Problem& p);
std::string type_name(const Problem& p);

}  // namespace mx
