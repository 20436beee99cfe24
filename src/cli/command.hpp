#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): named by the library
class App;
}

namespace agw::cli {

/// An argument for help texts, completion and the manual page.
struct Argument {
  enum class Kind { flag, option, word, words };
  Kind kind = Kind::flag;
  std::string name;  ///< `--json`; `file` for a positional argument
  std::string about;
  bool required = false;
  std::vector<std::string> values{};  ///< the only allowed values, if any

  bool is_option() const { return kind == Kind::flag || kind == Kind::option; }
  bool takes_value() const { return kind == Kind::option; }
};

/// The arguments of a command. Each call declares one argument and the variable that parsing fills. The variable must
/// live until the command has run.
class Arguments {
public:
  explicit Arguments(CLI::App& app) : app_(app) {}

  void flag(const std::string& name, bool& value, const std::string& about);
  void option(const std::string& name, std::optional<std::string>& value, const std::string& about);
  /// An integer from `min` to `max`.
  void option(const std::string& name, std::optional<int>& value, int min, int max, const std::string& about);
  /// One of `values`.
  void option(const std::string& name, std::optional<std::string>& value, const std::vector<std::string>& values,
              const std::string& about);

  /// A required positional argument.
  void word(const std::string& name, std::string& value, const std::string& about);
  /// A required positional argument, one of `values`.
  void word(const std::string& name, std::string& value, const std::vector<std::string>& values,
            const std::string& about);
  /// An optional positional argument, which is not empty if it is given, unless `can_be_empty`.
  void word(const std::string& name, std::optional<std::string>& value, const std::string& about,
            bool can_be_empty = false);
  /// One or more positional arguments.
  void words(const std::string& name, std::vector<std::string>& value, const std::string& about);

  /// All declared arguments, in order.
  const std::vector<Argument>& declared() const { return declared_; }

private:
  CLI::App& app_;
  std::vector<Argument> declared_;
};

/// The help text of `--data-dir`, which every command accepts.
inline constexpr auto data_dir_about =
    "The gateway's data directory (default: $AGENT_GATEWAY_DATA_DIR, or ~/.agent-gateway)";

/// Runs a command with parsed arguments; returns the process's exit status. `run` reports its exceptions to the user.
using Action = std::function<int()>;

/// A row of the table of commands.
struct Command {
  std::string_view name;  ///< `status`; in a group both words, such as `token show`, after the group's own row
  std::string_view about;
  /// Declares the arguments and returns the action. Empty for a group, which requires a subcommand.
  std::function<Action(Arguments&)> declare;
};

}  // namespace agw::cli
