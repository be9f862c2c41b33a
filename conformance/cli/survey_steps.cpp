// See survey_steps.hpp.
#include "conformance/cli/survey_steps.hpp"

#include <filesystem>
#include <sstream>

#include "conformance/case/fields.hpp"
#include "conformance/cli/device_sweeps.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

std::string no_algorithms(const Subject& subject) {
    return subject.lists_algorithms ? "" : "the device lists no algorithms";
}

std::string no_maps(const Subject& subject) {
    if (subject.has_maps) return "";
    return "no sweeps of whole domains beside those of its run: " + who_has_sweeps();
}

std::string why_no_large(const Subject& subject) {
    return subject.no_large;
}

// Words of a command are parted by blanks, commands by " ; ". Of the words,
//     $DEVICE    becomes --device X or --device-cmd X
//     $FOLDER    the folder of the step's subject, $OUT that of the survey
//     $TIMEOUT   --timeout N
//     $WAIVERS   --waivers FILE, or nothing
//     $FUZZ_TIME the time to search
struct Row {
    const char* name;
    const char* asks;
    bool is_of_machine;
    const char* record;  // below the subject's folder
    bool prints_record;  // on standard output
    const char* commands;
    const char *full, *quick;  // what ends the last command at either effort; null: left out of it
    const char* resume;        // what it is given, too, where the file after it is there
    const char* resumed_file;
    const char* scratch;  // removed afterwards
    std::string (*why_not)(
        const Subject&);  // null: it is run, and ends with 77 where it asks nothing
};

constexpr bool machine = true, device = false;

constexpr Row rows[] = {
    {"doctor", "What is installed here, and is this build's oracle right?", machine, "doctor.json",
     true, "doctor --json", "", "", "", "", "", nullptr},
    {"selftest", "Which planted bugs does this build catch on this machine?", machine,
     "kill_table.json", false, "selftest --json $OUT/kill_table.json", "--level quick", nullptr, "",
     "", "", nullptr},
    {"run", "Is every case of the level right, bit for bit?", device, "results.jsonl", false,
     "run $DEVICE $TIMEOUT $WAIVERS --out $FOLDER", "--level full", "--level quick", "--resume",
     "results.jsonl", "", nullptr},
    {"algorithms", "Is every GEMM right by every algorithm of the device?", device,
     "algorithms/results.jsonl", false,
     "run $DEVICE $TIMEOUT $WAIVERS --suite gemm --algorithms all --out $FOLDER/algorithms",
     "--level full", "--level smoke", "--resume", "algorithms/results.jsonl", "", no_algorithms},
    {"large", "Is it right beyond 2^31 elements, 2^24 blocks and thousands of calls?", device,
     "large/results.jsonl", false,
     "run $DEVICE $TIMEOUT $WAIVERS --level large --out $FOLDER/large", "", nullptr, "--resume",
     "large/results.jsonl", "", why_no_large},
    {"maps", "Is it right over whole domains, input by input?", device, "maps/results.jsonl", false,
     "run $DEVICE --suite sweep --level exhaustive --out $FOLDER/maps", "", "", "--resume",
     "maps/results.jsonl", "", no_maps},
    {"identify", "Which quantizer does it follow?", device, "identify.json", true,
     "identify $DEVICE $TIMEOUT --json", "", "", "", "", "", nullptr},
    {"identify gemm", "How does it sum?", device, "identify_gemm.json", true,
     "identify $DEVICE $TIMEOUT --op gemm --json", "", "", "", "", "", nullptr},
    {"relations", "Do its answers agree with each other?", device, "relations/results.jsonl", false,
     "relate $DEVICE $TIMEOUT --out $FOLDER/relations", "", "", "", "", "", nullptr},
    {"fuzz", "Does a search of the stated time find inputs on which it is wrong?", device,
     "fuzz.log", true, "fuzz $DEVICE $TIMEOUT --time $FUZZ_TIME --corpus $FOLDER/fuzz", "", "",
     "--resume", "fuzz/worker-0.json", "fuzz/worker-0.json", nullptr},
    {"answers", "What does it answer to the smoke cases? Recorded for mxcheck verify.", device,
     "recorded.answers", false,
     "gen --level smoke --form binary --out $FOLDER/questions.pack ; "
     "answer $FOLDER/questions.pack $DEVICE $TIMEOUT --out $FOLDER/recorded.answers",
     "", "", "", "", "questions.pack", nullptr},
    {"bench", "How fast is it beside the limits of this machine?", device, "bench.jsonl", false,
     "bench $DEVICE --out $FOLDER", "",
     "--milliseconds 50 --shape 64x4096 --gemm-shape 256x256x256", "", "", "", nullptr},
    {"accuracy", "What does quantizing on it lose?", device, "accuracy.json", true,
     "accuracy $DEVICE $TIMEOUT --json", "", "--elements 65536", "", "", "", nullptr},
    {"gemm accuracy", "How far are its products from the exact ones, in units of the bound?",
     device, "gemm_accuracy.json", true, "accuracy $DEVICE $TIMEOUT --op gemm --json", "",
     "--k 1024", "", "", "", nullptr},
    {"training", "Does a network trained with it learn as with the oracle?", device,
     "training.json", true, "train $DEVICE $TIMEOUT --json", "", "--steps 20 --dialect ocp,nv", "",
     "", "", nullptr},
};

// `text` with `name` in it replaced.
std::string with(std::string text, const std::string& name, const std::string& value) {
    for (std::size_t at = text.find(name); at != std::string::npos;
         at = text.find(name, at + value.size()))
        text.replace(at, name.size(), value);
    return text;
}

struct Places {
    const Subject* subject;  // null for the machine
    const Effort& effort;
    std::string out, folder;
};

void add_word(std::vector<std::string>& words, const std::string& word, const Places& places) {
    const auto add_option = [&words](const char* name, const std::string& value) {
        words.insert(words.end(), {name, value});
    };
    if (word == "$DEVICE") {
        const DeviceChoice& choice = places.subject->choice;
        if (choice.command.empty()) return add_option("--device", choice.device);
        return add_option("--device-cmd", choice.command);
    }
    if (word == "$TIMEOUT") return add_option("--timeout", std::to_string(places.effort.timeout));
    if (word == "$WAIVERS") {
        if (!places.effort.waivers.empty()) add_option("--waivers", places.effort.waivers);
        return;
    }
    if (word == "$FUZZ_TIME") return words.push_back(places.effort.fuzz_time);
    words.push_back(with(with(word, "$FOLDER", places.folder), "$OUT", places.out));
}

const char* rest_of(const Row& row, const Effort& effort) {
    return effort.is_quick ? row.quick : row.full;
}

std::string why_not(const Row& row, const Places& places) {
    if (rest_of(row, places.effort) == nullptr) return "--quick leaves it out";
    return row.why_not == nullptr ? "" : row.why_not(*places.subject);
}

std::vector<std::vector<std::string>> commands_of(const Row& row, const Places& places) {
    std::vector<std::vector<std::string>> commands(1);
    const char* rest = rest_of(row, places.effort);
    std::istringstream text(std::string(row.commands) + " " + (rest == nullptr ? "" : rest));
    for (std::string word; text >> word;) {
        if (word == ";")
            commands.emplace_back();
        else
            add_word(commands.back(), word, places);
    }
    return commands;
}

std::string typed(const std::vector<std::string>& command) {
    std::string text = "mxcheck";
    for (const std::string& word : command) text += " " + shell_quoted(word);
    return text;
}

PlannedStep planned(const Row& row, const Places& places) {
    namespace fs = std::filesystem;
    const std::string folder = places.subject == nullptr ? "" : places.subject->folder;
    const auto below = [&](const char* file) {
        return *file == '\0' ? std::string() : (fs::path(places.folder) / file).string();
    };
    PlannedStep planned;
    planned.step.name = row.name;
    planned.step.subject = folder;
    planned.step.asks = row.asks;
    planned.step.record = (fs::path(folder) / row.record).generic_string();
    planned.step.not_run = why_not(row, places);
    planned.commands = commands_of(row, places);
    for (const auto& command : planned.commands) planned.step.commands.push_back(typed(command));
    planned.resume = row.resume;
    planned.resumed_file = below(row.resumed_file);
    planned.scratch = below(row.scratch);
    planned.prints_record = row.prints_record;
    planned.log = below((with(row.name, " ", "_") + ".log").c_str());
    return planned;
}

}  // namespace

std::vector<PlannedStep> planned_steps(const std::vector<Subject>& subjects, const Effort& effort,
                                       const std::string& out) {
    std::vector<PlannedStep> steps;
    for (const Row& row : rows)
        if (row.is_of_machine) steps.push_back(planned(row, {nullptr, effort, out, out}));
    for (const Subject& subject : subjects)
        for (const Row& row : rows)
            if (!row.is_of_machine)
                steps.push_back(
                    planned(row, {&subject, effort, out,
                                  (std::filesystem::path(out) / subject.folder).string()}));
    return steps;
}

}  // namespace mx::cli
