// Shared by the tests of the self-test: planted bugs by name, a device that refuses everything, one
// that fails at everything, and two that do not open.
#pragma once

#include <string>

#include "conformance/selftest/subjects.hpp"

namespace mx::selftest {

// One line of mutants.def as a device, under its own name.
inline Subject mutant(const std::string& name) {
    return {name,
            "what " + name + " does",
            "what it needs",
            {.name = "mutants.so:bug=" + name,
             .path = MX_MUTANT_DIRECTORY "/mutants.so",
             .configuration = "bug=" + name}};
}

// The clean base dressed as a bug: no case can catch it.
inline Subject sleeper() {
    Subject subject = mutant("none");
    subject.name = "sleeper";
    return subject;
}

// A device that does nothing at all, and says so.
Subject shirker();

// A device that takes every job and fails at it: as wrong as the canary, in no time.
Subject failure();

// A device that wants a GPU and finds none, and one that finds it broken.
Subject absentee();
Subject invalid();

}  // namespace mx::selftest
