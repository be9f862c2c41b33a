// Joins like mismatches of like cases into clusters. Used by summary.cpp only. Must not know any
// format of output.
#include "reports/model/clusters.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace mx::reports {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Run;

bool is_worth_a_cluster(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass_exact:
        case Verdict::pass_bounded:
        case Verdict::not_supported:
        case Verdict::untested:
            return false;
        default:
            return true;
    }
}

// For a shell: as it is where that is safe, else in single quotes, each of the text's own closed,
// escaped and opened again.
std::string for_shell(std::string_view text) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,";
    if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos)
        return std::string(text);
    std::string safe("'");
    for (const char character : text) {
        if (character == '\'') safe.append("'\\'");
        safe.push_back(character);
    }
    return safe.append("'");
}

// The record has a command line where bits differed; a crash or a timeout gets the same from its
// case, which says everything.
std::string repro_of(const Run& run, const Cluster& cluster) {
    if (cluster.witness != nullptr && !cluster.witness->repro.empty())
        return cluster.witness->repro;
    // A relation's text is a command by itself.
    const std::string& text = cluster.first_case->case_text;
    std::string line("mxcheck ");
    line.append(text.starts_with("relate ") ? text : "replay " + for_shell(text))
        .append(" --device ");
    return line.append(for_shell(run.header.device));
}

using Key = std::tuple<std::size_t, std::size_t, Verdict, std::string, std::string, std::string,
                       std::string, std::string>;

class Collector {
public:
    void add(const CaseResult& result, CellPlace place) {
        for (const Mismatch& mismatch : result.mismatches) add(result, mismatch, place);
        if (result.mismatches.empty() && is_worth_a_cluster(result.verdict))
            ++find(Key{place.row, place.column, result.verdict, result.reason, "", "", "", ""},
                   {.verdict = result.verdict, .place = place, .first_case = &result})
                  .cases;
    }

    std::vector<Cluster> take() && { return std::move(clusters_); }

private:
    void add(const CaseResult& result, const Mismatch& mismatch, CellPlace place) {
        const Verdict verdict = verdict_of(result, mismatch);
        Cluster& cluster =
            find(Key{place.row, place.column, verdict, mismatch.mismatch_class, mismatch.stage,
                     mismatch.direction, mismatch.open_decision, mismatch.axis},
                 {.verdict = verdict, .place = place, .first_case = &result, .witness = &mismatch});
        ++cluster.cases;
        cluster.count += mismatch.count;
        cluster.of += mismatch.of;
        if (cluster.lanes.size() < mismatch.lanes.size())
            cluster.lanes.resize(mismatch.lanes.size());
        for (std::size_t lane = 0; lane < mismatch.lanes.size(); ++lane)
            cluster.lanes[lane] += mismatch.lanes[lane];
    }

    Cluster& find(Key key, Cluster fresh) {
        const auto [found, inserted] = positions_.try_emplace(std::move(key), clusters_.size());
        if (inserted) clusters_.push_back(std::move(fresh));
        return clusters_[found->second];
    }

    std::map<Key, std::size_t> positions_;
    std::vector<Cluster> clusters_;
};

class DecisionCollector {
public:
    void add(const CaseResult& result) {
        if (result.verdict == Verdict::deviation && result.mismatches.empty())
            ++find(result.reason, result).cases;
        std::vector<std::string> seen;
        for (const Mismatch& mismatch : result.mismatches) {
            if (verdict_of(result, mismatch) != Verdict::deviation) continue;
            const std::string& name =
                mismatch.open_decision.empty() ? result.reason : mismatch.open_decision;
            OpenDecision& decision = find(name, result);
            decision.count += mismatch.count;
            if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
            seen.push_back(name);
            ++decision.cases;
        }
    }

    std::vector<OpenDecision> take() && {
        std::stable_sort(decisions_.begin(), decisions_.end(),
                         [](const auto& a, const auto& b) { return a.cases > b.cases; });
        return std::move(decisions_);
    }

private:
    OpenDecision& find(const std::string& name, const CaseResult& example) {
        const auto [found, is_new] = places_.try_emplace(name, decisions_.size());
        if (is_new) decisions_.push_back({.decision = name, .example = &example});
        return decisions_[found->second];
    }

    std::map<std::string, std::size_t> places_;
    std::vector<OpenDecision> decisions_;
};

}  // namespace

std::vector<Cluster> clusters_of(const Run& run, const std::vector<CellPlace>& places) {
    Collector collector;
    for (std::size_t position = 0; position < run.cases.size(); ++position)
        collector.add(run.cases[position], places.at(position));
    std::vector<Cluster> clusters = std::move(collector).take();
    for (Cluster& cluster : clusters) cluster.repro = repro_of(run, cluster);
    const auto order = [](const Cluster& cluster) {
        return std::tuple(severity_rank(cluster.verdict), ~cluster.count, ~cluster.cases,
                          cluster.first_case->index);
    };
    std::stable_sort(clusters.begin(), clusters.end(),
                     [&](const Cluster& a, const Cluster& b) { return order(a) < order(b); });
    return clusters;
}

std::vector<OpenDecision> deviations_of(const Run& run) {
    DecisionCollector collector;
    for (const CaseResult& result : run.cases) collector.add(result);
    return std::move(collector).take();
}

}  // namespace mx::reports
