#include <iterator>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "cli/description.hpp"

namespace agw::cli {

namespace {

/// A completion after the commands of `path`, with its description.
struct Entry {
  std::string text;
  std::string about;
};

std::vector<Entry> entries(const std::vector<CommandDescription>& commands, std::string_view path) {
  std::vector<Entry> list;
  for (const auto* command : below(commands, path)) {
    list.push_back({std::string(last_word(command->name)), command->about});
  }
  for (const auto& command : commands) {
    if (command.name != path) continue;
    for (const auto& argument : command.arguments) {
      if (argument.is_option()) list.push_back({argument.name, argument.about});
      for (const auto& value : argument.values) {
        if (!argument.is_option()) list.push_back({value, argument.about});
      }
    }
  }
  list.push_back({"--help", "Explain the arguments"});
  return list;
}

std::string texts_of(const std::vector<Entry>& list) {
  std::string texts;
  for (const auto& entry : list) texts += (texts.empty() ? "" : " ") + entry.text;
  return texts;
}

/// `shell_quoted` for fish, in which a backslash is an escape within quotes.
std::string in_fish_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// All command paths, including the program's own empty one.
std::vector<std::string> paths(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> list{""};
  for (const auto& command : commands) list.push_back(command.name);
  return list;
}

std::string alternatives(const std::vector<CommandDescription>& commands, std::string_view between) {
  std::string text;
  for (const auto& command : commands) text += (text.empty() ? "" : std::string(between)) + shell_quoted(command.name);
  return text;
}

}  // namespace

std::string bash_completion(const std::vector<CommandDescription>& commands) {
  std::string script = fmt::format(R"(# bash completion for agw: source <(agw completion bash)
_agw() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} path= word candidates=
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "${{path:+$path }}$word" in
      {}) path="${{path:+$path }}$word" ;;
    esac
  done
  case "$path" in
)",
                                   alternatives(commands, "|"));
  auto out = std::back_inserter(script);
  for (const auto& path : paths(commands)) {
    fmt::format_to(out, "    {}) candidates={} ;;\n", shell_quoted(path),
                   shell_quoted(texts_of(entries(commands, path))));
  }
  script += "  esac\n  case \"$path $previous\" in\n";
  for (const auto& command : commands) {
    for (const auto& argument : command.arguments) {
      if (!argument.takes_value()) continue;
      fmt::format_to(out, "    {}) candidates={} ;;\n", shell_quoted(command.name + ' ' + argument.name),
                     shell_quoted(fmt::format("{}", fmt::join(argument.values, " "))));
    }
  }
  script += R"(  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _agw agw
)";
  return script;
}

std::string zsh_completion(const std::vector<CommandDescription>& commands) {
  std::string script = fmt::format(R"(#compdef agw
# zsh completion for agw: source <(agw completion zsh), or a file _agw in a folder of $fpath
_agw() {{
  local known= word
  local -a candidates
  for word in ${{words[2,CURRENT-1]}}; do
    case "${{known:+$known }}$word" in
      {}) known="${{known:+$known }}$word" ;;
    esac
  done
  case "$known" in
)",
                                   alternatives(commands, "|"));
  auto out = std::back_inserter(script);
  for (const auto& path : paths(commands)) {
    std::string list;
    for (const auto& entry : entries(commands, path)) list += ' ' + shell_quoted(entry.text + ':' + entry.about);
    fmt::format_to(out, "    {}) candidates=({}) ;;\n", shell_quoted(path), list.substr(1));
  }
  script += "  esac\n  case \"$known ${words[CURRENT-1]}\" in\n";
  for (const auto& command : commands) {
    for (const auto& argument : command.arguments) {
      if (!argument.takes_value()) continue;
      fmt::format_to(out, "    {}) candidates=({}) ;;\n", shell_quoted(command.name + ' ' + argument.name),
                     fmt::join(argument.values, " "));
    }
  }
  script += R"(  esac
  (( $#candidates )) && _describe agw candidates || _files
}
if [[ "$funcstack[1]" = _agw ]]; then _agw "$@"; else compdef _agw agw; fi
)";
  return script;
}

std::string fish_completion(const std::vector<CommandDescription>& commands) {
  std::string script = fmt::format(R"(# fish completion for agw: agw completion fish | source
function __agw_at
  set -l known
  for word in (commandline -opc)[2..-1]
    switch (string join ' ' $known $word)
      case {}
        set -a known $word
    end
  end
  test (string join ' ' agw $known) = "$argv"
end
)",
                                   alternatives(commands, " "));
  auto out = std::back_inserter(script);
  for (const auto& path : paths(commands)) {
    const auto condition = in_fish_quotes("__agw_at agw" + (path.empty() ? "" : ' ' + path));
    for (const auto* command : below(commands, path)) {
      fmt::format_to(out, "complete -c agw -f -n {} -a {} -d {}\n", condition, last_word(command->name),
                     in_fish_quotes(command->about));
    }
  }
  for (const auto& command : commands) {
    const auto condition = in_fish_quotes("__agw_at agw " + command.name);
    for (const auto& argument : command.arguments) {
      const auto about = in_fish_quotes(argument.about);
      const auto values = in_fish_quotes(fmt::format("{}", fmt::join(argument.values, " ")));
      if (argument.is_option()) {
        fmt::format_to(out, "complete -c agw -n {} -l {} -d {}{}\n", condition, argument.name.substr(2), about,
                       argument.values.empty() ? (argument.takes_value() ? " -r" : "") : " -x -a " + values);
      } else if (!argument.values.empty()) {
        fmt::format_to(out, "complete -c agw -f -n {} -a {} -d {}\n", condition, values, about);
      }
    }
  }
  return script;
}

}  // namespace agw::cli
