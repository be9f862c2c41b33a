// The list of proofs: each shows that a function of fast/ equals exact/ over a stated domain. Of a
// domain fast is asked for every input. What exact is asked for, README.md says. Run by the tests
// and by `mxcheck prove`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mx::proof {

struct Report {
    std::uint64_t count = 0;  // inputs for which fast was compared with exact
    std::uint64_t mismatches = 0;
    std::vector<std::string> counterexamples;  // the first few, if any
    std::string digest;                        // SHA-256 of the exact oracle's answers as text
};

// When a proof is run: with every change, or when the whole set is asked for.
enum class Effort { always, whole_set };

struct Proof {
    std::string name;    // "round e4m3 nearest_even f32"
    std::string domain;  // "all 2^32 codes of f32"
    std::function<Report(int threads)> run;
    Effort effort = Effort::always;
};

std::vector<Proof> decode_proofs();
std::vector<Proof> round_proofs();
std::vector<Proof> conversion_proofs();
std::vector<Proof> scale_proofs();
std::vector<Proof> block_proofs();
std::vector<Proof> whole_block_proofs();
std::vector<Proof> pack_proofs();
std::vector<Proof> recipe_proofs();
std::vector<Proof> dot_proofs();
std::vector<Proof> dot_model_proofs();
std::vector<Proof> tanh_approx_proofs();
std::vector<Proof> gemm_epilogue_proofs();
std::vector<Proof> gemm_proofs();
std::vector<Proof> gemm_output_proofs();
std::vector<Proof> all_proofs();

}  // namespace mx::proof
