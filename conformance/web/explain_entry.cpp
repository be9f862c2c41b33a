// See explain_entry.hpp.
#include "conformance/web/explain_entry.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

#include "conformance/case/case.hpp"
#include "conformance/case/names.hpp"
#include "conformance/emulate/explain.hpp"
#include "reference/base/text.hpp"
#include "reference/proof/sha256.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::web {
namespace {

using Request = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view request_names[] = {"values", "format", "dialect", "input",
                                              "case",   "block",  "axis"};

Expected<Request> parsed(std::string_view text) {
    Request request;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const std::string_view name = line.substr(0, line.find('='));
        if (std::ranges::find(request_names, name) == std::end(request_names))
            return bad_input("the link has '" + std::string(name) +
                             "', which the page does not know");
        request[std::string(name)] = line.substr(std::min(line.size(), name.size() + 1));
    }
    return request;
}

std::string field(const Request& request, std::string_view name, std::string_view otherwise) {
    const auto at = request.find(name);
    return at == request.end() || at->second.empty() ? std::string(otherwise) : at->second;
}

Expected<emulate::ExplainTarget> target_of(const Request& request) {
    const std::string line = field(request, "case", "");
    if (line.empty()) {
        const std::string format = field(request, "format", "mxfp8-e4m3");
        const BlockFormat* row = find_block_format(format);
        const std::string usual = row == nullptr ? "ocp" : usual_quantizer(*row);
        return emulate::target_of_values({.values = field(request, "values", ""),
                                          .format = format,
                                          .dialect = field(request, "dialect", usual),
                                          .input = field(request, "input", "f32")});
    }
    if (line.starts_with("gemm "))
        return bad_input("a gemm has no block to explain; mxcheck replay says what came of it");
    const auto c = parse_case(line);
    if (!c) return c.error();
    std::uint64_t block = 0;
    const std::string number = field(request, "block", "0");
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), block);
    if (error != std::errc() || end != number.data() + number.size())
        return bad_input("block=" + number + " is no number of a block");
    Sources sources;
    return emulate::target_of_case(c.value(), block, sources, field(request, "axis", ""));
}

// A sequence that anyone can make again: Knuth's multiplier, the upper half of each state.
struct Bits {
    std::uint64_t state;
    std::uint32_t next() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>(state >> 32);
    }
};

// Few binades, so that lanes meet the borders of one scale; every eighth lane is any code at all.
std::uint32_t lane_of(Bits& bits) {
    const std::uint32_t any = bits.next();
    const std::uint32_t kind = bits.next() % 8;
    if (kind == 0) return any;
    const std::uint32_t near_one = (any & 0x807F0000) | (120 + any % 12) << 23;
    return kind < 5 ? near_one : near_one | (any >> 9 & 0xFFFF);
}

std::string request_of(std::uint32_t block) {
    Bits bits{block};
    const BlockFormat& format = block_formats[block % block_formats.size()];
    const std::vector<std::string> dialects = quantizer_names(format);
    std::string text = "format=" + std::string(format.name) +
                       "\ndialect=" + dialects[bits.next() % dialects.size()] + "\nvalues=";
    const std::uint32_t lanes = 1 + bits.next() % 16;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        char code[24];
        std::snprintf(code, sizeof code, "%sbits:0x%08x", lane == 0 ? "" : ",", lane_of(bits));
        text += code;
    }
    return text;
}

}  // namespace

PageAnswer answer_to(std::string_view text) {
    const auto request = parsed(text);
    if (!request) return {PageCode::refused, request.error().message};
    const auto target = target_of(request.value());
    if (!target) return {PageCode::refused, target.error().message};
    const emulate::Explanation explanation = emulate::explain(target.value());
    if (explanation.fault.empty()) return {PageCode::explained, explanation.text};
    return {PageCode::broken, "a fault of mxcheck itself, not of any device: " + explanation.fault};
}

std::string offered_tables() {
    std::string lines;
    for (const BlockFormat& format : block_formats) {
        const std::string usual = usual_quantizer(format);
        lines += std::string(format.name) + " " + usual;
        for (const std::string& name : quantizer_names(format))
            if (name != usual) lines += " " + name;
        lines += "\n";
    }
    return lines;
}

std::string digest_of_blocks(std::uint32_t first, std::uint32_t count) {
    std::string texts;
    for (std::uint32_t block = first; block != first + count; ++block) {
        const PageAnswer answer = answer_to(request_of(block));
        texts += sha256(answer.text) + static_cast<char>('0' + static_cast<int>(answer.code));
    }
    return sha256(texts);
}

}  // namespace mx::web
