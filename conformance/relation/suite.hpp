// All relations of an operation before one device: which held, which broke and on what, and which
// were not asked. Used by the command and the tests; prints nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/relation/relation.hpp"

namespace mx::relation {

enum class Standing {
    held,     // claimed, and no sample broke it
    broken,   // claimed, and one did
    seen,     // not claimed, and held on every sample
    unlike,   // not claimed, and broken: no fault
    unasked,  // the device does not do what it takes
    faulty,   // the device crashed, hung or failed
};

struct Result {
    const Relation* relation = nullptr;
    Standing standing = Standing::unasked;
    std::uint64_t samples = 0;
    std::uint64_t compared = 0;
    std::string reason = {};  // why not claimed, not asked, or how the device failed
    Sample sample = {};       // shrunk, where it broke
    Finding finding = {};
};

struct Request {
    std::vector<std::string> names = {};  // of relations; none: all of the operation
    std::uint64_t seed = 0;
    std::uint64_t samples = 4;  // seeds seed, seed + 1, ...
    // Relations that whoever asks says of the device, whatever the facts leave open.
    std::vector<std::string> claims = {};
    std::function<bool()> is_enough = [] { return false; };
};

std::vector<Result> relate(Subject& subject, const Request& request);

// One sample alone, as a repro line has it.
Result relate_once(Subject& subject, const Relation& relation, const Sample& sample,
                   const std::vector<std::string>& claims = {});

// The smallest sample found on which the relation still breaks.
Sample shrunk(Subject& subject, const Relation& relation, const Sample& sample);

}  // namespace mx::relation
