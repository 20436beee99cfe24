#include "cli/command_line.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <iostream>
#include <system_error>

// Only this file includes CLI11, which takes seconds to compile.
#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/text/numbers.hpp"
#include "cli/description.hpp"
#include "cli/similar_word.hpp"

namespace agw::cli {

namespace {

using Texts = CLI::results_t;

// Uses texts unchanged: CLI11's own conversions read "{}" as an empty value.
CLI::callback_t store_in(std::optional<std::string>& value) {
  return [&value](const Texts& texts) {
    value = texts.back();
    return true;
  };
}

CLI::callback_t store_in(std::string& value) {
  return [&value](const Texts& texts) {
    value = texts.back();
    return true;
  };
}

CLI::callback_t store_in(std::vector<std::string>& value) {
  return [&value](const Texts& texts) {
    value = texts;
    return true;
  };
}

CLI::callback_t store_in(std::optional<int>& value) {
  return [&value](const Texts& texts) {
    value = parse_number<int>(texts.back());
    return value.has_value();
  };
}

std::function<std::string(const std::string&)> one_of(const std::vector<std::string>& values) {
  return [values](const std::string& text) {
    const bool known = std::find(values.begin(), values.end(), text) != values.end();
    return known ? "" : fmt::format("{} is not one of {}", text, fmt::join(values, " "));
  };
}

/// Rejects an empty argument, which usually comes from an unset variable in a script.
std::string some_text(const std::string& text) { return text.empty() ? "is empty" : ""; }

CLI::App& parent_of(CLI::App& program, std::string_view name) {
  const auto space = name.rfind(' ');
  return space == name.npos ? program : *program.get_subcommand(std::string(name.substr(0, space)));
}

void add(CLI::App& program, const Command& command, Action& chosen) {
  auto& app = *parent_of(program, command.name)
                   .add_subcommand(std::string(last_word(command.name)), std::string(command.about));
  app.group("Commands");
  if (!command.declare) {
    app.require_subcommand(1);
    return;
  }
  app.require_subcommand(0, 1);
  Arguments arguments(app);
  app.final_callback([&app, &chosen, action = command.declare(arguments)] {
    if (app.get_subcommands().empty()) chosen = action;
  });
}

/// The rows that the arguments can refer to. Declaring all rows would take longer than many commands.
std::vector<const Command*> possible(std::span<const Command> commands, const std::vector<std::string>& arguments) {
  const auto first_word = [](std::string_view name) { return name.substr(0, name.find(' ')); };
  std::vector<const Command*> named;
  std::vector<const Command*> all;
  for (const auto& command : commands) {
    all.push_back(&command);
    if (!arguments.empty() && first_word(command.name) == arguments.front()) named.push_back(&command);
  }
  return named.empty() ? all : named;
}

/// `agw token show`, for messages about it.
std::string full_name(const CLI::App& program) {
  std::string name = "agw";
  for (const auto* app = &program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    name += ' ' + app->get_name();
  }
  return name;
}

bool is_of(const CLI::ParseError& error, CLI::ExitCodes kind) {
  return error.get_exit_code() == static_cast<int>(kind);
}

/// The option in an error such as `--port: 1 required NUMBER missing`.
std::string option_without_value(const CLI::ParseError& error) {
  const std::string_view what = error.what();
  const bool is_missing = is_of(error, CLI::ExitCodes::ArgumentMismatch) && what.ends_with(" missing");
  return std::string(is_missing ? what.substr(0, what.find(':')) : "");
}

/// Words after those that a command takes are mostly of a text without quotes: `agw chat What is new?`.
std::string_view missing_quotes(const CLI::App& command, const std::string& unknown) {
  const auto is_word = [](const CLI::Option* option) { return option->get_positional(); };
  return unknown.starts_with('-') || command.get_options(is_word).empty() ? "" : "; quote a text that has spaces";
}

/// Proposes a command or option of that app in place of an unknown one; empty if none is similar.
std::string proposal(const CLI::App& app, std::string_view unknown) {
  std::vector<std::string> known;
  for (const auto* command : app.get_subcommands(nullptr)) known.push_back(command->get_name());
  if (unknown.starts_with('-')) {
    for (const auto* option : app.get_options()) known.push_back(option->get_name());
  }
  const auto word = unknown.substr(0, unknown.find('='));
  const auto similar = similar_word(word, known);
  if (similar == word) return fmt::format("; write {} after the command", word);
  return similar.empty() ? "" : fmt::format("; did you mean {}?", similar);
}

/// Replaces CLI11's messages: it reports the missing command of a group before it checks the word in its place, lists
/// several unknown words in reverse order, and has its own texts for missing arguments.
std::string reason(const CLI::App& program, const CLI::ParseError& error) {
  const auto* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  const auto unknown = program.remaining(true);
  const bool lacks_command = app->get_require_subcommand_min() > 0;
  if (lacks_command && unknown.empty()) return "a command is missing";
  if (const auto missing = option_without_value(error); !missing.empty()) return missing + " needs a value";
  if (!lacks_command && !is_of(error, CLI::ExitCodes::ExtrasError)) return error.what();
  const bool is_group = !app->get_subcommands(nullptr).empty();
  if (is_group && !unknown.front().starts_with('-'))
    return fmt::format("there is no command {}{}", unknown.front(), proposal(*app, unknown.front()));
  auto hint = proposal(*app, unknown.front());
  if (hint.empty()) hint = missing_quotes(*app, unknown.front());
  if (lacks_command || unknown.size() == 1)
    return fmt::format("The following argument was not expected: {}{}", unknown.front(), hint);
  return fmt::format("The following arguments were not expected: {}{}", fmt::join(unknown, " "), hint);
}

Notice wrong(const CLI::App& program, const std::string& why) {
  const auto name = full_name(program);
  return {static_cast<int>(ExitStatus::usage),
          fmt::format("{}: {}\n`{} --help` explains its arguments.\n", name, why, name)};
}

Notice help(const CLI::App& program) { return {static_cast<int>(ExitStatus::success), program.help()}; }

int print_notice(const Notice& notice) {
  std::fputs(notice.text.c_str(), notice.status == 0 ? stdout : stderr);
  return notice.status;
}

int fail(ExitStatus status, const char* what) {
  // If this fails, the exit status still reports the failure.
  std::fputs(fmt::format("agw: {}\n", printable(what)).c_str(), stderr);
  return static_cast<int>(status);
}

/// Why standard output fails. `errno` of the failed write may have been overwritten.
std::string why_not_written() {
  std::clearerr(stdout);
  if (std::fputc('\n', stdout) != EOF && std::fflush(stdout) == 0) return "it is incomplete";
  return std::generic_category().message(errno);
}

/// Returns the status unless the output could not be written: readers must not take it for complete.
int once_written(int status) {
  std::cout.flush();
  const bool is_flushed = std::fflush(stdout) == 0;
  if (is_flushed && !std::cout.bad() && std::ferror(stdout) == 0) return status;
  const int failed = fail(ExitStatus::failure, ("cannot write the output: " + why_not_written()).c_str());
  return status == 0 ? failed : status;
}

}  // namespace

void Arguments::flag(const std::string& name, bool& value, const std::string& about) {
  app_.add_flag_callback(name, [&value] { value = true; }, about);
  declared_.push_back({Argument::Kind::flag, name, about});
}

void Arguments::option(const std::string& name, std::optional<std::string>& value, const std::string& about) {
  app_.add_option(name, store_in(value), about)->type_name("TEXT");
  declared_.push_back({Argument::Kind::option, name, about});
}

void Arguments::option(const std::string& name, std::optional<int>& value, int min, int max, const std::string& about) {
  auto in_range = [min, max](const std::string& text) {
    const auto number = parse_number<int>(text);
    const bool fits = number && *number >= min && *number <= max;
    return fits ? "" : fmt::format("{} is not a whole number from {} to {}", text, min, max);
  };
  app_.add_option(name, store_in(value), about)->check(in_range, "")->type_name("NUMBER");
  declared_.push_back({Argument::Kind::option, name, about});
}

void Arguments::option(const std::string& name, std::optional<std::string>& value,
                       const std::vector<std::string>& values, const std::string& about) {
  auto* option = app_.add_option(name, store_in(value), about);
  option->check(one_of(values), "")->type_name(fmt::format("{}", fmt::join(values, "|")));
  declared_.push_back({Argument::Kind::option, name, about, false, values});
}

void Arguments::word(const std::string& name, std::string& value, const std::string& about) {
  app_.add_option(name, store_in(value), about)->required()->check(some_text, "");
  declared_.push_back({Argument::Kind::word, name, about, true});
}

void Arguments::word(const std::string& name, std::string& value, const std::vector<std::string>& values,
                     const std::string& about) {
  auto* option = app_.add_option(name, store_in(value), about)->required();
  option->check(one_of(values), "")->type_name(fmt::format("{}", fmt::join(values, "|")));
  declared_.push_back({Argument::Kind::word, name, about, true, values});
}

void Arguments::word(const std::string& name, std::optional<std::string>& value, const std::string& about,
                     bool can_be_empty) {
  auto* option = app_.add_option(name, store_in(value), about);
  if (!can_be_empty) option->check(some_text, "");
  declared_.push_back({Argument::Kind::word, name, about});
}

void Arguments::words(const std::string& name, std::vector<std::string>& value, const std::string& about) {
  app_.add_option(name, store_in(value), about)->expected(CLI::detail::expected_max_vector_size)->required();
  declared_.push_back({Argument::Kind::words, name, about, true});
}

std::variant<Action, Notice> parse(std::span<const Command> commands, const std::vector<std::string>& arguments) {
  CLI::App program("A gateway on this machine for configuring and running AI agents.", "agw");
  program.set_version_flag("--version", "agw " AGW_VERSION, "Print the version");
  program.require_subcommand(0, 1);
  program.get_formatter()->label("SUBCOMMAND", "COMMAND");
  Action chosen;
  for (const auto* command : possible(commands, arguments)) add(program, *command, chosen);

  try {
    program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForVersion& version) {
    return Notice{0, std::string(version.what()) + "\n"};
  } catch (const CLI::CallForHelp&) {
    return help(program);
  } catch (const CLI::ParseError& error) {
    return wrong(program, reason(program, error));
  }
  if (chosen) return chosen;
  return help(program);
}

int run(std::span<const Command> commands, const std::vector<std::string>& arguments) {
  const auto parsed = parse(commands, arguments);
  if (const auto* notice = std::get_if<Notice>(&parsed)) return once_written(print_notice(*notice));
  try {
    return once_written(std::get<Action>(parsed)());
  } catch (const StartError& error) {
    return fail(error.status(), error.what());
  } catch (const std::exception& error) {
    return fail(ExitStatus::failure, error.what());
  }
}

}  // namespace agw::cli
