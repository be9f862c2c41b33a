// See suite.hpp.
#include "conformance/relation/suite.hpp"

#include <algorithm>

#include "conformance/relation/compare.hpp"
#include "conformance/relation/facts.hpp"
#include "reference/spec/formats.hpp"

namespace mx::relation {
namespace {

struct Checked {
    Finding finding;
    Error error;
    bool failed = false;
};

// What no answer may do breaks any relation.
Checked checked(Subject& subject, const Relation& relation, const Sample& sample) {
    const auto finding = relation.check(subject, sample);
    if (finding) return {finding.value(), {}};
    if (subject.fault().empty()) return {{}, finding.error(), true};
    return {{.broken = subject.fault(), .first = text_of(sample.values)}, {}};
}

bool is_broken(Subject& subject, const Relation& relation, const Sample& sample) {
    const Checked result = checked(subject, relation, sample);
    return !result.failed && !result.finding.broken.empty();
}

// Half of the rows or columns, in turn, as long as it still breaks.
bool halve(Subject& subject, const Relation& relation, Sample& sample) {
    const CodeTensor& x = sample.values;
    const std::int64_t rows = x.rows, columns = x.columns;
    for (const Cut& part :
         {Cut{0, 0, rows / 2, columns}, Cut{rows / 2, 0, rows - rows / 2, columns},
          Cut{0, 0, rows, columns / 2}, Cut{0, columns / 2, rows, columns - columns / 2}}) {
        if (part.rows == 0 || part.columns == 0 || part.rows * part.columns == rows * columns)
            continue;
        Sample candidate = sample;
        candidate.values = cut(x, part);
        if (!is_broken(subject, relation, candidate)) continue;
        sample = candidate;
        return true;
    }
    return false;
}

// Each lane to the simplest number that the relation is about.
void simplify(Subject& subject, const Relation& relation, Sample& sample) {
    const ElementFormat* type = find_element_format(sample.values.type);
    const std::uint32_t one = type == nullptr ? 0
                                              : static_cast<std::uint32_t>(type->exponent_bias)
                                                    << type->mantissa_bits;
    const std::uint32_t simplest = relation.data == Data::ordinary ? one : 0;
    for (std::size_t i = 0; i < sample.values.count(); ++i) {
        if (sample.values.at(i) == simplest) continue;
        Sample candidate = sample;
        candidate.values.set(i, simplest);
        if (is_broken(subject, relation, candidate)) sample = std::move(candidate);
    }
}

// Codes and scales of dequantize go together: only codes are simplified.
constexpr std::size_t simplified_max = 256;

Sample shrunk_product(Subject& subject, const Relation& relation, Sample sample) {
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (std::int64_t Extents::*extent : {&Extents::m, &Extents::n, &Extents::k})
            for (const std::int64_t less :
                 {sample.extents.*extent / 2, sample.extents.*extent - 1}) {
                Sample candidate = sample;
                candidate.extents.*extent = less;
                if (less < 1 || !is_broken(subject, relation, candidate)) continue;
                sample = candidate;
                goes_on = true;
                break;
            }
    }
    return sample;
}

}  // namespace

Sample shrunk(Subject& subject, const Relation& relation, const Sample& sample) {
    if (relation.operation == "gemm") return shrunk_product(subject, relation, sample);
    Sample smallest = sample;
    if (relation.operation == "quantize")
        while (halve(subject, relation, smallest)) {
        }
    if (smallest.values.count() <= simplified_max) simplify(subject, relation, smallest);
    return smallest;
}

Result relate_once(Subject& subject, const Relation& relation, const Sample& sample,
                   const std::vector<std::string>& claims) {
    Result result{.relation = &relation, .reason = relation.not_claimed(subject.setting())};
    if (std::ranges::find(claims, relation.name) != claims.end()) result.reason.clear();
    const bool is_claimed = result.reason.empty();
    const Checked seen = checked(subject, relation, sample);
    if (seen.failed) {
        const bool refused = seen.error.kind == ErrorKind::bad_input;
        result.standing = refused ? Standing::unasked : Standing::faulty;
        result.reason = seen.error.message;
        return result;
    }
    result.samples = 1;
    result.compared = seen.finding.compared;
    const bool broken = !seen.finding.broken.empty();
    if (is_claimed)
        result.standing = broken ? Standing::broken : Standing::held;
    else
        result.standing = broken ? Standing::unlike : Standing::seen;
    if (!broken) return result;
    result.sample = sample;
    result.finding = seen.finding;
    return result;
}

namespace {

// A relation of which no code was compared has not been put to the test.
Result settled(Result result) {
    if (result.standing != Standing::held || result.compared != 0) return result;
    result.standing = Standing::unasked;
    result.reason = "none of its inputs gave a code that it speaks of";
    return result;
}

// A device of whole tiles may refuse a product with short ones: it is asked for whole ones then.
Result related_sample(Subject& subject, const Relation& relation, const Request& request,
                      Sample sample) {
    const Result result = relate_once(subject, relation, sample, request.claims);
    if (result.standing != Standing::unasked || relation.operation != "gemm") return result;
    sample.extents = whole_tiles;
    return relate_once(subject, relation, sample, request.claims);
}

Result related(Subject& subject, const Relation& relation, const Request& request) {
    Result sum{.relation = &relation};
    for (std::uint64_t i = 0; i < request.samples && !request.is_enough(); ++i) {
        const Sample sample = make_sample(relation, subject.setting(), request.seed + i);
        Result result = related_sample(subject, relation, request, sample);
        result.samples += sum.samples;
        result.compared += sum.compared;
        sum = std::move(result);
        if (sum.standing != Standing::held && sum.standing != Standing::seen) break;
    }
    if (sum.standing != Standing::broken) return settled(std::move(sum));
    // A device that answers by chance may not break it again; then the first find stands.
    const Sample smaller = shrunk(subject, relation, sum.sample);
    const Checked again = checked(subject, relation, smaller);
    if (again.failed || again.finding.broken.empty()) return sum;
    sum.sample = smaller;
    sum.finding = again.finding;
    return sum;
}

}  // namespace

std::vector<Result> relate(Subject& subject, const Request& request) {
    std::vector<Result> results;
    for (const Relation& relation : relations()) {
        if (relation.operation != subject.setting().operation || request.is_enough()) continue;
        const bool is_named =
            request.names.empty() ||
            std::ranges::find(request.names, relation.name) != request.names.end();
        if (is_named) results.push_back(related(subject, relation, request));
    }
    return results;
}

}  // namespace mx::relation
