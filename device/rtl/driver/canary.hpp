// Before a design is asked for anything that counts: does the simulator simulate it? The same
// blocks must give the same bits from any power-on state, with any stalls, after a reset in the
// middle of a block, and in any order. A known-good module, verilated beside the design, must be
// right. Where one of these fails there is no verdict, but a sentence that says which.
//
// Verilator 5.006 freezes packed comparator trees of some designs (UNOPTFLAT): each later block
// gets the scale of the first. A design that carries something from block to block looks the same
// from here, unless it has no clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/rtl/driver/job.hpp"

namespace mx::rtl {

class Canary {
public:
    explicit Canary(const Setup& setup) : setup_(setup) {}

    // Throws a refusal where the design is not fit to be judged. Resets the stream.
    void check(Stream& stream) {
        check_known_good();
        for (const Mode& mode : setup_.modes) check_mode(mode, stream);
    }

private:
    static constexpr std::int64_t rows = 16, blocks_across = 4;
    using Words = std::vector<std::uint32_t>;

    std::uint32_t draw() {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 17;
        random_ ^= random_ << 5;
        return random_;
    }

    static std::uint32_t known_good(std::uint32_t word) {
        std::uint32_t largest = 0;
        for (int i = 0; i < 8; ++i) largest = std::max(largest, word >> 4 * i & 15);
        const std::uint64_t product = std::uint64_t{word | 0x80000000u} * 0x924925u;
        return largest << 28 ^ static_cast<std::uint32_t>(product >> (word & 31));
    }
    void check_known_good() {
        for (int i = 0; i < 64; ++i) {
            const std::uint32_t word = draw(), got = known_good_answer(word);
            if (got != known_good(word))
                fail(
                    "the simulator is at fault: a module that is known to be right, verilated "
                    "beside the design, answers " +
                    std::to_string(got) + " to " + std::to_string(word) + ", not " +
                    std::to_string(known_good(word)));
        }
    }

    kit::Strided made(std::int64_t height, std::int64_t width, Words& words) {
        words.resize(static_cast<std::size_t>(height * width));
        return {reinterpret_cast<unsigned char*>(words.data()), 4, height, width, width, 1};
    }
    // Blocks whose largest magnitudes lie far apart.
    kit::Strided drawn_values(const Mode& mode, std::int64_t height, std::int64_t width,
                              Words& words) {
        const kit::Strided tensor = made(height, width, words);
        std::uint32_t base = 0;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (i % static_cast<std::size_t>(setup_.block) == 0) base = 100 + draw() % 48;
            const std::uint32_t binary32 = (draw() & 0x807FFFFF) | (base + draw() % 8) << 23;
            words[i] = mode.type == "f32" ? binary32 : binary32 >> 16;
        }
        return tensor;
    }
    kit::Strided drawn_codes(std::uint32_t mask, std::int64_t height, std::int64_t width,
                             Words& words) {
        const kit::Strided tensor = made(height, width, words);
        for (std::uint32_t& word : words) word = draw() & mask;
        return tensor;
    }
    kit::Strided drawn_scales(std::int64_t height, std::int64_t width, Words& words) {
        const kit::Strided tensor = made(height, width, words);
        for (std::uint32_t& word : words) word = 120 + draw() % 16;
        return tensor;
    }

    struct Memory {
        Words in[4], out[2];
    };
    Job job_of(const Mode& mode, Memory& memory) {
        const std::int64_t width = blocks_across * setup_.block;
        Job job{.mode = &mode};
        if (setup_.operation == "dot" || setup_.operation == "gemm") {
            const std::int64_t depth = setup_.port_of("last").empty() ? setup_.block : width;
            const std::int64_t across = depth / setup_.block;
            job.a = drawn_codes(7, rows, depth, memory.in[0]);
            job.scales_a = drawn_scales(rows, across, memory.in[1]);
            job.b = drawn_codes(7, rows, depth, memory.in[2]);
            job.scales_b = drawn_scales(rows, across, memory.in[3]);
            job.d = made(rows, rows, memory.out[0]);
        } else if (setup_.operation == "dequantize") {
            job.codes = drawn_codes(15, rows, width, memory.in[0]);
            job.scales = drawn_scales(rows, blocks_across, memory.in[1]);
            job.values = made(rows, width, memory.out[0]);
        } else {
            job.values = drawn_values(mode, rows, width, memory.in[0]);
            job.codes = made(rows, width, memory.out[0]);
            job.scales = made(rows, blocks_across, memory.out[1]);
        }
        return job;
    }

    // The answers, from a reset on. `what` opens the sentence about a design that gives none.
    Words answers(Job job, Memory& memory, Stream& stream, const std::string& what) {
        for (Words& words : memory.out) std::fill(words.begin(), words.end(), 0u);
        try {
            Worker(setup_, stream).run(job);
        } catch (const AnswerChanged& changed) {
            Stream other(setup_, PowerOn::random, 1);
            other.reset(*job.mode);
            fail(what + ": " + changed.reason + Worker(setup_, other).why_it_changes(job));
        } catch (const kit::Refusal& refusal) {
            fail(what + ": " + refusal.reason);
        }
        Words all = memory.out[0];
        all.insert(all.end(), memory.out[1].begin(), memory.out[1].end());
        return all;
    }

    // The sentence says what differs; who does it, a clock decides.
    void expect(const Words& first, const Words& second, const Mode& mode, const std::string& when,
                const std::string& of_the_design) const {
        const std::string who = setup_.port_of("clock").empty()
                                    ? "the simulator is at fault, for a design without a clock "
                                      "remembers nothing; see UNOPTFLAT in its log, and split_var "
                                      "in Verilator's manual"
                                    : of_the_design;
        for (std::size_t i = 0; i < first.size(); ++i)
            if (first[i] != second[i])
                fail("the same blocks give other bits " + when + ": " + who + " (" + mode.format +
                     ", " + mode.type + ": output " + std::to_string(i) + " is " +
                     std::to_string(first[i]) + " and then " + std::to_string(second[i]) + ")");
    }

    // Asked from the first to the last and from the last to the first: has each block what belongs
    // to the one asked before it? What is alike everywhere does not say.
    static bool is_one_late(std::span<const std::uint32_t> forward,
                            std::span<const std::uint32_t> backward, std::size_t block) {
        const std::size_t there = forward.size() - 2 * block;
        return forward.size() > 2 * block && !is_alike(forward, block) &&
               std::equal(backward.begin(), backward.begin() + static_cast<std::ptrdiff_t>(there),
                          forward.begin() + static_cast<std::ptrdiff_t>(2 * block));
    }
    static bool is_alike(std::span<const std::uint32_t> words, std::size_t block) {
        return std::equal(words.begin() + static_cast<std::ptrdiff_t>(block), words.end(),
                          words.begin());
    }

    // Who is to blame where the order of blocks matters, and for what. A latency that is not the
    // design's gives each block the answer of one beside it.
    std::string carried(const Words& forward, const Words& backward) const {
        const bool converts = setup_.operation == "convert";
        if (converts || setup_.operation == "quantize") {
            const auto block = static_cast<std::size_t>(converts ? setup_.elements : setup_.block);
            constexpr auto scales = static_cast<std::size_t>(rows * blocks_across);
            const auto late = [&](const Words& first, const Words& second, bool of_scales) {
                const std::span<const std::uint32_t> one(first), other(second);
                const std::size_t codes = first.size() - scales;
                return of_scales ? is_one_late(one.subspan(codes), other.subspan(codes), 1)
                                 : is_one_late(one.first(codes), other.first(codes), block);
            };
            for (const bool is_before : {true, false}) {
                const Words& one = is_before ? forward : backward;
                const Words& other = is_before ? backward : forward;
                const bool has_codes = late(one, other, false);
                const bool has_scales = !converts && late(one, other, true);
                if (!has_codes && !has_scales) continue;
                return std::string("the design gives each ") + (converts ? "beat" : "block") +
                       " the " +
                       (has_codes && has_scales ? "codes and the scale"
                        : has_codes             ? "codes"
                                                : "scale") +
                       " of the " + (converts ? "beat" : "block") +
                       (is_before ? " before it" : " after it; is its latency right?");
            }
        }
        return "either the simulator has frozen a part of the design (see UNOPTFLAT in its log), "
               "or the design carries something from block to block";
    }

    void check_mode(const Mode& mode, Stream& stream) {
        Memory memory;
        const Job job = job_of(mode, memory);
        stream.reset(mode);
        const Words plain = answers(job, memory, stream, "asked for 64 blocks");

        for (const PowerOn state : {PowerOn::zeros, PowerOn::ones}) {
            Stream other(setup_, state, 1);
            other.reset(mode);
            expect(plain, answers(job, memory, other, "from another power-on state"), mode,
                   "from another power-on state", "there is a register that reset does not clear");
        }

        Stream other_stalls(setup_, PowerOn::random, 77);
        other_stalls.reset(mode);
        expect(plain, answers(job, memory, other_stalls, "with other stalls"), mode,
               "where the stream stalls at other times",
               "an answer and its valid are not those of the same beat");

        if (!setup_.port_of("reset").empty()) {
            Worker(setup_, other_stalls).offer(job, 1);
            other_stalls.reset(mode);
            expect(plain, answers(job, memory, other_stalls, "after a reset in mid-block"), mode,
                   "after a reset in mid-block", "there is a register that it does not clear");
        }

        // In a model of its own, whose first block is another one.
        Stream other_order(setup_, PowerOn::random, 1);
        other_order.reset(mode);
        const std::string when = "when they are asked for in another order";
        Job backward = job;
        backward.direction = Direction::backward;
        const Words back = answers(backward, memory, other_order, "asked for 64 blocks backwards");
        expect(plain, back, mode, when, carried(plain, back));
        expect(plain, answers(job, memory, other_order, "asked for 64 blocks again"), mode, when,
               carried(plain, plain));
        stream.reset(mode);
    }

    const Setup& setup_;
    std::uint32_t random_ = 2463534242u;
};

}  // namespace mx::rtl
