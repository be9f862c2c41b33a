// Reads a results file, believing nothing in it. Used by resume, merge, report and replay. Must not
// know JSON: record_json does.
#include "conformance/results/results_file.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "conformance/results/contradiction.hpp"
#include "conformance/results/record_json.hpp"

namespace mx::results {
namespace {

// Takes the lines one by one and holds what is known so far.
class Parser {
public:
    Status take(std::string_view line, std::uint64_t end) {
        Expected<Record> record = record_of(line);
        if (!record.ok()) return record.error();
        if (parsed_.run.complete) return bad("stands after the footer, where nothing may follow");
        if (auto* header = std::get_if<RunHeader>(&record.value())) {
            if (seen_header_) return bad("is a second header");
            seen_header_ = true;
            parsed_.run.header = std::move(*header);
            parsed_.appendable_size = end;
            return success();
        }
        if (!seen_header_) return bad("is no header, and a results file starts with one");
        if (auto* result = std::get_if<CaseResult>(&record.value()))
            return take_case(std::move(*result), end);
        return take_footer(std::get<RunFooter>(std::move(record.value())));
    }

    bool seen_header() const { return seen_header_; }
    ParsedResults take_result() && { return std::move(parsed_); }

private:
    static Error bad(std::string message) { return bad_input(std::move(message)); }

    Status take_case(CaseResult result, std::uint64_t end) {
        if (!indices_.insert(result.index).second)
            return bad("records case " + std::to_string(result.index) + " a second time");
        for (const std::uint64_t waiver : result.waivers)
            if (waiver == 0 || waiver > parsed_.run.header.waivers.size())
                return bad("names waiver " + std::to_string(waiver) + ", and the header has " +
                           std::to_string(parsed_.run.header.waivers.size()));
        if (const std::string wrong = contradiction_of(result); !wrong.empty())
            return bad("contradicts itself: " + wrong);
        parsed_.run.cases.push_back(std::move(result));
        parsed_.appendable_size = end;
        return success();
    }

    // A footer that does not add up means that lines were lost or changed.
    Status take_footer(RunFooter footer) {
        const RunFooter counted = count_cases(parsed_.run.cases);
        for (Field& count : footer.verdicts)
            if (Verdict verdict{}; verdict_from_name(count.key, verdict))
                count.key = name_of(verdict);
        struct Total {
            const char* name;
            std::uint64_t written, counted;
        };
        const std::array totals{
            Total{"cases", footer.cases, counted.cases},
            Total{"elements", footer.elements, counted.elements},
            Total{"scales", footer.scales, counted.scales},
            Total{"mismatched elements", footer.mismatched_elements, counted.mismatched_elements},
            Total{"mismatched scales", footer.mismatched_scales, counted.mismatched_scales},
        };
        for (const Total& total : totals)
            if (total.written != total.counted)
                return bad("the footer counts " + std::to_string(total.written) + " " + total.name +
                           ", the lines before it " + std::to_string(total.counted));
        parsed_.run.footer = std::move(footer);
        parsed_.run.complete = true;
        if (const std::string wrong = contradiction_of(parsed_.run); !wrong.empty())
            return bad("contradicts the rest: " + wrong);
        return success();
    }

    ParsedResults parsed_;
    bool seen_header_ = false;
    std::unordered_set<std::uint64_t> indices_;
};

}  // namespace

Error system_error(const std::string& path, std::string_view what, int error_number) {
    return {ErrorKind::system,
            path + ": " + std::string(what) + ": " + std::generic_category().message(error_number)};
}

RunFooter count_cases(std::span<const CaseResult> cases) {
    RunFooter footer;
    std::array<std::uint64_t, verdict_count> counts{};
    for (const CaseResult& result : cases) {
        ++footer.cases;
        footer.elements += result.elements;
        footer.scales += result.scales;
        footer.mismatched_elements += result.mismatched_elements;
        footer.mismatched_scales += result.mismatched_scales;
        ++counts.at(static_cast<std::size_t>(result.verdict));
    }
    for (std::size_t position = 0; position < counts.size(); ++position) {
        if (counts[position] == 0) continue;
        const auto verdict = static_cast<Verdict>(position);
        footer.verdicts.push_back(
            {std::string(name_of(verdict)), std::to_string(counts[position])});
    }
    return footer;
}

Expected<ParsedResults> parse_for_resume(std::string_view text, const std::string& name) {
    Parser parser;
    std::size_t begin = 0;
    for (std::size_t number = 1; begin < text.size(); ++number) {
        const std::size_t end = text.find('\n', begin);
        if (end == std::string_view::npos) break;
        const Status taken = parser.take(text.substr(begin, end - begin), end + 1);
        if (!taken.ok())
            return Error{taken.error().kind,
                         name + ", line " + std::to_string(number) + ": " + taken.error().message};
        begin = end + 1;
    }
    if (!parser.seen_header())
        return bad_input(name + ": holds no whole line, so no run started here");
    return std::move(parser).take_result();
}

Expected<Run> parse_results(std::string_view text, const std::string& name) {
    Expected<ParsedResults> parsed = parse_for_resume(text, name);
    if (!parsed.ok()) return parsed.error();
    return std::move(parsed).value().run;
}

Expected<std::string> read_all(const FileDescriptor& file, const std::string& path) {
    std::string text;
    std::array<char, 65536> chunk{};
    while (true) {
        const ssize_t count = ::read(file.number(), chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return system_error(path, "cannot read", errno);
        if (count == 0) return text;
        text.append(chunk.data(), static_cast<std::size_t>(count));
    }
}

Expected<Run> read_results(const std::string& path) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return system_error(path, "cannot open", errno);
    const Expected<std::string> text = read_all(file, path);
    if (!text.ok()) return text.error();
    return parse_results(text.value(), path);
}

}  // namespace mx::results
