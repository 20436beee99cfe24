#include <memory>

#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"

namespace agw::cli {

namespace {

struct ThreadsOptions {
  std::optional<std::string> agent;
  bool archived = false;
  std::optional<int> limit;
  ListOptions list;
};

int threads(const ThreadsOptions& options) {
  const auto archived = options.archived ? std::optional<std::string>("true") : std::nullopt;
  return print_list(
      options.list,
      path({"threads"}, {{"agent_id", options.agent}, {"archived", archived}, {"limit", number_text(options.limit)}}),
      {text_column("ID", "id"), time_column("UPDATED", "updated_at"), text_column("TURNS", "turn_count"),
       text_column("TITLE", "title")},
      "threads");
}

}  // namespace

Action threads_command(Arguments& arguments) {
  auto options = std::make_shared<ThreadsOptions>();
  arguments.option("--agent", options->agent, "Only threads of this agent, by name or id");
  arguments.flag("--archived", options->archived, "Include archived threads");
  arguments.option("--limit", options->limit, 1, max_limit, "The maximum number of threads (default: all)");
  declare(arguments, options->list);
  return [options] { return threads(*options); };
}

}  // namespace agw::cli
