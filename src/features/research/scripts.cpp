#include "features/research/scripts.hpp"

#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "io/process/head_tail_buffer.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

constexpr auto grace = 500ms;
/// A directory without personal files.
constexpr auto neutral_directory = "/usr/bin";
/// How much of the output is quoted in a problem.
constexpr std::size_t max_quoted_length = 2000;

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

Task<> drain(Process& process, HeadTailBuffer& kept, const std::function<void(std::string_view)>& on_output,
             ProcessExit& end) {
  while (true) {
    const auto bytes = co_await process.read();
    if (bytes.empty()) break;
    kept.add(bytes);
    if (on_output) on_output(bytes);
  }
  end = co_await process.wait();
}

std::string with_output(std::string why, const HeadTailBuffer& kept) {
  const auto output = to_utf8(kept.text());
  return output.empty() ? why : why + ":\n" + output;
}

}  // namespace

/// The directory of a file; the file alone if the directory is home itself or the data directory.
fs::path Scripts::surroundings(const fs::path& file) const {
  const auto directory = file.parent_path();
  return directory == home_ || directory == data_ ? file : directory;
}

SandboxSpec Scripts::intent_for(const Script& script) const {
  SandboxSpec spec;
  spec.readable = {surroundings(script.asset), surroundings(script.path)};
  if (!script.project.empty()) spec.writable = {script.project};
  // The asset is read-only, so that only an agent or a person can change it.
  if (!script.project.empty()) spec.unchanged = {script.asset};
  std::erase_if(spec.readable, [](const fs::path& path) { return !fs::exists(path); });
  spec.directory = script.project.empty() ? surroundings(script.path) : script.project;
  if (spec.directory == script.path) {
    spec.directory = neutral_directory;
    spec.readable.emplace_back(neutral_directory);
  }
  spec.environment = {{"ASSET_PATH", script.asset.string()}};
  return spec;
}

Task<ScriptEnd> Scripts::run(Script script, std::function<void(std::string_view)> on_output, StopSource& stop) {
  AGW_ASSERT(script.path.is_absolute());
  AGW_ASSERT(script.asset.is_absolute());
  std::optional<Process> process;
  std::string problem;
  try {
    process.emplace(loop_, co_await blocking_.run([this, script] {
      if (!fs::is_regular_file(script.path)) throw ProcessError(fmt::format("there is no {}", script.path.string()));
      return sandbox_.wrap(arguments_of(script), intent_for(script));
    }));
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!process) co_return ScriptEnd{.problem = problem};
  process->kill_group_on_exit();
  process->close_input();
  HeadTailBuffer kept(max_quoted_length);
  ProcessExit end;
  const auto how = co_await with_timeout(stop, script.limit, drain(*process, kept, on_output, end));
  if (how == WaitResult::done) {
    if (end.exit_code == 0) co_return ScriptEnd{.succeeded = true};
    co_return ScriptEnd{.problem = with_output(fmt::format("it failed with exit status {}", end.exit_code), kept)};
  }
  co_await process->end(grace);
  if (how == WaitResult::stopped) co_return ScriptEnd{.stopped = true, .problem = "it was stopped"};
  const auto seconds = std::chrono::duration<double>(script.limit).count();
  co_return ScriptEnd{.problem = with_output(fmt::format("it took longer than {} s", seconds), kept)};
}

}  // namespace agw
