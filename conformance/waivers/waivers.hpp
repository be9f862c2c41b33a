// Waivers: mismatches of a device that somebody has signed for, until a day. Read from TOML, held
// against the record of a case. Used by the program; knows no clock, so the date is an argument.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/fields.hpp"
#include "conformance/results/record.hpp"
#include "reference/base/status.hpp"

namespace mx {

struct Waiver {
    results::Waiver record;  // its state is left for settle
    Words pattern = {};      // of the case, each word a glob
    std::size_t line = 0;    // where it begins in its file
};

// Reads the text of a file of waivers; `name` stands for the path in errors, which name the line.
// A field that is missing or unknown, a date that is none, and a pattern that fits everything are
// errors, for a waiver that nobody can read as it was meant excuses too much or nothing.
Expected<std::vector<Waiver>> parse_waivers(std::string_view text, const std::string& name);

// Does the pattern fit the case, or the sweep, of this text?
bool fits(const Waiver& waiver, const std::string& case_text);

// What a run knows when it begins.
struct RunFacts {
    std::string device;                   // as the user named it; its last component may fit too
    std::string today;                    // "2026-11-21"
    std::vector<std::string> case_texts;  // of the whole run, whatever the shard
};

// Gives each its state.
void settle(std::vector<Waiver>& waivers, const RunFacts& facts);

// A case that fails, or is flaky, becomes waived if waivers in force cover the class of every one
// of its mismatches; those that hang on an open decision need none. Otherwise it stays as it is.
void excuse(std::span<const Waiver> waivers, results::CaseResult& result);

// Places of the waivers in force that no case of the run needed, from 0.
std::vector<std::size_t> unneeded(const results::Run& run);

}  // namespace mx
