// Tests of commands as devices, each a line of shell: one that works, and one for every way to go
// wrong. What is expected is what a user would read.
#include "device/subprocess/subprocess_device.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <thread>

#include "device/host/client.hpp"

namespace mx {
namespace {

using std::chrono::milliseconds;

constexpr std::array<std::byte, 2> values{std::byte{0x80}, std::byte{0x3f}};

// One bf16 value to one code.
Question small_question() {
    Question question;
    question.operation = {.name = "convert", .format = "e4m3", .dialect = "ocp"};
    question.inputs = {{dense("bf16", 1, 1), values, {}}};
    question.outputs = {dense("e4m3", 1, 1)};
    return question;
}

constexpr Limits patient{.call = milliseconds(20000), .open = milliseconds(20000)};
// What is not meant to be late has time enough on a machine that is busy: opening, `supports`.
constexpr Limits impatient{.call = milliseconds(2000), .open = milliseconds(20000)};
constexpr Limits impatient_to_open{.call = milliseconds(20000), .open = milliseconds(400)};

// A device in shell. `on_run` is what it does with a request whose data are in $data and whose id
// is in $id.
std::string device_that(const std::string& on_run, const std::string& form = "hex") {
    return "echo '{\"mxpipe\":1,\"form\":\"" + form +
           "\",\"facts\":{\"name\":\"in shell\"}}'\n"
           "while read -r head; do id=${head#*:}; id=${id%%,*}\n"
           "  case $head in *supports*) echo \"{\\\"id\\\":$id,\\\"status\\\":\\\"ok\\\"}\";;\n"
           "  *) [ " +
           form + " = hex ] && read -r data || data=$(head -c 2)\n" + on_run + " ;;\n  esac\ndone";
}

const std::string say_ok = "echo \"{\\\"id\\\":$id,\\\"status\\\":\\\"ok\\\"}\"; ";

DeviceAnswer ask(const std::string& text, const Limits& limits = patient) {
    auto device = open_client(command_device(text), limits);
    if (!device) return {AnswerKind::host_error, device.error().message, {}, {}};
    return device.value().ask(small_question());
}

TEST(SubprocessDevice, AShellScriptIsADevice) {
    auto device = open_client(command_device(device_that(say_ok + "echo 38")), patient);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ(device.value().facts, (Facts{{"name", "in shell"}}));
    for (int time = 0; time < 2; ++time) {
        const DeviceAnswer answer = device.value().ask(small_question());
        ASSERT_EQ(answer.kind, AnswerKind::answered) << answer.reason;
        EXPECT_EQ(answer.outputs[0].bytes, (std::vector{std::byte{0x38}}));
        EXPECT_EQ(answer.outputs[0].unwritten, 0u);
        EXPECT_TRUE(answer.findings.empty());
    }
    EXPECT_TRUE(device.value().close());
}

TEST(SubprocessDevice, TheDataArriveAsDigits) {
    const DeviceAnswer answer =
        ask(device_that(say_ok + "[ \"$data\" = 803f ] && echo 01 || echo 02"));
    ASSERT_EQ(answer.kind, AnswerKind::answered) << answer.reason;
    EXPECT_EQ(answer.outputs[0].bytes, (std::vector{std::byte{0x01}}));
}

TEST(SubprocessDevice, ABinaryAnswerIsReadByItsSizes) {
    const DeviceAnswer answer =
        ask(device_that("echo \"{\\\"id\\\":$id,\\\"status\\\":\\\"ok\\\",\\\"form\\\":"
                        "\\\"binary\\\",\\\"bytes\\\":[1]}\"; printf '\\n'",
                        "binary"));
    ASSERT_EQ(answer.kind, AnswerKind::answered) << answer.reason;
    EXPECT_EQ(answer.outputs[0].bytes, (std::vector{std::byte{0x0a}}));
}

TEST(SubprocessDevice, GapsOfStridedTensorsAreLeftAlone) {
    auto device = open_client(command_device(device_that(say_ok + "echo 0102")), patient);
    ASSERT_TRUE(device) << device.error().message;
    constexpr std::array<std::byte, 8> padded{};
    Question question = small_question();
    question.inputs = {{{"bf16", 2, 1, 3, 1}, padded, {}}};
    question.outputs = {{"e4m3", 2, 1, 3, 1}};
    const DeviceAnswer answer = device.value().ask(question);
    ASSERT_EQ(answer.kind, AnswerKind::answered) << answer.reason;
    EXPECT_EQ(answer.outputs[0].bytes, (std::vector{std::byte{0x01}, std::byte{0x02}}));
    EXPECT_TRUE(answer.findings.empty());
}

// Three rows, and groups of one row each: all of D travels, and the third row is not written.
TEST(SubprocessDevice, RowsOfNoGroupAreLeftAlone) {
    auto device = open_client(
        command_device(device_that("read -r b; read -r offsets\n" + say_ok + "echo 010203")),
        patient);
    ASSERT_TRUE(device) << device.error().message;
    constexpr std::array<std::byte, 6> factor{};
    constexpr std::array<std::int32_t, 3> offsets{0, 1, 2};
    Question question;
    question.operation = {.name = "gemm",
                          .gemm = GemmOperation{.scaling_out = "tensor", .groups = 2}};
    question.inputs = {{dense("bf16", 3, 1), factor, {}},
                       {dense("bf16", 2, 1), std::span(factor).first(4), {}},
                       {dense("i32", 1, 3), std::as_bytes(std::span(offsets)), {}}};
    question.outputs = {dense("e4m3", 3, 1)};
    const DeviceAnswer answer = device.value().ask(question);
    ASSERT_EQ(answer.kind, AnswerKind::answered) << answer.reason;
    EXPECT_EQ(answer.outputs[0].bytes[1], std::byte{0x02});
    EXPECT_EQ(answer.outputs[0].flags, (std::vector<std::uint8_t>{0, 0, flag_unwritten}));
}

TEST(SubprocessDevice, NoiseOnStandardErrorIsNoAnswer) {
    EXPECT_EQ(ask(device_that("echo noise >&2; " + say_ok + "echo 38")).kind, AnswerKind::answered);
}

struct Trouble {
    const char* what;
    std::string command;
    AnswerKind kind;
    const char* sentence;
    Limits limits = patient;
};

class Troubled : public testing::TestWithParam<Trouble> {};

TEST_P(Troubled, IsAVerdictAndASentence) {
    const DeviceAnswer answer = ask(GetParam().command, GetParam().limits);
    EXPECT_EQ(answer.kind, GetParam().kind) << answer.reason;
    EXPECT_NE(answer.reason.find(GetParam().sentence), std::string::npos) << answer.reason;
}

const std::string failed =
    "echo \"{\\\"id\\\":$id,\\\"status\\\":\\\"failed\\\",\\\"reason\\\":\\\"too hot\\\"}\"";
const std::string unsupported = "echo \"{\\\"id\\\":$id,\\\"status\\\":\\\"not_supported\\\"}\"";
const std::string sizes_lie =
    "echo \"{\\\"id\\\":$id,\\\"status\\\":\\\"ok\\\",\\\"form\\\":\\\"binary\\\",\\\"bytes\\\":"
    "[99999999999999]}\"";

// In open, what ask() above reports stands as host_error with the sentence of start().
INSTANTIATE_TEST_SUITE_P(
    Commands, Troubled,
    testing::Values(
        Trouble{"missing", "/no/such/program", AnswerKind::host_error, "no such command"},
        Trouble{"silent_end", "exit 3", AnswerKind::host_error, "exited with code 3"},
        Trouble{"no_hello", "echo hello", AnswerKind::host_error, "'hello' is no JSON object"},
        Trouble{"version", "echo '{\"mxpipe\":9}'", AnswerKind::host_error, "\"mxpipe\":1"},
        Trouble{"long_hello", "yes | tr -d '\\n' | head -c 200000", AnswerKind::host_error,
                "longer than 65536 bytes"},
        Trouble{"mute", "sleep 100", AnswerKind::host_error, "no answer within", impatient_to_open},
        Trouble{"garbage", device_that("echo garbage"), AnswerKind::device_error, "'garbage'"},
        Trouble{"endless", device_that("yes | tr -d '\\n'"), AnswerKind::device_error,
                "more than 65536 bytes"},
        Trouble{"other_id", device_that("echo '{\"id\":\"x\",\"status\":\"ok\"}'; echo 38"),
                AnswerKind::device_error, "id \"x\" where"},
        Trouble{"short", device_that(say_ok + "echo 3"), AnswerKind::device_error,
                "1 digits where 2 belong"},
        Trouble{"long", device_that(say_ok + "echo 3838383838"), AnswerKind::device_error,
                "more than 2 digits"},
        Trouble{"no_digits", device_that(say_ok + "echo zz"), AnswerKind::device_error,
                "'zz' is no hexadecimal byte"},
        Trouble{"sizes", device_that(sizes_lie), AnswerKind::device_error, "does not say 1"},
        Trouble{"exit", device_that("exit 3"), AnswerKind::crash, "exited with code 3 in run"},
        Trouble{"exit_0", device_that("exit 0"), AnswerKind::crash, "exited with code 0 in run"},
        Trouble{"killed", device_that("kill -SEGV $$"), AnswerKind::crash,
                "killed by signal 11 (Segmentation fault) in run"},
        Trouble{"half", device_that(say_ok + "printf 3; exit 1"), AnswerKind::crash,
                "exited with code 1"},
        Trouble{"hang", device_that("sleep 100"), AnswerKind::timeout, "no answer within",
                impatient},
        Trouble{"closed", device_that("exec >&-; sleep 100"), AnswerKind::device_error,
                "closed its output"},
        Trouble{"failed", device_that(failed), AnswerKind::device_error, "MX_FAILED: too hot"},
        Trouble{"late_no", device_that(unsupported), AnswerKind::device_error,
                "after supports had answered MX_OK"}),
    [](const auto& info) { return std::string(info.param.what); });

TEST(SubprocessDevice, NotSupportedIsNoFault) {
    const DeviceAnswer answer =
        ask("echo '{\"mxpipe\":1}'; read -r head; "
            "echo '{\"id\":\"1\",\"status\":\"not_supported\",\"reason\":\"too small\"}'; cat");
    EXPECT_EQ(answer.kind, AnswerKind::not_supported);
    EXPECT_EQ(answer.reason, "too small");
}

TEST(SubprocessDevice, AfterACrashTheCommandStartsAnew) {
    auto device = open_client(command_device(device_that("exit 3")), patient);
    ASSERT_TRUE(device) << device.error().message;
    for (int time = 0; time < 3; ++time)
        EXPECT_EQ(device.value().ask(small_question()).kind, AnswerKind::crash);
}

bool is_gone(pid_t pid) {
    for (int time = 0; time < 500; ++time) {
        std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
        std::string id, name, state;
        status >> id >> name >> state;
        if (!status || state == "Z") return true;  // a zombie is its new parent's to reap
        std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
}

pid_t pid_in(const std::string& path) {
    std::ifstream file(path);
    pid_t pid = -1;
    file >> pid;
    return pid;
}

// Neither a hang nor an end leaves the command's own children behind.
TEST(SubprocessDevice, NothingIsLeftBehind) {
    const std::string path = testing::TempDir() + "subprocess_test_" + std::to_string(::getpid());
    const std::string with_child = "sleep 1000 & echo $! >" + path + "; ";
    EXPECT_EQ(ask(with_child + device_that("sleep 100"), impatient).kind, AnswerKind::timeout);
    EXPECT_GT(pid_in(path), 0);
    EXPECT_TRUE(is_gone(pid_in(path)));
    EXPECT_EQ(ask(with_child + device_that(say_ok + "echo 38")).kind, AnswerKind::answered);
    EXPECT_TRUE(is_gone(pid_in(path)));
    ::unlink(path.c_str());
}

// A device that listens on a socket: it supports what each connection asks, and answers with `code`
// or, where there is none, by closing.
class Listening {
public:
    explicit Listening(std::string code) : code_(std::move(code)) {
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
        ::unlink(path.c_str());
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(listener_, 4), 0);
        thread_ = std::thread([this] { serve(); });
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    ~Listening() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
        ::unlink(path.c_str());
    }

    const std::string path = testing::TempDir() + "mx_socket_" + std::to_string(::getpid());

private:
    void serve() {
        for (int peer; (peer = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(peer)) {
            say(peer, "{\"mxpipe\":1,\"facts\":{\"name\":\"listening\"}}\n");
            if (!hears(peer, "supports")) continue;
            say(peer, "{\"id\":\"1\",\"status\":\"ok\"}\n");
            for (int id = 2; hears(peer, "803f\n") && !code_.empty(); ++id)
                say(peer,
                    "{\"id\":\"" + std::to_string(id) + "\",\"status\":\"ok\"}\n" + code_ + "\n");
        }
    }
    static void say(int peer, const std::string& text) {
        EXPECT_EQ(::send(peer, text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
    }
    static bool hears(int peer, const std::string& end) {
        std::string heard;
        std::array<char, 4096> buffer;
        while (heard.find(end) == std::string::npos || heard.back() != '\n') {
            const ssize_t got = ::recv(peer, buffer.data(), buffer.size(), 0);
            if (got <= 0) return false;
            heard.append(buffer.data(), static_cast<std::size_t>(got));
        }
        return true;
    }

    std::string code_;
    int listener_ = -1;
    std::thread thread_;
};

TEST(SubprocessDevice, WhoListensOnASocketIsADevice) {
    const Listening listening("38");
    auto device = open_client(command_device("unix:" + listening.path), patient);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ(device.value().facts, (Facts{{"name", "listening"}}));
    const DeviceAnswer answer = device.value().ask(small_question());
    ASSERT_EQ(answer.kind, AnswerKind::answered) << answer.reason;
    EXPECT_EQ(answer.outputs[0].bytes, (std::vector{std::byte{0x38}}));
    EXPECT_TRUE(device.value().close());
}

TEST(SubprocessDevice, ASocketThatClosesInTheMiddleIsADeviceLost) {
    const Listening listening("");
    const DeviceAnswer answer = ask("unix:" + listening.path);
    EXPECT_EQ(answer.kind, AnswerKind::device_error);
    EXPECT_NE(answer.reason.find("closed"), std::string::npos) << answer.reason;
}

TEST(SubprocessDevice, ASocketWithoutAListenerIsASentence) {
    EXPECT_NE(ask("unix:/nowhere/at/all").reason.find("cannot connect to the socket /nowhere"),
              std::string::npos);
    EXPECT_NE(ask("unix:" + std::string(200, 'x')).reason.find("a socket's path has 1 to"),
              std::string::npos);
}

}  // namespace
}  // namespace mx
