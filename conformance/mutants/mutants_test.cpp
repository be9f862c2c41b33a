// Every planted bug must be real: on the probe named for it the mutant differs from the base,
// which mutant_base_test.cpp holds to the right bytes. Each mutant runs in a child process, because
// some of them crash or hang.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>
#include <ostream>
#include <string>

#include "conformance/mutants/mutant_probes.hpp"
#include "conformance/mutants/mutants.hpp"

namespace mx::mutants {

void PrintTo(const Mutant& mutant, std::ostream* stream) {
    *stream << mutant.description;
}

namespace {

// A bug and the probe on which it shows. A mutant without a line here fails the test.
struct ShownBy {
    std::string_view bug, probe;
};
constexpr ShownBy shown_by[] = {
    {"canary", "exact"},
    {"ties_up", "ties"},
    {"ties_away", "ties"},
    {"truncation", "carry"},
    {"double_rounding_bf16", "just above a tie"},
    {"mantissa_carry_lost", "carry"},
    {"no_saturation", "480"},
    {"saturates_at_240", "480"},
    {"convert_always_saturates", "convert 500"},
    {"subnormals_flushed_in", "float32 subnormal"},
    {"subnormals_flushed_out", "element subnormal"},
    {"minus_zero_lost", "minus zero"},
    {"nan_sign_kept", "nv NaN"},
    {"nan_ignored", "nv NaN"},
    {"nan_spreads", "nv NaN"},
    {"inf_to_max", "nv infinity"},
    {"floor_log2f", "just below 256"},
    {"scale_plus_one", "exact"},
    {"scale_minus_one", "exact"},
    {"emax_forgotten", "exact"},
    {"emax_of_e4m3_for_e5m2", "exact e5m2"},
    {"nv_floor_for_ceil", "nv 500"},
    {"nv_power_of_two_up", "nv 448"},
    {"nv_underflow_to_one", "nv tiny amax"},
    {"zero_block_scale_127", "zeros"},
    {"amax_ignores_lane_31", "lane 31"},
    {"amax_signed", "negative amax"},
    {"amax_through_bf16", "just below 256"},
    {"scale_from_previous_block", "unlike blocks"},
    {"partial_block_padding_read", "short tail"},
    {"last_block_unwritten", "exact"},
    {"col_strides_swapped", "columns"},
    {"byte_254_reciprocal", "nv infinity"},
    {"byte_0_reciprocal", "tiny"},
    {"stale_output", "two calls"},
    {"input_modified", "exact"},
    {"random_flake", "300 blocks twice"},
    {"scale_overwrites_red_zone", "exact"},
    {"crash_on_nan", "nv NaN"},
    {"hang_on_zero_block", "zeros"},
    {"e5m2_inf_to_nan", "dequantize e5m2"},
    {"e4m3_nan_as_480", "dequantize e4m3"},
    {"dequantize_scale_255_as_inf", "dequantize scale 255"},
    {"dequantize_byte_0_as_zero", "dequantize scale 0"},
    {"dequantize_flushes_subnormals", "dequantize scale 0"},
    {"dequantize_minus_zero_lost", "dequantize e4m3"},
    {"dequantize_saturates", "dequantize scale 254"},
    {"dequantize_truncates", "dequantize to f16"},
    {"dequantize_fp4_signless", "dequantize e2m1"},
    {"dequantize_int8_128_as_zero", "dequantize int8"},
    {"dequantize_int8_unsigned", "dequantize int8"},
    {"dequantize_tile_scales_transposed", "dequantize tiles"},
    {"dequantize_block_16_as_32", "dequantize blocks of 16"},
    {"dequantize_nibbles_exchanged", "dequantize nibbles"},
    {"dequantize_fp6_straddle_lost", "dequantize six"},
    {"dequantize_128x4_linear", "dequantize 128x4"},
    {"te_pads_read", "dequantize te-padded"},
    {"cast_never_up", "cast nv"},
    {"cast_negative_as_zero", "cast ocp"},
    {"cast_underflow_as_nan", "cast ocp"},
    {"nearest_away_as_even", "nearest_away"},
    {"ties_down_as_even", "nearest_toward_zero"},
    {"directed_exchanged", "toward_positive"},
    {"directed_ignores_sign", "toward_positive"},
    {"to_odd_as_truncation", "to_odd"},
    {"truncation_overflows", "toward_zero"},
    {"stochastic_high_bits", "random bits"},
    {"stochastic_carry_early", "random bits"},
    {"stochastic_remainder_rounded", "random bits"},
    {"stochastic_toward_positive", "random bits"},
    {"stochastic32_half_the_digits", "32 random bits"},
    {"stochastic_x4_halves_exchanged", "four values"},
    {"stochastic_x4_words_run_on", "odd rows"},
    {"stochastic_words_taken_for_dense", "words apart"},
    {"directed_underflow_unsigned", "toward_zero"},
    {"flush_in_ignored", "f16 subnormals flushed"},
    {"flush_in_loses_sign", "f16 subnormals flushed"},
    {"flush_out_ignored", "subnormal results flushed"},
    {"flush_out_before_rounding", "subnormal results flushed"},
    {"f16_subnormals_lost", "f16 subnormal"},
    {"input_taken_for_dense", "rows apart"},
    {"both_columns_scaled_as_rows", "both axes"},
    {"both_last_columns_unwritten", "both axes"},
    {"nan_spreads_in_columns", "nv NaN in a column"},
    {"log2_cut_toward_zero", "0.3"},
    {"nv_ratio_divided", "nv just off a power"},
    {"amax_ignores_short_vector", "nine lanes"},
    {"nan_payload_lost", "narrow NaN"},
    {"rows_beyond_65535_unwritten", "65537 rows"},
    {"fp6_formats_exchanged", "e3m2"},
    {"fp6_subnormals_lost", "e3m2"},
    {"e3m2_emax_3", "e3m2"},
    {"fp4_ties_away", "e2m1"},
    {"fp4_nan_as_zero", "nv e2m1 NaN"},
    {"fp4_amax_over_6", "e2m1"},
    {"int8_wraps", "int8"},
    {"int8_sign_magnitude", "int8"},
    {"int8_truncates", "int8"},
    {"int8_quantum_halved", "int8"},
    {"int8_never_minus_128", "int8"},
    {"int8_symmetric_writes_128", "int8-symmetric"},
    {"block_16_as_32", "blocks of 16"},
    {"block_64_half_seen", "block of 64"},
    {"tile_scale_of_first_row", "tile"},
    {"nibbles_exchanged", "nibbles"},
    {"fp6_bits_reversed", "six"},
    {"packed_rows_run_on", "nibbles"},
    {"packed_tail_unwritten", "nibbles"},
    {"inline_scale_first", "inline"},
    {"inline_tail_unwritten", "inline"},
    {"inline_64_scale_amid", "inline 64"},
    {"swizzle_assumes_32", "128x4 of 16"},
    {"swizzle_tiles_exchanged", "128x4"},
    {"swizzle_quarters_unshuffled", "128x4"},
    {"swizzle_8x4_linear", "8x4"},
    {"swizzle_pads_unwritten", "128x4"},
    {"col_swizzle_as_row", "128x4-col"},
    {"shuffle_32x8_linear", "32x8"},
    {"shuffle_32x8_pairs_exchanged", "32x8"},
    {"te_rows_not_padded", "te-padded"},
    {"scale_offsets_in_16_bits", "128x4 of 65537 rows"},
    {"element_index_in_20_bits", "convert 2^20 + 1"},
    {"one_mantissa_missed", "convert 4 / 3"},
};

// Where else it may show: nowhere. Bugs of these names touch nearly every probe.
bool is_loud(std::string_view name) {
    return name == "canary" || name == "input_modified" || name == "last_block_unwritten" ||
           name == "scale_overwrites_red_zone";
}

enum class End { exited, killed_by_signal, timed_out };

struct Playing {
    End end = End::exited;
    int code = 0;  // exit code or signal
    std::vector<unsigned char> seen;
    bool operator==(const Playing&) const = default;
};

[[noreturn]] void play_in_child(std::string_view mutant, const Probe& probe, int pipe_end) {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn the signal into an exit code
    const Planted bug = planted_bug(MX_MUTANT_DIRECTORY "/mutants.so", mutant);
    if (bug.api == nullptr) _exit(9);
    const std::vector<unsigned char> seen = play(bug, probe);
    for (std::size_t sent = 0; sent < seen.size();) {
        const ssize_t count = write(pipe_end, seen.data() + sent, seen.size() - sent);
        if (count <= 0) _exit(8);
        sent += static_cast<std::size_t>(count);
    }
    _exit(0);
}

// Reads until the other end closes. False when the deadline comes first.
bool read_all(int pipe_end, std::chrono::milliseconds patience, std::vector<unsigned char>& seen) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::vector<unsigned char> chunk(1 << 16);
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        pollfd waiting{pipe_end, POLLIN, 0};
        if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) == 0)
            return false;
        const ssize_t count = read(pipe_end, chunk.data(), chunk.size());
        if (count <= 0) return true;
        seen.insert(seen.end(), chunk.begin(), chunk.begin() + count);
    }
}

Playing play_apart(std::string_view mutant, const Probe& probe) {
    Playing playing;
    int ends[2];
    if (pipe(ends) != 0) return {End::exited, 7, {}};
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        play_in_child(mutant, probe, ends[1]);
    }
    close(ends[1]);
    // Of the mutant that hangs less than its five seconds.
    const std::chrono::seconds patience(mutant == "hang_on_zero_block" ? 3 : 60);
    if (!read_all(ends[0], patience, playing.seen)) {
        playing.end = End::timed_out;
        kill(child, SIGKILL);
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (playing.end == End::timed_out) return playing;
    playing.end = WIFSIGNALED(status) ? End::killed_by_signal : End::exited;
    playing.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return playing;
}

const Probe& probe_named(std::string_view name) {
    for (const Probe& probe : probes())
        if (probe.name == name) return probe;
    ADD_FAILURE() << "there is no probe " << name;
    return probes()[0];
}

class PlantedBug : public ::testing::TestWithParam<Mutant> {};

TEST_P(PlantedBug, ShowsOnItsProbe) {
    const auto row = std::ranges::find(shown_by, GetParam().name, &ShownBy::bug);
    ASSERT_NE(row, std::end(shown_by)) << "no probe is named for " << GetParam().name;
    const Probe& probe = probe_named(row->probe);
    const Playing right = play_apart("none", probe);
    ASSERT_EQ(right.end, End::exited);
    ASSERT_EQ(right.code, 0);
    ASSERT_FALSE(right.seen.empty());
    const Playing wrong = play_apart(GetParam().name, probe);
    EXPECT_FALSE(wrong.end == End::exited && wrong.code != 0) << "exit code " << wrong.code;
    EXPECT_FALSE(wrong == right) << probe.name;
}

// A mutant that is wrong everywhere would be caught for the wrong reason.
TEST_P(PlantedBug, KeepsQuietElsewhere) {
    if (is_loud(GetParam().name)) return;
    int quiet = 0;
    for (std::string_view name : {"exact", "columns", "dequantize scale 0", "nv 448"})
        if (play_apart(GetParam().name, probe_named(name)) == play_apart("none", probe_named(name)))
            ++quiet;
    EXPECT_GE(quiet, 1);
}

std::vector<Mutant> planted() {
    return {table.begin() + 1, table.end()};
}

INSTANTIATE_TEST_SUITE_P(Mutants, PlantedBug, ::testing::ValuesIn(planted()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MutantTable, OpensWithTheBaseAndHasEnoughBugs) {
    EXPECT_EQ(table[0].name, "none");
    EXPECT_GE(table.size(), 2u + 76u);
    EXPECT_EQ(std::size(shown_by), table.size() - 1);
}

TEST(MutantTable, TheCrashAndTheHangAreWhatTheySay) {
    const Playing crash = play_apart("crash_on_nan", probe_named("nv NaN"));
    EXPECT_EQ(crash.end, End::killed_by_signal);
    EXPECT_EQ(crash.code, SIGSEGV);
    EXPECT_EQ(play_apart("hang_on_zero_block", probe_named("zeros")).end, End::timed_out);
}

}  // namespace
}  // namespace mx::mutants
