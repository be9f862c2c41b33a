// See formats.hpp.
#include "conformance/identify/formats.hpp"

#include <algorithm>

#include "conformance/case/names.hpp"
#include "conformance/emulate/recipe_fields.hpp"
#include "conformance/identify/rows.hpp"
#include "reference/base/text.hpp"

namespace mx::identify {
namespace {

// The names that a device may be asked under, the first that it takes: what was given, which need
// be in no table; where a format's scale has a mantissa, rows of the table, which say what tensors
// there are.
Expected<std::vector<std::string>> dialects_asked(const FormatsRequest& request,
                                                  const BlockFormat& format) {
    const std::string& given = request.dialect;
    if (format.has_e8m0_scales()) return std::vector<std::string>{given.empty() ? "ocp" : given};
    std::vector<std::string> names;
    for (const Quantizer* row : emulate::recipes_of(format))
        if (row->reads(request.input)) names.emplace_back(row->name);
    if (names.empty())
        return bad_input("no dialect quantizes " + std::string(format.name) + " from " +
                         request.input);
    if (given.empty()) return names;
    if (const Status known = check_name("dialect", given, quantizer_names()); !known)
        return known.error();
    if (std::ranges::find(names, given) == names.end())
        return bad_input("dialect '" + given + "' does not; those that quantize " +
                         std::string(format.name) + " from " + request.input + " are " +
                         joined(names, ", "));
    return std::vector<std::string>{given};
}

Expected<Identification> ask_format(const FormatsRequest& request, const BlockFormat& format,
                                    const Client& client) {
    Expected<Identification> found = bad_input("");
    for (const std::string& dialect : dialects_asked(request, format).value()) {
        const Setting setting{format, *find_element_format(request.input), dialect};
        if (format.has_e8m0_scales()) {
            Subject subject(client, setting);
            return identify(subject);
        }
        found = identify_row(client, setting);
        if (found || found.error().kind != ErrorKind::bad_input) break;
    }
    return found;
}

}  // namespace

std::vector<std::string> FormatsRequest::formats_asked() const {
    return formats.empty() ? std::vector<std::string>{"mxfp8-e4m3", "mxfp4-e2m1"} : formats;
}

Status check(const FormatsRequest& request) {
    for (const std::string& format : request.formats_asked()) {
        const Status known = check_name("format", format, block_format_names());
        if (!known) return known;
    }
    if (const Status known = check_name("input type", request.input, type_names()); !known)
        return known;
    for (const std::string& format : request.formats_asked())
        if (const auto names = dialects_asked(request, *find_block_format(format)); !names)
            return names.error();
    return success();
}

Expected<std::vector<Identification>> identify_formats(const FormatsRequest& request,
                                                       const Client& client) {
    std::vector<Identification> all;
    std::string refusal;
    for (const std::string& format : request.formats_asked()) {
        const auto found = ask_format(request, *find_block_format(format), client);
        if (found)
            all.push_back(found.value());
        else if (found.error().kind == ErrorKind::bad_input)
            refusal = format + ": " + found.error().message;
        else
            return Error{found.error().kind, format + ": " + found.error().message};
    }
    if (all.empty()) return bad_input(refusal);
    return all;
}

std::vector<std::string> common_names(const std::vector<Identification>& all) {
    std::vector<std::string> names = all.front().identical;
    for (const Identification& found : all)
        std::erase_if(names, [&found](const std::string& name) {
            return std::ranges::find(found.identical, name) == found.identical.end();
        });
    return names;
}

Client watched(Client client, std::string& fault) {
    client.ask = [ask = client.ask, &fault](const Question& question) {
        DeviceAnswer answer = ask(question);
        if (answer.kind == AnswerKind::answered || !fault.empty()) return answer;
        const Error refusal = refusal_of(answer);
        if (refusal.kind == ErrorKind::device) fault = refusal.message;
        return answer;
    };
    return client;
}

}  // namespace mx::identify
