// Clock, reset, valid and ready: hands beats to a design and takes its answers. Watches what a
// handshake promises. Knows nothing of what is in a beat.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "device/kit/refusal.hpp"
#include "device/rtl/driver/model.hpp"

namespace mx::rtl {

[[noreturn]] inline void fail(std::string sentence) {
    throw kit::Refusal{MX_FAILED, std::move(sentence)};
}

// Of a kind of its own, for it can be looked into.
struct AnswerChanged : kit::Refusal {};

struct Beats {
    std::int64_t in = 0, out = 0;
};

struct Cycles {
    std::uint64_t first_in = 0, last_out = 0;
};

// What registers hold before a reset.
enum class PowerOn : std::uint32_t { zeros, ones, random };

class Stream {
public:
    Stream(const Setup& setup, PowerOn power_on, std::uint32_t stall_seed)
        : setup_(setup),
          model_(new_model(static_cast<std::uint32_t>(power_on))),
          stall_seed_(stall_seed) {
        clock_ = flag("clock");
        reset_ = flag("reset");
        in_valid_ = flag("in_valid");
        in_ready_ = flag("in_ready");
        out_valid_ = flag("out_valid");
        out_ready_ = flag("out_ready");
        for (const std::string& role : answers_of(setup.operation))
            watched_.push_back({role, model_->port(setup.port_of(role))});
    }

    Model& model() { return *model_; }
    Slots slots(const std::string& role, std::int64_t count) {
        return {model_->port(setup_.port_of(role)), count, setup_.order};
    }
    // The ports that hold one value for the whole of a job.
    void set(const Mode& mode) {
        for (const std::vector<Constant>* constants : {&setup_.constants, &mode.constants})
            for (const Constant& constant : *constants)
                put(Slots(model_->port(constant.port), 1, Order::low_first),
                    static_cast<std::uint32_t>(constant.value));
    }

    void trace_to(const std::string& path) {
        if (!model_->open_trace(path)) fail("the trace " + path + " cannot be written");
        is_traced_ = true;
    }

    // The stalls, too, begin anew.
    void reset(const Mode& mode) {
        stalls_ = stall_seed_;
        set(mode);
        put(in_valid_, 0);
        put(out_ready_, 0);
        put(reset_, setup_.reset_active != 0 ? 1 : 0);
        for (std::int64_t i = 0; i < setup_.reset_cycles; ++i) cycle();
        put(reset_, setup_.reset_active != 0 ? 0 : 1);
        cycle();
    }

    // Calls load(i) before beat i is offered, and store(i) when answer i is there.
    template <typename Load, typename Store>
    Cycles pass(Beats beats, Load load, Store store) {
        if (setup_.latency >= 0) return pass_in_time(beats, load, store);
        return pass_by_handshake(beats, load, store);
    }

    // Offers the first beats and takes no answer: what a reset then finds inside.
    template <typename Load>
    void offer(std::int64_t beats, Load load) {
        for (std::int64_t i = 0; i < beats; ++i) {
            load(i);
            put(in_valid_, 1);
            cycle();
        }
        put(in_valid_, 0);
    }

    // Why an answer that nobody takes changes: beats go in until there is one, and then none. A
    // clause for the end of a sentence; "" where no answer comes.
    template <typename Load>
    std::string why_it_changes(std::int64_t beats, Load load) {
        put(out_ready_, 0);
        if (!offer_until_valid(beats, load)) return "";
        std::vector<std::int64_t> last_change(watched_.size());
        std::vector<std::vector<unsigned char>> before;
        for (const Watched& port : watched_) before.push_back(bytes_of(port.port));
        for (std::int64_t after = 1; after <= drain; ++after) {
            tick();
            settle();
            for (std::size_t i = 0; i < watched_.size(); ++i) {
                std::vector<unsigned char> now = bytes_of(watched_[i].port);
                if (now != before[i]) last_change[i] = after;
                before[i] = std::move(now);
            }
        }
        for (std::size_t i = 0; i < watched_.size(); ++i)
            if (last_change[i] != 0)
                return "; where nothing more goes in, its " + watched_[i].role +
                       " settle in cycle " + std::to_string(last_change[i]) +
                       " after its valid: they come too late";
        return "; where nothing more goes in it stays: the design takes a beat for which it has no "
               "place, or puts it in the place of an answer";
    }

private:
    static constexpr std::uint64_t eager_cycles = 512;  // of each pass, in which half are stalls
    static constexpr std::int64_t patience = 10000;     // cycles without a beat
    static constexpr std::int64_t drain = 16;           // cycles after the last answer
    static constexpr std::uint64_t traced_cycles_max = 1000000;

    struct Watched {
        std::string role;
        Port port;
    };

    static std::vector<std::string> answers_of(const std::string& operation) {
        if (operation == "convert") return {"codes"};
        if (operation == "quantize") return {"codes", "scales"};
        return {operation == "dequantize" ? "values" : "d"};
    }

    Slots flag(const std::string& role) { return slots(role, 1); }
    static void put(const Slots& port, std::uint32_t value) {
        if (port.exists()) port.write(0, value);
    }
    static bool get(const Slots& port) { return !port.exists() || (port.read(0) & 1) != 0; }

    void settle() {
        put(clock_, 0);
        model_->eval();
        if (is_traced_ && cycle_ < traced_cycles_max) model_->trace(10 * cycle_);
    }
    void tick() {
        if (clock_.exists()) {
            put(clock_, 1);
            model_->eval();
            if (is_traced_ && cycle_ < traced_cycles_max) model_->trace(10 * cycle_ + 5);
        }
        ++cycle_;
    }
    void cycle() {
        settle();
        tick();
    }

    bool stalls(std::uint64_t since) {
        stalls_ ^= stalls_ << 13;
        stalls_ ^= stalls_ >> 17;
        stalls_ ^= stalls_ << 5;
        return since < eager_cycles ? (stalls_ & 0x100) != 0 : (stalls_ & 0x3F00) == 0;
    }

    template <typename Load>
    bool offer_until_valid(std::int64_t beats, Load load) {
        std::int64_t beat = 0;
        for (std::int64_t cycles = 0; cycles < patience; ++cycles) {
            settle();
            if (out_valid_.read(0) != 0) return true;
            if (beat < beats) {
                load(beat);
                put(in_valid_, 1);
                settle();
                if (get(in_ready_)) ++beat;
            }
            tick();
            put(in_valid_, 0);
        }
        return false;
    }

    static std::vector<unsigned char> bytes_of(const Port& port) {
        std::vector<unsigned char> bytes;
        for (int i = 0; i < port.count; ++i) {
            const unsigned char* from = port.data + static_cast<std::size_t>(i) * port.stride;
            bytes.insert(bytes.end(), from, from + (port.bits + 7) / 8);
        }
        return bytes;
    }
    std::vector<unsigned char> answer() const {
        std::vector<unsigned char> all;
        for (const Watched& port : watched_) {
            const std::vector<unsigned char> bytes = bytes_of(port.port);
            all.insert(all.end(), bytes.begin(), bytes.end());
        }
        return all;
    }

    // What valid promises: it stays, and the answer with it, until ready takes it.
    void watch(bool offers, bool takes) {
        if (is_waiting_) {
            if (!offers)
                fail("in cycle " + std::to_string(cycle_) +
                     " the design withdraws an answer that was valid and that nobody had taken");
            if (answer() != waiting_)
                throw AnswerChanged{MX_FAILED, "in cycle " + std::to_string(cycle_) +
                                                   " the design changes an answer that was valid "
                                                   "and that nobody had taken"};
        }
        is_waiting_ = offers && !takes;
        if (is_waiting_) waiting_ = answer();
    }

    template <typename Load, typename Store>
    Cycles pass_by_handshake(Beats beats, Load load, Store store) {
        Cycles when;
        Beats done;
        bool is_offered = false;
        const std::uint64_t begin = cycle_;
        is_waiting_ = false;
        for (std::int64_t idle = 0, after = 0; done.out < beats.out || after < drain;) {
            if (!is_offered && done.in < beats.in && !stalls(cycle_ - begin)) {
                load(done.in);
                is_offered = true;
                put(in_valid_, 1);
            }
            const bool takes = !out_ready_.exists() || !stalls(cycle_ - begin);
            put(out_ready_, takes ? 1 : 0);
            settle();
            const bool accepts = is_offered && get(in_ready_);
            const bool offers = out_valid_.read(0) != 0;
            watch(offers, takes);
            if (offers && takes) {
                if (done.out == beats.out) too_many(beats);
                store(done.out++);
                when.last_out = cycle_;
            }
            if (accepts && done.in == 0) when.first_in = cycle_;
            tick();
            if (accepts) {
                ++done.in;
                is_offered = false;
                put(in_valid_, 0);
            }
            idle = accepts || (offers && takes) ? 0 : idle + 1;
            if (idle > patience && done.out < beats.out) too_few(beats, done);
            if (done.out == beats.out) ++after;
        }
        return when;
    }

    [[noreturn]] void too_many(Beats beats) const {
        fail("in cycle " + std::to_string(cycle_) + " the design gives more than the " +
             std::to_string(beats.out) + " beats that it was asked for");
    }
    [[noreturn]] void too_few(Beats beats, Beats done) const {
        fail("no beat in " + std::to_string(patience) + " cycles, up to cycle " +
             std::to_string(cycle_) + ": " + std::to_string(done.in) + " of " +
             std::to_string(beats.in) + " went in and " + std::to_string(done.out) + " of " +
             std::to_string(beats.out) + " came out; the rest was lost on its way");
    }

    // A beat in every cycle; its answer is there `latency` cycles later.
    template <typename Load, typename Store>
    Cycles pass_in_time(Beats beats, Load load, Store store) {
        Cycles when{cycle_, cycle_};
        for (std::int64_t i = 0; i < beats.out + setup_.latency; ++i) {
            put(in_valid_, i < beats.in ? 1 : 0);
            if (i < beats.in) load(i);
            settle();
            if (i >= setup_.latency) {
                if (!get(out_valid_))
                    fail("in cycle " + std::to_string(cycle_) + ", " +
                         std::to_string(setup_.latency) +
                         " cycles after its beat, an answer is not valid");
                store(i - setup_.latency);
                when.last_out = cycle_;
            }
            tick();
        }
        put(in_valid_, 0);
        return when;
    }

    const Setup& setup_;
    std::unique_ptr<Model> model_;
    Slots clock_, reset_, in_valid_, in_ready_, out_valid_, out_ready_;
    std::vector<Watched> watched_;
    std::vector<unsigned char> waiting_;
    std::uint32_t stall_seed_, stalls_ = stall_seed_;
    std::uint64_t cycle_ = 0;
    bool is_waiting_ = false, is_traced_ = false;
};

}  // namespace mx::rtl
