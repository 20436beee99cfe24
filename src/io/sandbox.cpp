#include "io/sandbox.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <mutex>

#include <fmt/format.h>

#include "base/is_within.hpp"
#include "base/json.hpp"
#include "base/variable_name.hpp"
#include "io/beneath.hpp"
#include "io/covered_places.hpp"
#include "io/git_settings.hpp"
#include "io/private_files.hpp"
#include "io/sandbox_mounts.hpp"
#include "io/sandbox_placeholders.hpp"
#include "io/spawn.hpp"
#include "io/system_call_filter.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr int filter_descriptor = 3;
constexpr int life_descriptor = 4;
constexpr int environment_descriptor = 5;
constexpr int first_root_descriptor = 6;
constexpr std::int64_t most_scratch_mb = 1024;
/// Each costs a tenth of a millisecond, and more the more there are.
constexpr std::size_t most_mounts = 1000;
constexpr auto program_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A `commondir` that says that a repository's configuration is its own, as Git takes it to be without one.
constexpr auto leads_nowhere_else = ".\n";
/// A `config.worktree` that says nothing.
constexpr auto sets_nothing = "\n";

using Arguments = std::vector<std::string>;

void append(Arguments& to, Arguments more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Each its own, because bubblewrap reads it to the end.
std::shared_ptr<Descriptor> file_of(const char* name, std::string_view content) {
  auto file = std::make_shared<Descriptor>(::memfd_create(name, MFD_CLOEXEC));
  if (!*file || ::write(file->get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      ::lseek(file->get(), 0, SEEK_SET) != 0) {
    throw ProcessError(fmt::format("cannot hand over {} to the sandbox", name));
  }
  return file;
}

std::shared_ptr<Descriptor> filter_file() { return file_of("agw-filter", system_call_filter()); }

using Variables = std::map<std::string, std::string>;

/// Others could be neither set by a shell nor read by one.
void check_names(const Variables& variables) {
  for (const auto& [name, value] : variables) {
    if (!is_variable_name(name)) {
      throw ProcessError(fmt::format("environment: `{}` is not the name of a variable", to_utf8(name)));
    }
    if (value.find('\0') != value.npos) {
      throw ProcessError("environment: not a possible environment, because it holds a NUL character");
    }
  }
}

/// The command's variables, which the beginning sets as the last it does: before, they would change what bubblewrap and
/// the beginning load themselves, with more in sight than the command (`LD_PRELOAD`, `BASH_ENV`). As arguments
/// everybody on the host could read them.
std::shared_ptr<Descriptor> environment_file(const Variables& variables) {
  std::string content;
  for (const auto& [name, value] : variables) content += name + "=" + value + '\0';
  return file_of("agw-environment", content);
}

std::vector<std::string> environment_of(const Variables& variables, const fs::path& home) {
  Variables all{{"PATH", program_path}, {"HOME", home.string()}, {"TERM", "dumb"}, {"TMPDIR", "/tmp"}};
  for (const auto& [name, value] : variables) all[name] = value;
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& [name, value] : all) out.push_back(name + "=" + value);
  return out;
}

/// What the sandbox begins with. A gateway that was killed while bubblewrap made the sandbox is not noticed by that, so
/// it is looked for here, once the sandbox's first process would notice by itself: bubblewrap filters its system calls
/// just after it has bound it to its parent's life (`do_init`). Limits must be set inside: the number of processes is
/// counted for each user namespace. What is shown must be what was looked at, not what somebody has put in its place
/// since. SIGTERM, which bubblewrap itself ignores so that the command has the time to do something about it, gets its
/// meaning back. Its language is the last that the command gets, because reading one takes each program half a
/// millisecond.
constexpr auto beginning =
    "until [[ ${status[*]} == *Seccomp:$'\\t'2* ]]; do mapfile -t status </proc/1/status; done; unset status\n"
    "if read -t 0 -u 4; then exit 1; fi; exec 4<&-\n"
    "ulimit -c 0 -d \"$1\" -f \"$2\" -u \"$3\" || exit 1\n"
    "shift 3; fd=6\n"
    "while [ \"$1\" != -- ]; do\n"
    "  if ! [ \"$1\" -ef /proc/self/fd/$fd ]; then echo \"$1 was replaced meanwhile\" >&2; exit 1; fi\n"
    "  exec {fd}<&-; fd=$((fd + 1)); shift\n"
    "done; shift\n"
    "if [ -e /proc/self/fd/5 ]; then\n"
    "  mapfile -d '' -t variables <&5; exec 5<&-\n"
    "  export -- \"${variables[@]}\" || exit 1\n"
    "fi\n"
    "exec /usr/bin/env --default-signal=TERM -- LANG=\"${LANG-C.UTF-8}\" \"$@\"";

Arguments limited(const SandboxWish& wish, Arguments arguments) {
  constexpr std::int64_t kibibytes = 1024;
  Arguments out{"/bin/bash",
                "-c",
                beginning,
                "sandbox",
                std::to_string(wish.memory_mb * kibibytes),
                std::to_string(wish.file_mb * kibibytes),
                std::to_string(wish.processes)};
  for (const auto* list : {&wish.writable, &wish.readable}) append(out, Arguments(list->begin(), list->end()));
  out.emplace_back("--");
  append(out, std::move(arguments));
  return out;
}

Arguments isolation(bool network) {
  Arguments out{"--unshare-user",
                "--unshare-pid",
                "--unshare-ipc",
                "--unshare-uts",
                "--unshare-cgroup-try",
                "--hostname",
                "sandbox",
                "--cap-drop",
                "ALL",
                "--die-with-parent",
                "--seccomp",
                std::to_string(filter_descriptor)};
  if (!network) out.emplace_back("--unshare-net");
  return out;
}

bool is_shown(const fs::path& path, const SandboxWish& wish) {
  const auto beneath = [&](const fs::path& root) { return is_within(path, root); };
  return std::ranges::any_of(wish.writable, beneath) || std::ranges::any_of(wish.readable, beneath);
}

constexpr auto how_to_go_on =
    "or set `sandbox: none` in config.yaml, with which commands of agents can do whatever you can";

std::string why_not(const std::string& said) {
  const auto line = said.substr(0, said.find('\n'));
  return fmt::format(
      "this host does not let commands be sandboxed ({}). Allow unprivileged user namespaces (Debian: sysctl "
      "kernel.unprivileged_userns_clone=1; Ubuntu: an AppArmor profile for bwrap, or sysctl "
      "kernel.apparmor_restrict_unprivileged_userns=0; Docker: --security-opt seccomp=unconfined --security-opt "
      "systempaths=unconfined), {}",
      line.empty() ? "bubblewrap failed" : line, how_to_go_on);
}

}  // namespace

struct Sandbox::Probe {
  std::mutex mutex;
  bool done = false;
  std::optional<std::string> problem;
};

Sandbox::Sandbox(Options options)
    : options_(std::move(options)),
      placeholders_(std::make_shared<SandboxPlaceholders>(options_.data_directory)),
      probe_(std::make_unique<Probe>()) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
  life_ = std::make_shared<Descriptor>(ends[0]);
  held_life_ = Descriptor(ends[1]);
}

Sandbox::~Sandbox() = default;

namespace {

/// What a program says on its standard error; nothing where it ends well.
std::optional<std::string> complaint_of(SpawnPlan plan) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  append(plan.environment, {"LC_ALL=C"});
  for (const auto number : {STDIN_FILENO, STDOUT_FILENO}) plan.descriptors.emplace_back(nothing.get(), number);
  plan.descriptors.emplace_back(writing.get(), STDERR_FILENO);
  const auto child = spawn(plan);
  writing = Descriptor();
  std::string said(4096, '\0');
  const auto size = ::read(reading.get(), said.data(), said.size());
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child.id), &ended, WEXITED);
  if (ended.si_code == CLD_EXITED && ended.si_status == 0) return std::nullopt;
  return said;
}

Arguments sandboxed(const std::string& program, Arguments mounts, const SandboxWish& wish, Arguments arguments) {
  Arguments out{program};
  append(out, isolation(wish.network));
  append(out, std::move(mounts));
  append(out, {"--chdir", wish.directory.string(), "--"});
  append(out, limited(wish, std::move(arguments)));
  return out;
}

std::optional<std::string> find_problem(const std::string& name, const Descriptor& life) {
  const auto program = find_program(name, program_path);
  if (::access(program.c_str(), X_OK) != 0) {
    return fmt::format(
        "bubblewrap is not installed, which keeps commands of agents apart from your files. Install it "
        "(Debian and Ubuntu: apt install bubblewrap), {}",
        how_to_go_on);
  }
  const SandboxWish wish{.directory = "/"};
  const auto filter = filter_file();
  const SpawnPlan plan{.program = program,
                       .arguments = sandboxed(program, SandboxMounts().arguments(1), wish, {"/bin/true"}),
                       .environment = environment_of({}, "/"),
                       .directory = "/",
                       .descriptors = {{filter->get(), filter_descriptor}, {life.get(), life_descriptor}}};
  const auto complaint = complaint_of(plan);
  return complaint ? std::optional(why_not(*complaint)) : std::nullopt;
}

}  // namespace

std::optional<std::string> Sandbox::problem() const {
  if (!options_.enabled) return std::nullopt;
  const std::lock_guard lock(probe_->mutex);
  if (!probe_->done) {
    try {
      probe_->problem = find_problem(options_.program, *life_);
    } catch (const std::exception& error) {
      probe_->problem = why_not(error.what());
    }
    probe_->done = true;
  }
  return probe_->problem;
}

/// The placeholders of one command.
struct Sandbox::Held {
  explicit Held(std::shared_ptr<SandboxPlaceholders> from) : all(std::move(from)) {}
  ~Held() { all->release(paths); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  bool take(const fs::path& path, std::string_view content = {}, mode_t mode = 0755) {
    const bool held = all->hold(path, content, mode);
    if (held) paths.push_back(path);
    return held;
  }
  bool has(const fs::path& path) const { return std::ranges::find(paths, path) != paths.end(); }

  std::shared_ptr<SandboxPlaceholders> all;
  std::vector<fs::path> paths;
};

/// As it is now. An agent that writes in a project can put a symlink in the place of another project that lies in it.
std::shared_ptr<Descriptor> Sandbox::open_root(const fs::path& path, bool writable) const {
  if (is_private_path(path)) throw ProcessError(fmt::format("{} is private, no agent sees it", path.string()));
  auto root = std::make_shared<Descriptor>(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!*root) throw ProcessError(fmt::format("there is no {}", path.string()));
  const auto real = real_path(*root);
  if (real != path && (writable || is_within(path, options_.home))) {
    throw ProcessError(fmt::format("{} leads to {} now: remove the symlink that stands in its place, or name the other",
                                   path.string(), real.string()));
  }
  return root;
}

/// In the order in which the command's beginning looks at them.
std::vector<std::shared_ptr<Descriptor>> Sandbox::open_roots(const SandboxWish& wish) const {
  std::vector<std::shared_ptr<Descriptor>> roots;
  roots.reserve(wish.writable.size() + wish.readable.size());
  for (const auto& path : wish.writable) roots.push_back(open_root(path, true));
  for (const auto& path : wish.readable) roots.push_back(open_root(path, false));
  if (!is_shown(wish.directory, wish))
    throw ProcessError(fmt::format("{} is not part of what the command may see", wish.directory.string()));
  return roots;
}

namespace {

/// Nothing can be mounted over a symlink, and what a project lies in is not to be read-only: a command could put hooks
/// or skills of its own in its place.
[[noreturn]] void refuse_symlink(const fs::path& place, const std::string& remedy) {
  throw ProcessError(fmt::format("{} is a symlink, which a command could replace: {}", place.string(), remedy));
}

void require_no_symlink(const fs::path& place) {
  std::error_code other;
  const auto target = fs::read_symlink(place, other);
  if (other) return;
  refuse_symlink(place, place.filename() == ".git"
                            ? fmt::format("put a file in its place that says `gitdir: {}`", target.string())
                            : "make it a directory, in which symlinks may lie");
}

}  // namespace

/// What is not there of the guarded places can then not be made either.
void Sandbox::hold_missing(CoveredPlaces& covered, const fs::path& root, Held& held) {
  const auto guard = [&](const fs::path& path, std::string_view content = {}, mode_t mode = 0755) {
    if (held.take(path, content, mode)) covered.guarded.push_back(path);
  };
  for (const auto& path : covered.missing_above) guard(path);
  // Git takes a directory that can be entered for a hook.
  for (const auto& path : covered.missing) guard(path, {}, 0644);
  for (const auto& repository : covered.repositories) {
    if (held.has(repository)) {
      covered.guarded.push_back(repository);
      continue;
    }
    for (const auto* name : {"hooks", "config"}) guard(repository / name);
    const auto lies_in = [&](const fs::path& other) { return other != repository && is_within(repository, other); };
    const GitSettings settings(repository);
    if (settings.bear_commondir(root, std::ranges::any_of(covered.repositories, lies_in)))
      guard(repository / "commondir", leads_nowhere_else);
    for (const auto& path : settings.configurations_of_worktrees()) guard(path, sets_nothing);
    covered.ancestors.push_back(repository);
  }
}

void Sandbox::show_writable(SandboxMounts& mounts, const fs::path& root, const FileIdentities& linked,
                            Held& held) const {
  for (const auto* name : {".agents", ".git"}) {
    require_no_symlink(root / name);
    held.take(root / name);
  }
  auto covered = covered_places(root, options_.data_directory, linked);
  if (!covered.passed.empty()) {
    refuse_symlink(covered.passed.front(),
                   "let the symlink in `.git` or `.agents` that leads through it lead straight to what it stands for");
  }
  hold_missing(covered, root, held);
  mounts.show(root, true);
  // What is a mount cannot be moved away, to be replaced by another of its name.
  for (const auto& path : covered.ancestors) {
    const bool guarded = std::ranges::any_of(covered.guarded, [&](const auto& each) { return is_within(path, each); });
    if (!guarded) mounts.show(path, true);
  }
  for (const auto& path : covered.guarded) mounts.show(path, false);
  hide(mounts, covered);
}

void Sandbox::show_readable(SandboxMounts& mounts, const fs::path& root, const FileIdentities& linked) const {
  mounts.show(root, false);
  std::error_code missing;
  if (fs::is_directory(root, missing)) hide(mounts, covered_places(root, options_.data_directory, linked));
}

void Sandbox::hide(SandboxMounts& mounts, const CoveredPlaces& covered) {
  for (const auto& path : covered.private_directories) mounts.hide_directory(path);
  for (const auto& path : covered.private_files) mounts.hide_file(path);
  if (mounts.size() > most_mounts)
    throw ProcessError(
        "there are too many private files (such as *.pem and *.key) and repositories to keep them from the command");
}

ProcessOptions Sandbox::wrap(std::vector<std::string> arguments, const SandboxWish& wish) const {
  if (const auto why = problem()) throw ProcessError(*why);
  check_names(wish.environment);
  const auto roots = open_roots(wish);
  ProcessOptions out{.environment = environment_of({}, options_.home), .directory = "/"};
  if (!options_.enabled) {
    out.arguments = std::move(arguments);
    auto variables = wish.environment;
    variables.try_emplace("LANG", "C.UTF-8");
    out.environment = environment_of(variables, options_.home);
    out.directory = wish.directory;
    return out;
  }
  const auto scratch = std::min(wish.memory_mb, most_scratch_mb);
  const auto held = std::make_shared<Held>(placeholders_);
  SandboxMounts mounts;
  if (options_.home != "/") mounts.empty_directory(options_.home, scratch);
  mounts.empty_directory(options_.data_directory, 1);
  try {
    const auto linked = linked_private_files(options_.home, options_.data_directory);
    for (const auto& path : wish.readable) show_readable(mounts, path, linked);
    for (const auto& path : wish.writable) show_writable(mounts, path, linked, *held);
  } catch (const std::runtime_error& error) {
    throw ProcessError(error.what());
  }
  // Not looked up later, in the PATH of the command.
  const auto program = find_program(options_.program, program_path);
  out.arguments = sandboxed(program, mounts.arguments(scratch), wish, std::move(arguments));
  out.descriptors = {{filter_file(), filter_descriptor}, {life_, life_descriptor}};
  if (!wish.environment.empty())
    out.descriptors.emplace_back(environment_file(wish.environment), environment_descriptor);
  for (int number = first_root_descriptor; const auto& root : roots) out.descriptors.emplace_back(root, number++);
  out.ignored_signals = {SIGTERM};
  // If it were killed while it makes the sandbox, its first process would wait for it for ever. Once that has begun,
  // `--die-with-parent` ends all of it; a gateway that was gone before is noticed by the beginning of the command.
  out.dies_with_gateway = false;
  out.kept = held;
  return out;
}

}  // namespace agw
