#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "io/files/descriptor.hpp"
#include "io/process/process.hpp"
#include "io/sandbox/private_files.hpp"
#include "tools/search/grep.hpp"

namespace agw {

namespace {

constexpr int directory_descriptor = 3;
constexpr auto max_search_time = std::chrono::seconds(300);
constexpr rlim_t max_memory = 256 * 1024 * 1024;

/// Makes ripgrep print `path`, a zero byte, the line number and a colon for each match, independent of the user's
/// configuration.
std::vector<std::string> arguments_for(const std::string& program, const GrepQuery& query, RulesAbove rules) {
  std::vector<std::string> out{program,           "--no-config",         "--no-follow",        "--no-messages",
                               "--no-heading",    "--with-filename",     "--line-number",      "--null",
                               "--only-matching", "--replace=",          "--color=never",      "--no-require-git",
                               "--no-ignore-dot", "--no-ignore-exclude", "--no-ignore-global", "--crlf"};
  if (rules == RulesAbove::left_out) out.emplace_back("--no-ignore-parent");
  if (query.ignore_case) out.emplace_back("--ignore-case");
  if (query.glob.starts_with('!')) {
    out.push_back("--glob=" + query.glob);
  } else if (!query.glob.empty()) {
    // A type, unlike a glob, does not include ignored files.
    out.insert(out.end(), {"--type-add=wanted:" + query.glob, "--type=wanted"});
  }
  // The last matching glob decides.
  for (const auto& pattern : private_name_patterns()) out.push_back("--glob=!" + pattern);
  out.push_back("--regexp=" + query.pattern);
  out.insert(out.end(), {"--", "./"});
  return out;
}

bool is_hidden(std::string_view path) { return path.starts_with('.') || path.find("/.") != path.npos; }

/// Parses ripgrep's output, which arrives in arbitrary pieces.
class RipgrepOutput {
public:
  explicit RipgrepOutput(std::size_t max_lines) : max_(max_lines) {}

  /// Returns false once there are enough matches.
  bool add(std::string_view bytes) {
    rest_ += bytes;
    std::string_view rest = rest_;
    bool has_space = true;
    for (auto zero = rest.find('\0'); has_space && zero != rest.npos; zero = rest.find('\0')) {
      const auto end = rest.find('\n', zero);
      if (end == rest.npos) break;
      has_space = take(without_remarks(rest.substr(0, zero)), rest.substr(zero + 1, end - zero - 1));
      rest.remove_prefix(end + 1);
    }
    AGW_ASSERT(rest.size() <= rest_.size());
    rest_.erase(0, rest_.size() - rest.size());
    return has_space;
  }

  GrepFound found() {
    GrepFound found{.more = more_};
    for (auto& [path, lines] : files_) found.files.push_back({path, std::move(lines)});
    return found;
  }

private:
  /// Ripgrep's remarks on binary files are separate lines. A name may contain line feeds.
  static std::string_view without_remarks(std::string_view path) {
    for (auto end = path.find('\n'); end != path.npos; end = path.find('\n')) {
      const auto line = path.substr(0, end);
      if (line.find(" byte around offset ") == line.npos || !line.ends_with(')')) break;
      path.remove_prefix(end + 1);
    }
    return path;
  }

  bool take(std::string_view path, std::string_view line) {
    if (path.starts_with("./")) path.remove_prefix(2);
    if (is_hidden(path)) return true;
    std::int64_t number = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), number).ec != std::errc()) return true;
    auto& lines = files_[std::string(path)];
    if (!lines.empty() && lines.back() == number) return true;
    if (count_ == max_) {
      more_ = true;
      if (lines.empty()) files_.erase(std::string(path));
      return false;
    }
    lines.push_back(number);
    ++count_;
    AGW_ASSERT(count_ <= max_);
    return true;
  }

  std::size_t max_;
  std::string rest_;
  std::map<std::string, std::vector<std::int64_t>> files_;
  std::size_t count_ = 0;
  bool more_ = false;
};

/// Ripgrep holds whole lines in memory, and a file may consist of one line.
void limit_memory(const Process& process) {
  const rlimit limit{.rlim_cur = max_memory, .rlim_max = max_memory};
  if (::prlimit(process.id(), RLIMIT_DATA, &limit, nullptr) != 0) throw_errno("cannot limit the memory of ripgrep");
}

struct RipgrepRun {
  RipgrepOutput output;
  std::string complaint;
  bool died = false;
};

Task<> read_all(Process& process, RipgrepRun& run) {
  for (;;) {
    const auto bytes = co_await process.read();
    if (bytes.empty()) break;
    if (!run.output.add(bytes)) co_return;
  }
  run.complaint = co_await process.read(ProcessStream::error);
  run.died = (co_await process.wait()).signal != 0;
}

Task<RipgrepRun> run_ripgrep(Loop& loop, std::vector<std::string> arguments, const OpenedPath& directory,
                             std::size_t max_lines, StopSource& stop) {
  // Ripgrep runs in the opened directory that was authorized, even if that is moved.
  Process process(loop, {.arguments = std::move(arguments),
                         .environment = {"LC_ALL=C.UTF-8"},
                         .directory = fmt::format("/proc/self/fd/{}", directory_descriptor),
                         .separate_stderr = true,
                         .descriptors = {{directory.descriptor, directory_descriptor}}});
  limit_memory(process);
  process.close_input();
  RipgrepRun run{.output = RipgrepOutput(max_lines), .complaint = {}};
  if (co_await with_timeout(stop, max_search_time, read_all(process, run)) == WaitResult::timed_out) {
    throw BadRequest("the search took too long: specify a smaller directory or a glob");
  }
  co_return run;
}

}  // namespace

std::optional<std::string> find_ripgrep() {
  for (const auto* path : {"/usr/bin/rg", "/usr/local/bin/rg"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return std::nullopt;
}

bool ripgrep_can(const GrepQuery& query) {
  return query.glob.starts_with('!') ||
         (query.glob.find('/') == query.glob.npos && !query.glob.starts_with("include:"));
}

Task<GrepFound> search_with_ripgrep(Loop& loop, std::string program, const OpenedPath& directory, GrepQuery query,
                                    RulesAbove rules, StopSource& stop) {
  if (query.pattern.find('\0') != query.pattern.npos || query.glob.find('\0') != query.glob.npos)
    throw BadRequest("pattern: a zero byte cannot be searched for");
  auto arguments = arguments_for(program, query, rules);
  auto run = co_await run_ripgrep(loop, arguments, directory, query.max_lines, stop);
  if (run.died) {
    // Not in the first run, because the option makes ripgrep stat every file, which takes a fifth of its time.
    arguments.insert(arguments.begin() + 1, "--max-filesize=50M");
    run = co_await run_ripgrep(loop, std::move(arguments), directory, query.max_lines, stop);
  }
  auto found = run.output.found();
  // The advice that may follow names options of ripgrep, which the tool does not have.
  if (found.files.empty() && !run.complaint.empty())
    throw BadRequest(run.complaint.substr(0, run.complaint.find("\nConsider enabling")));
  co_return found;
}

}  // namespace agw
