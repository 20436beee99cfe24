#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"

namespace agw::cli {

namespace {

struct SearchOptions {
  std::vector<std::string> words;
  std::optional<std::string> agent;
  std::optional<std::string> thread;
  std::optional<int> limit;
  ListOptions list;
};

int search(const SearchOptions& options) {
  auto words = fmt::format("{}", fmt::join(options.words, " "));
  if (words.find_first_not_of(' ') == words.npos)
    throw StartError(ExitStatus::usage, "the query is empty: give some words");
  const Parameters parameters = {{"q", std::move(words)},
                                 {"agent_id", options.agent.value_or("assistant")},
                                 {"thread_id", options.thread},
                                 {"limit", number_text(options.limit)}};
  return print_list(options.list, path({"turns", "search"}, parameters),
                    {text_column("THREAD", "thread_id"), time_column("AT", "created_at"), text_column("ROLE", "role"),
                     text_column("TEXT", "snippet")},
                    "turns with these words");
}

}  // namespace

Action search_command(Arguments& arguments) {
  auto options = std::make_shared<SearchOptions>();
  arguments.words("words", options->words, "The query: words, '\"a phrase\"', prefix*, AND, OR, NOT, parentheses");
  arguments.option("--agent", options->agent, "The agent, by name or id (default: assistant)");
  arguments.option("--thread", options->thread, "Only in the thread with this id");
  arguments.option("--limit", options->limit, 1, max_limit, "The maximum number of results (default: 20)");
  declare(arguments, options->list);
  return [options] { return search(*options); };
}

}  // namespace agw::cli
