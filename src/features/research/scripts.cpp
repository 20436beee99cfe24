#include "features/research/scripts.hpp"

#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/json.hpp"
#include "io/excerpt.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

constexpr auto grace = 500ms;
/// A directory that shows nothing of a person's.
constexpr auto nowhere = "/usr/bin";
/// Of the output, in a problem's text.
constexpr std::size_t longest_quoted = 2000;

std::vector<std::string> arguments_of(const Script& script) {
  std::vector<std::string> arguments;
  if (::access(script.path.c_str(), X_OK) != 0) {
    const auto ending = script.path.extension();
    arguments.emplace_back(ending == ".py" ? "python3" : ending == ".js" || ending == ".mjs" ? "node" : "sh");
  }
  arguments.push_back(script.path.string());
  arguments.push_back(script.asset.string());
  return arguments;
}

Task<> drain(Process& process, Excerpt& kept, const std::function<void(std::string_view)>& on_output, ProcessEnd& end) {
  while (true) {
    const auto bytes = co_await process.read();
    if (bytes.empty()) break;
    kept.add(bytes);
    if (on_output) on_output(bytes);
  }
  end = co_await process.wait();
}

std::string with_output(std::string why, const Excerpt& kept) {
  const auto output = to_utf8(kept.text());
  return output.empty() ? why : why + ":\n" + output;
}

}  // namespace

/// What lies around a file, or only the file where that would be all of home or the gateway's own.
fs::path Scripts::surroundings(const fs::path& file) const {
  const auto directory = file.parent_path();
  return directory == home_ || directory == data_ ? file : directory;
}

SandboxWish Scripts::wish_for(const Script& script) const {
  SandboxWish wish;
  wish.readable = {surroundings(script.asset), surroundings(script.path)};
  if (!script.project.empty()) wish.writable = {script.project};
  std::erase_if(wish.readable, [](const fs::path& path) { return !fs::exists(path); });
  wish.directory = script.project.empty() ? surroundings(script.path) : script.project;
  if (wish.directory == script.path) {
    wish.directory = nowhere;
    wish.readable.emplace_back(nowhere);
  }
  wish.environment = {{"ASSET_PATH", script.asset.string()}};
  return wish;
}

Task<ScriptEnd> Scripts::run(Script script, std::function<void(std::string_view)> on_output, Stop& stop) {
  std::optional<Process> process;
  std::string problem;
  try {
    process.emplace(loop_, co_await blocking_.run([this, script] {
      if (!fs::is_regular_file(script.path)) throw ProcessError(fmt::format("there is no {}", script.path.string()));
      return sandbox_.wrap(arguments_of(script), wish_for(script));
    }));
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!process) co_return ScriptEnd{.problem = problem};
  process->end_group_with_it();
  process->close_input();
  Excerpt kept(longest_quoted);
  ProcessEnd end;
  const auto how = co_await cut(stop, script.limit, drain(*process, kept, on_output, end));
  if (how == End::done) {
    if (end.exit_code == 0) co_return ScriptEnd{.succeeded = true};
    co_return ScriptEnd{.problem = with_output(fmt::format("it failed with exit status {}", end.exit_code), kept)};
  }
  co_await process->end(grace);
  if (how == End::stopped) co_return ScriptEnd{.stopped = true, .problem = "it was stopped"};
  const auto seconds = std::chrono::duration<double>(script.limit).count();
  co_return ScriptEnd{.problem = with_output(fmt::format("it took longer than {} s", seconds), kept)};
}

}  // namespace agw
