// See arguments.hpp. The only file that includes CLI11.
#include "conformance/cli/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>

#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "reference/base/text.hpp"
#include "reference/spec/assert.hpp"

namespace mx::cli {
namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 conformant, 1 mismatch, or worse than a baseline, 2 bad usage or input, or a\n"
    "file that cannot be written, 3 device crashed, hung or was lost, 4 incomplete, 5 self-test\n"
    "failed, oracles disagree or this build's oracle is broken, 77 nothing was tested.";

bool is_positional(const Option& option) {
    return option.name.front() != '-';
}

// Whole numbers are read by parse_number, so that "nan" and "-1" get our sentence.
void declare_number(CLI::App& app, const Option& option, std::uint64_t* target) {
    app.add_option_function<std::string>(
           option.name,
           [target, name = option.name](const std::string& text) {
               const auto number = parse_number(name, text);
               if (!number) throw CLI::ValidationError(number.error().message);
               *target = number.value();
           },
           option.help)
        ->type_name("N")
        ->default_str(std::to_string(*target))
        ->required(option.required);
}

// What is empty unless it is given would be taken as not given: run --input "$unset" would run the
// suites. Other options say themselves that they do not know ''.
std::string refuse_empty(const std::string& value) {
    return value.empty() ? "the value is empty" : "";
}

void declare(CLI::App& app, const Option& option) {
    if (bool* const* flag = std::get_if<bool*>(&option.target)) {
        app.add_flag(option.name, **flag, option.help);
    } else if (std::uint64_t* const* number = std::get_if<std::uint64_t*>(&option.target)) {
        declare_number(app, option, *number);
    } else if (auto* const* list = std::get_if<std::vector<std::string>*>(&option.target)) {
        CLI::Option* declared = app.add_option(option.name, **list, option.help);
        declared->required(option.required);
        if (!is_positional(option))
            declared->delimiter(',')->type_name("NAME,...");
        else
            declared->type_name("");
    } else {
        std::string& text = *std::get<std::string*>(option.target);
        CLI::Option* declared = app.add_option(option.name, text, option.help);
        if (text.empty() && !option.required) declared->check(refuse_empty);
        declared->type_name(is_positional(option) ? "" : "TEXT")->required(option.required);
        if (!is_positional(option)) declared->capture_default_str();
    }
}

// "unknown option '--devise'; did you mean '--device'?"
std::string explain_extra(const std::string& word, const Command& command) {
    std::vector<std::string> names{"--help"};
    for (const Option& option : command.options)
        if (!is_positional(option)) names.push_back(option.name);
    const std::string bare = word.substr(0, word.find('='));
    if (word.front() == '-') {
        const std::string nearest = nearest_name(bare, names);
        return "unknown option '" + bare + "' of mxcheck " + command.name +
               (nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
    }
    return "'" + word + "' is one argument too many for mxcheck " + command.name;
}

void declare_command(CLI::App& app, const Command& command) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->footer("Example:\n  " + command.example + "\n\n" + exit_codes);
    sub->allow_extras();
    for (const Option& option : command.options) declare(*sub, option);
}

// CLI11 says no more than that a subcommand is required, whatever stands there instead.
Status check_first_word(const CLI::App& app, const char* word,
                        const std::vector<Command>& commands) {
    if (word == nullptr) return bad_input("a command is missing; mxcheck --help lists them");
    if (word[0] != '-') {
        std::vector<std::string> names = names_of(commands);
        names.emplace_back("help");
        return check_name("command", word, names);
    }
    if (app.get_option_no_throw(word) != nullptr) return success();
    return check_name("option", word, {"--help", "--version"});
}

// "help" means --help, and "help COMMAND" the --help of that command.
Expected<std::vector<const char*>> spell_out_help(int argc, char** argv,
                                                  const std::vector<Command>& commands) {
    if (argc < 2 || std::string_view(argv[1]) != "help")
        return std::vector<const char*>(argv, argv + argc);
    if (argc > 3)
        return bad_input("'" + std::string(argv[3]) +
                         "' is one argument too many for mxcheck help");
    if (argc == 2) return std::vector<const char*>{argv[0], "--help"};
    const Status known = check_name("command", argv[2], names_of(commands));
    if (!known) return known.error();
    return std::vector<const char*>{argv[0], argv[2], "--help"};
}

// Is what this option needs there, "--op gemm" or "--census", as given or by default?
bool has(const Command& command, const std::string& needed) {
    const std::string name = needed.substr(0, needed.find(' '));
    const auto option = std::ranges::find(command.options, name, &Option::name);
    MX_ASSERT(option != command.options.end());
    if (bool* const* flag = std::get_if<bool*>(&option->target)) return **flag;
    const std::string& value = *std::get<std::string*>(option->target);
    return name == needed ? !value.empty() : name + " " + value == needed;
}

// "--k goes with --op gemm alone", "" if every option that is given does something.
std::string useless_option(const CLI::App& sub, const Command& command) {
    for (const Option& option : command.options)
        if (!option.only_with.empty() && sub.count(option.name) > 0 &&
            !has(command, option.only_with))
            return option.name + " goes with " + option.only_with + " alone";
    return "";
}

int run_checked(const Command& command, const Program& program) {
    if (!command.asks_oracle) return command.run();
    const std::string fault = program.oracle_fault();
    if (fault.empty()) return command.run();
    complain(fault);
    return exit_self_test;
}

int run_parsed(const CLI::App& app, const Program& program) {
    for (const Command& command : program.commands) {
        const CLI::App* sub = app.get_subcommand(command.name);
        if (!sub->parsed()) continue;
        const std::vector<std::string> extras = sub->remaining();
        if (!extras.empty()) {
            complain(explain_extra(extras.front(), command));
            return exit_usage;
        }
        if (const std::string useless = useless_option(*sub, command); !useless.empty()) {
            complain(useless);
            return exit_usage;
        }
        return run_checked(command, program);
    }
    return exit_usage;
}

int parse_and_run(int argc, char** argv, const Program& program) {
    const std::vector<Command>& commands = program.commands;
    CLI::App app{
        "mxcheck: which bits are right for OCP Microscaling formats, and which a device "
        "gives"};
    app.name("mxcheck");
    app.footer(
        "mxcheck help COMMAND says more of one command.\n\n"
        "Start with:\n  mxcheck run --device cpu --level quick --out out\n\n" +
        std::string(exit_codes));
    app.set_version_flag("--version", program.version);
    app.require_subcommand(1);
    for (const Command& command : commands) declare_command(app, command);
    const auto words = spell_out_help(argc, argv, commands);
    if (!words) {
        complain(words.error().message);
        return exit_usage;
    }
    const std::vector<const char*>& arguments = words.value();
    const Status known =
        check_first_word(app, arguments.size() > 1 ? arguments[1] : nullptr, commands);
    if (!known) {
        complain(known.error().message);
        return exit_usage;
    }
    try {
        app.parse(static_cast<int>(arguments.size()), arguments.data());
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
        complain(error.what());
        return exit_usage;
    }
    try {
        return run_parsed(app, program);
    } catch (const std::bad_alloc&) {
        complain("not enough memory for this; a smaller shape or file would do");
        return exit_usage;
    } catch (const std::length_error&) {
        complain("not enough memory for this; a smaller shape or file would do");
        return exit_usage;
    }
}

int output_kept(int code) {
    const bool is_kept = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (is_kept) return code;
    complain("standard output could not be written; what it was to hold is lost");
    return code == exit_conformant || code == exit_nothing_tested ? exit_usage : code;
}

}  // namespace

void complain(const std::string& message) {
    std::fprintf(stderr, "mxcheck: %s\n", printable(message).c_str());
}

int dispatch(int argc, char** argv, const Program& program) {
    return output_kept(parse_and_run(argc, argv, program));
}

}  // namespace mx::cli
