#include <iterator>

#include <fmt/format.h>

#include "cli/description.hpp"

namespace agw::cli {

namespace {

constexpr auto beginning = R"(.\" Made by `agw man` from the table of commands.
.TH AGW 1 "" "agw {}" "Agent Gateway"
.SH NAME
agw \- a gateway on this machine for configuring and running AI agents
.SH SYNOPSIS
.B agw
.I command
.RI [ argument ...]
.SH DESCRIPTION
One program, one port, one database file: it keeps conversations, runs agents and jobs, and serves a web page and an HTTP
API to this machine alone unless it is told otherwise.
.B agw serve
runs it; all other commands find the one that runs by its data directory.
.SH COMMANDS
)";

constexpr auto end = R"(.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
It failed; a line on standard error says what, where, and what to do.
.TP
.B 2
Wrong arguments or configuration, or a token or data directory that is open to others.
.TP
.B 3
Another gateway already runs on the data directory.
.TP
.B 4
No gateway runs on the data directory.
.TP
.B 5
The database is damaged, or newer than this program.
.TP
.B 75
Of
.BR "agw serve" :
it was asked to restart, which the service manager does.
.TP
.B 130
Of
.B agw chat
with a message: its answer was stopped, and is not whole.
.SH ENVIRONMENT
.TP
.B AGENT_GATEWAY_DATA_DIR
The data directory, where
.B \-\-data\-dir
does not say it.
.TP
.BR AGENT_GATEWAY_HOST ", " AGENT_GATEWAY_PORT ", " AGENT_GATEWAY_LOG_LEVEL ", " AGENT_GATEWAY_LOG_FORMAT ", " AGENT_GATEWAY_PUBLIC_URL ", " AGENT_GATEWAY_CLUSTER_DATABASE ", " AGENT_GATEWAY_CLUSTER_NODE ", " AGENT_GATEWAY_CLUSTER_EVENTS ", " AGENT_GATEWAY_CLUSTER_ADDRESS
Go before the keys of the configuration that are called like them.
.TP
.BR ANTHROPIC_API_KEY ", " ANTHROPIC_BASE_URL ", " OPENAI_API_KEY ", " OPENAI_BASE_URL ", " GEMINI_API_KEY ", " GEMINI_BASE_URL ", " OLLAMA_HOST
Model services to use.
.TP
.BR BRAVE_API_KEY ", " TAVILY_API_KEY ", " SEARXNG_URL
The service that agents search the web with.
.TP
.BR http_proxy ", " HTTPS_PROXY ", " NO_PROXY
The proxy for model services, and for the hosts that actions and integrations name.
.TP
.B SSL_CERT_FILE
The certificate authorities (PEM) to trust, instead of those of the system.
.TP
.B TZ
The time zone of schedules without their own, and of the days of costs and budgets.
.TP
.BR BROWSER ", " VISUAL ", " EDITOR
What shows pages, and what edits extensions.
.TP
.BR NO_COLOR ", " TERM
Print no colours, where the first is set or the second is dumb.
.TP
.B XDG_CONFIG_HOME
The folder for the systemd user service, instead of ~/.config.
.SH FILES
.TP
.I ~/.agent\-gateway
The data directory: the database, the token, agents, jobs, knowledge, logs.
.TP
.I ~/.agent\-gateway/config.yaml
The configuration; the first start writes it with every key explained.
)";

/// Escapes text for troff: hyphens of options stay hyphens, and no line becomes a request.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else
      out += c;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string placeholder(const Argument& argument) {
  return argument.values.empty() ? "VALUE" : fmt::format("{}", fmt::join(argument.values, "|"));
}

std::string synopsis(const CommandDescription& command) {
  std::string text = fmt::format("\\fBagw {}\\fR", plain(command.name));
  for (const auto& argument : command.arguments) {
    if (argument.is_option()) continue;
    const auto name =
        fmt::format("\\fI{}\\fR{}", plain(argument.name), argument.kind == Argument::Kind::words ? "..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text;
}

void write(std::string& page, const CommandDescription& command) {
  auto out = std::back_inserter(page);
  fmt::format_to(out, ".TP\n{}\n{}.\n", synopsis(command), plain(command.about));
  if (command.arguments.empty()) return;
  page += ".RS\n";
  for (const auto& argument : command.arguments) {
    fmt::format_to(out, ".TP\n\\fB{}\\fR", plain(argument.name));
    if (argument.takes_value()) fmt::format_to(out, " \\fI{}\\fR", plain(placeholder(argument)));
    fmt::format_to(out, "\n{}.\n", plain(argument.about));
  }
  page += ".RE\n";
}

}  // namespace

std::string manual_page(const std::vector<CommandDescription>& commands) {
  auto page = fmt::format(beginning, AGW_VERSION);
  for (const auto& command : commands) {
    if (!command.is_group) write(page, command);
  }
  return page + end;
}

}  // namespace agw::cli
