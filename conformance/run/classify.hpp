// From differences to clusters of like mismatches, each with a class, an exact count and a witness.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/results/record.hpp"
#include "conformance/run/heat.hpp"
#include "conformance/run/layout_guess.hpp"
#include "conformance/run/site.hpp"

namespace mx {

// Gathers the clusters of one case.
class Clusters {
public:
    // Every difference gets its class. The exact oracle is asked about the first `confirmed_max` of
    // them, and about the first of each cluster.
    Clusters(const Evidence& evidence, std::uint64_t confirmed_max)
        : evidence_(evidence), confirmed_max_(confirmed_max), guesses_(guess_layouts(evidence)) {}

    void add(const Difference& difference);

    std::uint64_t elements() const { return elements_; }
    std::uint64_t scales() const { return scales_; }
    // Where the exact oracle did not confirm the expected bits; "" if it always did.
    const std::string& disagreement() const { return disagreement_; }

    // The largest first. Repro lines are left empty.
    std::vector<results::Mismatch> take();
    const Heat& heat() const { return heat_; }

private:
    struct Cluster {
        results::Mismatch mismatch;
        std::uint32_t outputs = 0;           // a bit for each that it is of
        std::uint64_t away = 0, toward = 0;  // of zero, by magnitude code
    };
    void confirm(const Site& site, const Difference& difference);
    const LayoutGuess* guess_for(const Difference& difference) const;
    Cluster& cluster_of(const Site& site, const Difference& difference);

    const Evidence& evidence_;
    std::uint64_t confirmed_max_;
    std::vector<LayoutGuess> guesses_;  // what explains every difference of an output at once
    std::map<std::string, Cluster> clusters_;
    Heat heat_;
    std::optional<exact::TensorNumbers> tensor_;  // once there is a difference
    Site last_site_;
    std::uint64_t elements_ = 0, scales_ = 0;
    std::string disagreement_;
};

}  // namespace mx
