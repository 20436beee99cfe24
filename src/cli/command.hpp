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

/// An argument as people read of it.
struct Argument {
  enum class Kind { flag, option, word, words };
  Kind kind = Kind::flag;
  std::string name;  ///< `--json`; of a word only `file`
  std::string about;
  bool required = false;
  std::vector<std::string> values{};  ///< where only these are taken

  bool is_option() const { return kind == Kind::flag || kind == Kind::option; }
  bool takes_value() const { return kind == Kind::option; }
};

/// What one command takes. Each call declares one argument and names the variable that parsing fills; the variables
/// must live until the command has run.
class Arguments {
public:
  explicit Arguments(CLI::App& app) : app_(app) {}

  void flag(const std::string& name, bool& value, const std::string& about);
  void option(const std::string& name, std::optional<std::string>& value, const std::string& about);
  /// A whole number from `least` to `most`.
  void option(const std::string& name, std::optional<int>& value, int least, int most, const std::string& about);
  /// One of `values`.
  void option(const std::string& name, std::optional<std::string>& value, const std::vector<std::string>& values,
              const std::string& about);

  /// One argument without a name, which must be there.
  void word(const std::string& name, std::string& value, const std::string& about);
  /// The same, one of `values`.
  void word(const std::string& name, std::string& value, const std::vector<std::string>& values,
            const std::string& about);
  /// One argument without a name, which may be missing.
  void word(const std::string& name, std::optional<std::string>& value, const std::string& about);
  /// One or more arguments without a name.
  void words(const std::string& name, std::vector<std::string>& value, const std::string& about);

  /// All that was declared, in order.
  const std::vector<Argument>& declared() const { return declared_; }

private:
  CLI::App& app_;
  std::vector<Argument> declared_;
};

/// What `--data-dir` says about itself, which every command takes.
inline constexpr auto data_dir_about =
    "Where the gateway keeps everything (default: $AGENT_GATEWAY_DATA_DIR, else ~/.agent-gateway)";

/// What a command does once its arguments are known; answers the process's exit status. What it throws is told to the
/// user by `run`.
using Action = std::function<int()>;

/// A row of the table of commands.
struct Command {
  std::string_view name;  ///< `status`; of a command in a group both words, `token show`, below the row of the group
  std::string_view about;
  /// Declares the arguments, and answers what runs with them. Empty for a group, which needs one of its commands.
  std::function<Action(Arguments&)> declare;
};

}  // namespace agw::cli
