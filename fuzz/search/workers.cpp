// See workers.hpp.
#include "fuzz/search/workers.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>

#include "fuzz/search/device_judge.hpp"
#include "fuzz/search/store.hpp"

namespace mx::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// How the process of a worker ends.
constexpr int ended_well = 0, ended_by_input = 2, ended_by_device = 3, ended_by_itself = 5;

constexpr std::chrono::seconds store_period{20};
constexpr std::chrono::milliseconds wait_period{20};

// What a worker tells while it runs, in memory that all share.
struct Board {
    std::atomic<std::uint64_t> blocks{0}, finds{0};
    std::atomic<int> stop{0};  // the program wants an end
    char given_up[512] = {};   // written by the worker before it ends
};

Board* make_boards(std::uint64_t count) {
    void* memory = mmap(nullptr, count * sizeof(Board), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    Board* boards = static_cast<Board*>(memory);
    for (std::uint64_t i = 0; i < count; ++i) new (boards + i) Board;
    return boards;
}

void tell(Board& board, const std::string& text) {
    std::strncpy(board.given_up, text.c_str(), sizeof board.given_up - 1);
}

Share share_of(const FuzzPlan& plan, std::uint64_t worker) {
    return {plan.seed, worker, plan.workers};
}

// One worker's whole life. Returns its exit code.
class Worker {
public:
    Worker(const FuzzPlan& plan, std::uint64_t number, Board& board)
        : plan_(plan), number_(number), board_(board), start_(Clock::now()), stored_(start_) {}

    int live() {
        const auto client = plan_.open();
        if (!client) return fail(client.error());
        DeviceJudge judge(client.value());
        Search search(plan_.themes, share_of(plan_, number_), judge);
        const std::string path = state_path(plan_.folder, number_);
        if (plan_.resumes)
            if (const Status status = restore_state(path, plan_.scope, search); !status)
                return fail(status.error());
        blocks_before_ = search.counts().blocks;
        search.run([this, &path](const Search& now) { return is_enough(now, path); },
                   [this] { return is_stopped(); });
        if (const Status status = store_state(path, plan_.scope, search); !status)
            return fail(status.error());
        tell(board_, search.given_up());
        return ended_well;
    }

private:
    int fail(const Error& error) {
        tell(board_, error.message);
        return error.kind == ErrorKind::device ? ended_by_device : ended_by_input;
    }

    bool is_stopped() const { return board_.stop != 0 || getppid() != program_; }

    bool is_enough(const Search& now, const std::string& path) {
        const std::uint64_t blocks = now.counts().blocks - blocks_before_;
        board_.blocks = blocks;
        board_.finds = now.finds().size();
        const auto clock = Clock::now();
        if (clock - stored_ > store_period) {
            // A search that is killed loses no more than this.
            [[maybe_unused]] const Status stored = store_state(path, plan_.scope, now);
            stored_ = Clock::now();
        }
        if (is_stopped()) return true;
        if (plan_.time.count() > 0 && clock - start_ >= plan_.time) return true;
        if (plan_.stops_at_first && !now.finds().empty()) return true;
        const std::uint64_t mine =
            plan_.blocks / plan_.workers + (number_ < plan_.blocks % plan_.workers ? 1 : 0);
        return plan_.blocks > 0 && blocks >= mine;
    }

    const FuzzPlan& plan_;
    std::uint64_t number_;
    Board& board_;
    pid_t program_ = getppid();  // a worker does not outlive it by more than a round
    Clock::time_point start_, stored_;
    std::uint64_t blocks_before_ = 0;
};

// Judges nothing: stands in where searches are only read.
class NoJudge : public Judge {
public:
    bool supports(const Case&) override { return false; }
    Judgement judge(const Case&, const std::vector<CodeTensor>&) override { return {}; }
    void restart() override {}
};

void add(FuzzOutcome& outcome, const Search& search) {
    const Counts& counts = search.counts();
    outcome.counts.rounds += counts.rounds;
    outcome.counts.blocks += counts.blocks;
    outcome.counts.calls += counts.calls;
    outcome.counts.refused += counts.refused;
    outcome.counts.deviations += counts.deviations;
    for (const Coverage& coverage : search.coverage())
        for (Coverage& sum : outcome.coverage) {
            if (!(sum.theme == coverage.theme)) continue;
            sum.is_refused = sum.is_refused || coverage.is_refused;
            sum.blocks += coverage.blocks;
            sum.reach |= coverage.reach;
            for (std::size_t i = 0; i < sum.parted.size(); ++i)
                sum.parted[i] = static_cast<char>(sum.parted[i] | coverage.parted[i]);
        }
    for (const auto& [kind, found] : search.finds()) {
        bool is_known = false;
        for (Found& known : outcome.finds) {
            if (known.find.kind != kind) continue;
            is_known = true;
            known.find.seen += found.find.seen;
            if (known.find.cases.empty()) known.find.cases = found.find.cases;
        }
        if (!is_known) outcome.finds.push_back(found);
    }
}

Expected<FuzzOutcome> joined(const FuzzPlan& plan) {
    FuzzOutcome outcome;
    for (const Case& theme : plan.themes) outcome.coverage.emplace_back(theme);
    NoJudge nobody;
    for (std::uint64_t worker = 0; worker < plan.workers; ++worker) {
        Search search(plan.themes, share_of(plan, worker), nobody);
        const Status read = restore_state(state_path(plan.folder, worker), plan.scope, search);
        if (!read) return read.error();
        add(outcome, search);
    }
    return outcome;
}

struct Team {
    Board* boards;
    std::vector<pid_t> processes;
    int worst = ended_well;
};

Status start(const FuzzPlan& plan, Team& team) {
    std::fflush(nullptr);
    for (std::uint64_t worker = 0; worker < plan.workers; ++worker) {
        const pid_t process = fork();
        if (process < 0) return Error{ErrorKind::system, "cannot start another process"};
        if (process == 0) {
            // Ctrl-C reaches the whole group; the program tells its workers when to stop.
            std::signal(SIGINT, SIG_IGN);
            std::signal(SIGTERM, SIG_IGN);
            _exit(Worker(plan, worker, team.boards[worker]).live());
        }
        team.processes.push_back(process);
    }
    return success();
}

// Takes those that have ended off the list.
void reap(const FuzzPlan& plan, const FuzzWatch& watch, Team& team, std::size_t& running) {
    for (std::size_t i = 0; i < team.processes.size(); ++i) {
        int status = 0;
        if (team.processes[i] == 0) continue;
        const pid_t ended = waitpid(team.processes[i], &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno == EINTR)) continue;
        team.processes[i] = 0;
        --running;
        if (ended < 0) {
            tell(team.boards[i],
                 "how worker " + std::to_string(i) +
                     " of mxcheck itself ended cannot be found out: " + std::strerror(errno));
            team.worst = ended_by_itself;
            continue;
        }
        if (WIFSIGNALED(status)) {
            tell(team.boards[i], "worker " + std::to_string(i) + " of mxcheck itself ended by " +
                                     strsignal(WTERMSIG(status)));
            team.worst = ended_by_itself;
        } else if (WEXITSTATUS(status) != 0 && team.worst == 0) {
            team.worst = WEXITSTATUS(status);
        }
    }
    const bool ends_all = plan.stops_at_first || team.worst != 0;
    bool has_find = team.worst != 0;
    for (std::size_t i = 0; i < plan.workers; ++i) has_find |= team.boards[i].finds > 0;
    if (!watch.is_interrupted() && !(ends_all && has_find)) return;
    for (std::size_t i = 0; i < plan.workers; ++i) team.boards[i].stop = 1;
}

void wait(const FuzzPlan& plan, const FuzzWatch& watch, Team& team) {
    std::size_t running = team.processes.size();
    while (running > 0) {
        std::this_thread::sleep_for(wait_period);
        reap(plan, watch, team, running);
        std::uint64_t blocks = 0, finds = 0;
        for (std::size_t i = 0; i < plan.workers; ++i) {
            blocks += team.boards[i].blocks;
            finds += team.boards[i].finds;
        }
        watch.progress(blocks, finds);
    }
}

}  // namespace

Expected<FuzzOutcome> run_workers(const FuzzPlan& plan, const FuzzWatch& watch) {
    Team team{make_boards(plan.workers), {}};
    if (team.boards == nullptr) return Error{ErrorKind::system, "not enough memory"};
    const auto begin = Clock::now();
    const Status started = start(plan, team);
    wait(plan, watch, team);
    std::string told;
    std::vector<std::string> given_up;
    for (std::size_t i = 0; i < plan.workers; ++i)
        if (team.boards[i].given_up[0] != '\0') {
            if (told.empty()) told = team.boards[i].given_up;
            given_up.emplace_back(team.boards[i].given_up);
        }
    munmap(team.boards, plan.workers * sizeof(Board));
    if (!started) return started.error();
    if (team.worst != 0)
        return Error{team.worst == ended_by_input ? ErrorKind::bad_input : ErrorKind::device, told};
    auto outcome = joined(plan);
    if (!outcome) return outcome.error();
    outcome.value().given_up = std::move(given_up);
    outcome.value().seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    outcome.value().interrupted = watch.is_interrupted();
    return outcome;
}

}  // namespace mx::fuzz
