#include "io/sandbox/sandbox.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files/descriptor.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run;

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// The readable part of a file. A process in /proc may end during the read, for which iterators on the buffer would
/// throw.
std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

class SandboxTest : public ::testing::Test {
protected:
  SandboxTest() {
    write(home_ / ".ssh/id_ed25519", "secret");
    write(home_ / "letters/a.txt", "secret");
    write(data_ / ".gateway-token", "secret");
    write(data_ / "agents/other/workspace/a.txt", "secret");
    fs::create_directories(data_ / "agents/helper/workspace");
    write(project_ / "main.c", "int main;");
  }

  void SetUp() override {
    if (const auto problem = sandbox_.problem()) GTEST_SKIP() << *problem;
  }

  SandboxSpec spec() const { return {.directory = project_, .writable = {project_}}; }

  static ProcessResult result_of(const ProcessOptions& options, ProcessLimits limits = {}) {
    ProcessResult result;
    run([&](Loop& loop) -> Task<> {
      StopSource stop;
      result = co_await run_process(loop, options, {}, limits, stop);
    });
    return result;
  }

  ProcessResult result_of(const std::string& command, const SandboxSpec& spec, ProcessLimits limits = {}) const {
    return result_of(sandbox_.wrap({"/bin/bash", "-c", command}, spec), limits);
  }

  std::string output_of(const std::string& command) const { return result_of(command, spec()).output; }

  testing::ScratchDirectory scratch_;
  fs::path home_ = scratch_.path() / "home";
  fs::path data_ = home_ / ".agent-gateway";
  fs::path project_ = home_ / "work/site";
  Sandbox sandbox_{{.home = home_, .data_directory = data_}};
};

TEST_F(SandboxTest, RunsCommandsInTheProject) {
  const auto result = result_of("pwd; cat main.c; echo new > made.txt; exit 4", spec());
  EXPECT_EQ(result.output, project_.string() + "\nint main;");
  EXPECT_EQ(result.end.exit_code, 4);
  EXPECT_EQ(read(project_ / "made.txt"), "new\n");
}

TEST_F(SandboxTest, SeesNothingElseOfHome) {
  EXPECT_EQ(output_of("ls -A " + home_.string()), ".agent-gateway\nwork\n");
  EXPECT_EQ(output_of("ls -A " + data_.string()), "");
  EXPECT_EQ(output_of("ls -A " + scratch_.path().string()), "home\n");
  EXPECT_THAT(output_of("cat ~/.ssh/id_ed25519 ~/letters/a.txt " + (data_ / ".gateway-token").string()),
              Not(HasSubstr("secret")));
}

TEST_F(SandboxTest, SeesOfTheDataDirectoryOnlyWhatIsNamed) {
  const auto workspace = data_ / "agents/helper/workspace";
  auto wanted = spec();
  wanted.directory = workspace;
  wanted.writable = {workspace};
  const auto output = result_of("find " + home_.string() + " -type f; touch here && pwd", wanted).output;
  EXPECT_EQ(output, workspace.string() + "\n");
  EXPECT_TRUE(fs::exists(workspace / "here"));
}

TEST_F(SandboxTest, ADataDirectoryInAProjectIsEmpty) {
  const SandboxSpec all{.directory = home_, .writable = {home_}};
  const auto output = result_of("find . -type f -size +0; cat .agent-gateway/.gateway-token .ssh/id_ed25519", all);
  EXPECT_THAT(output.output, HasSubstr("letters/a.txt"));
  EXPECT_THAT(output.output, Not(HasSubstr("secret")));
  EXPECT_THAT(output.output, Not(HasSubstr("other")));
}

TEST_F(SandboxTest, PrivateFilesAreAbsentAtAnyDepth) {
  for (const auto* path : {".ssh/config", ".aws/credentials", ".netrc", "deep/er/tls/server.pem", "a/server.key",
                           "a/b/id_rsa", "id_ed25519.old", ".config/gcloud/token", "x/.docker/config.json", ".npmrc"}) {
    write(project_ / path, "secret");
  }
  fs::create_hard_link(home_ / ".ssh/id_ed25519", project_ / "notes.txt");
  fs::create_hard_link(data_ / ".gateway-token", project_ / "a/token.txt");
  fs::create_symlink(home_ / ".ssh/id_ed25519", project_ / "link");
  const auto output = output_of("grep -r secret . ; cat $(find . -type f -o -type l) 2>/dev/null; cat link");
  EXPECT_THAT(output, Not(HasSubstr("secret\n")));
  EXPECT_THAT(output, Not(HasSubstr("secretsecret")));
  EXPECT_THAT(output, Not(HasSubstr(":secret")));
  EXPECT_EQ(result_of("cat a/server.key", spec()).end.exit_code, 1);
  EXPECT_EQ(read(project_ / "a/server.key"), "secret") << "still there outside";
}

TEST_F(SandboxTest, PrivateFilesCannotBeMovedIntoSight) {
  write(project_ / "a/b/server.key", "secret");
  const auto output = output_of(
      "mv a/b/server.key a/b/open; mv a/b c; mv a d; ln a/b/server.key e; cp -r a f; umount a/b/server.key;"
      "cat open a/b/open c/* d/b/* e f/b/*; true");
  EXPECT_THAT(output, Not(HasSubstr("secret\n")));
  EXPECT_EQ(read(project_ / "a/b/server.key"), "secret");
}

TEST_F(SandboxTest, GuardedPlacesCanBeReadButNotWritten) {
  write(project_ / ".git/hooks/pre-commit", "mine");
  write(project_ / ".git/config", "mine");
  write(project_ / ".git/HEAD", "ref: refs/heads/main");
  write(project_ / ".agents/skills/x/SKILL.md", "mine");
  write(project_ / "lib/.git/modules/y/hooks/update", "mine");
  const auto output = output_of(
      "cat .git/hooks/pre-commit; echo evil > .git/hooks/pre-commit; echo evil > .git/hooks/post-commit;"
      "echo evil >> .git/config; rm -rf .agents; echo evil > .agents/skills/x/SKILL.md;"
      "mv .git/hooks h; mv .git g; mv .agents a; echo evil > lib/.git/modules/y/hooks/update;"
      "mv lib/.git/modules lib/.git/m; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit;"
      "echo evil > .git/commondir; echo fine > .git/HEAD");
  EXPECT_THAT(output, HasSubstr("mine"));
  EXPECT_EQ(read(project_ / ".git/hooks/pre-commit"), "mine");
  EXPECT_FALSE(fs::exists(project_ / ".git/hooks/post-commit"));
  EXPECT_EQ(read(project_ / ".git/config"), "mine");
  EXPECT_EQ(read(project_ / ".agents/skills/x/SKILL.md"), "mine");
  EXPECT_EQ(read(project_ / "lib/.git/modules/y/hooks/update"), "mine");
  EXPECT_EQ(read(project_ / ".git/HEAD"), "fine\n");
  EXPECT_FALSE(fs::exists(project_ / ".git/commondir")) << "nothing is left of what kept it from being made";
}

TEST_F(SandboxTest, WhereGitWouldMissItsSettingsItGetsNoCommondir) {
  for (const auto* config : {"[core]\n\tbare = true\n", "[core]\n\tbare\n", "[core]\n\tworktree = ../elsewhere\n"}) {
    write(project_ / ".git/config", config);
    EXPECT_EQ(output_of("ls .git"), "config\nhooks\n") << config;
  }
  for (const auto* config : {"[core]\n\tbare = false\n", "[remote \"bare\"]\n\turl = ../worktree\n"}) {
    write(project_ / ".git/config", config);
    EXPECT_EQ(output_of("ls .git"), "commondir\nconfig\nhooks\n") << config;
  }
}

TEST_F(SandboxTest, WhereGitMissesNothingNoCommondirCanBeMade) {
  for (const auto* place : {".git/modules/lib", "site.git"}) {
    for (const auto* name : {"HEAD", "objects/x", "refs/x"}) write(project_ / place / name, "x");
  }
  write(project_ / ".git/modules/lib/config", "[core]\n\tworktree = ../../../lib\n");
  write(project_ / "site.git/config", "[core]\n\tbare = true\n");
  EXPECT_EQ(output_of("cat .git/modules/lib/commondir site.git/commondir"), ".\n.\n");
}

TEST_F(SandboxTest, ABareRepositoryThatAProjectCallsItsOwnGetsNoCommondir) {
  for (const auto* name : {"HEAD", "objects/x", "refs/x"}) write(project_ / ".bare" / name, "x");
  write(project_ / ".bare/config", "[core]\n\tbare = true\n");
  write(project_ / ".git", "gitdir: ./.bare\n");
  EXPECT_EQ(output_of("ls .bare"), "HEAD\nconfig\nhooks\nobjects\nrefs\n");
}

TEST_F(SandboxTest, WhereWorktreesHaveSettingsNoneCanBeMade) {
  write(project_ / ".git/config", "[core]\n\tbare = true\n[extensions]\n\tworktreeConfig = true\n");
  write(project_ / ".git/worktrees/main/commondir", "../..\n");
  output_of(
      "for d in .git .git/worktrees/main; do echo evil > $d/config.worktree; done; echo evil > .git/commondir;"
      "mv .git/worktrees .git/w; touch made");
  EXPECT_TRUE(fs::exists(project_ / "made"));
  for (const auto* place : {".git/config.worktree", ".git/worktrees/main/config.worktree", ".git/commondir"})
    EXPECT_FALSE(fs::exists(project_ / place)) << place;
}

TEST_F(SandboxTest, BranchesMayHaveTheNamesOfGuardedPlaces) {
  const std::vector<fs::path> places{".git/refs/heads/config", ".git/logs/refs/heads/fix/hooks"};
  for (const auto& place : places) write(project_ / place, "old");
  output_of(
      "for f in .git/refs/heads/config .git/logs/refs/heads/fix/hooks; do echo new > $f.lock; mv $f.lock $f; done");
  for (const auto& place : places) EXPECT_EQ(read(project_ / place), "new\n") << place;
}

TEST_F(SandboxTest, GuardedPlacesCannotBeMadeEither) {
  output_of(
      "mkdir -p .agents/skills .git/hooks; echo evil > .agents/skills/SKILL.md; echo evil > .git/hooks/x;"
      "rmdir .agents .git; mv .git g; mkdir -p .git/hooks; echo evil > .git/hooks/x");
  EXPECT_FALSE(fs::exists(project_ / ".agents"));
  EXPECT_FALSE(fs::exists(project_ / ".git")) << "and nothing is left of what kept it from being made";
  write(project_ / ".git/config", "mine");
  output_of("mkdir -p .git/hooks; echo evil > .git/hooks/x");
  EXPECT_FALSE(fs::exists(project_ / ".git/hooks/x"));
}

TEST_F(SandboxTest, WhatIsOnlyReadableCannotBeWritten) {
  const SandboxSpec wanted{.directory = project_, .readable = {project_}};
  EXPECT_EQ(result_of("cat main.c; echo x > main.c", wanted).end.exit_code, 1);
  EXPECT_EQ(read(project_ / "main.c"), "int main;");
  EXPECT_NE(result_of("echo x > /usr/agw-test", wanted).end.exit_code, 0);
  EXPECT_NE(result_of("echo x > /agw-test", wanted).end.exit_code, 0);
}

TEST_F(SandboxTest, TheKernelsSettingsCannotBeWrittenByRootEither) {
  EXPECT_EQ(output_of("find /proc/sys /proc/mtrr /proc/sysrq-trigger -type f -writable 2>/dev/null | wc -l"), "0\n");
  EXPECT_NE(result_of("echo other > /proc/sys/kernel/hostname", spec()).end.exit_code, 0);
  EXPECT_EQ(output_of("echo said > /dev/stdout; echo more > /proc/self/fd/1"), "said\nmore\n");
}

TEST_F(SandboxTest, ASymlinkInThePlaceOfAProjectOpensNothing) {
  const auto inner = project_ / "inner";
  fs::create_directory_symlink(home_ / ".ssh", inner);
  for (const auto& wanted : {SandboxSpec{.directory = inner, .writable = {inner}},
                             SandboxSpec{.directory = project_, .writable = {project_}, .readable = {inner}}}) {
    EXPECT_THROW(sandbox_.wrap({"true"}, wanted), ProcessError);
  }
  fs::remove(inner);
  fs::create_directory_symlink(home_, project_ / "above");
  const auto behind = project_ / "above/letters";
  EXPECT_THROW(sandbox_.wrap({"true"}, {.directory = behind, .writable = {behind}}), ProcessError);
}

TEST_F(SandboxTest, ReplacingAProjectDuringTheStartOpensNothing) {
  fs::create_directory(project_ / "inner");
  const auto options = sandbox_.wrap({"/bin/ls"}, {.directory = project_ / "inner", .writable = {project_ / "inner"}});
  fs::rename(project_ / "inner", project_ / "moved");
  for (const auto* name : {".agents", ".git"}) fs::create_directory(home_ / "letters" / name);
  fs::create_directory_symlink(home_ / "letters", project_ / "inner");
  const auto result = result_of(options);
  EXPECT_NE(result.end.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("was replaced meanwhile"));
  EXPECT_THAT(result.output, Not(HasSubstr("a.txt")));
}

TEST_F(SandboxTest, OtherProcessesAndTheirSecretsAreOutOfSight) {
  ::setenv("ANTHROPIC_API_KEY", "sk-secret", 1);
  EXPECT_THAT(output_of("env; cat /proc/*/environ; ls /proc/self/root/root"), Not(HasSubstr("sk-secret")));
  EXPECT_EQ(result_of("kill -0 " + std::to_string(::getpid()), spec()).end.exit_code, 1);
  EXPECT_THAT(output_of("ls -d /proc/[0-9]* | wc -l"), ::testing::MatchesRegex("[1-6]\n"));
  EXPECT_THAT(output_of("ls -A /tmp /run | wc -l"), ::testing::MatchesRegex("[45]\n")) << "the project may be in /tmp";
  EXPECT_EQ(result_of("cat /etc/shadow", spec()).end.exit_code, 1);
}

TEST_F(SandboxTest, ItsOwnProgramsAreNotThoseOfTheProject) {
  for (const auto* name : {"bwrap", "bash", "env"}) {
    write(project_ / name, "#!/bin/sh\ntouch " + (home_ / "escaped").string());
    fs::permissions(project_ / name, fs::perms::all);
  }
  auto wanted = spec();
  wanted.environment["PATH"] = project_.string() + ":/usr/bin:/bin";
  run([&](Loop& loop) -> Task<> {
    StopSource stop;
    const auto result = co_await run_process(loop, sandbox_.wrap({"/bin/echo", "fine"}, wanted), {}, {}, stop);
    EXPECT_EQ(result.output, "fine\n");
  });
  EXPECT_FALSE(fs::exists(home_ / "escaped"));
}

TEST_F(SandboxTest, ItsVariablesAreTheCommandsAlone) {
  auto wanted = spec();
  wanted.environment = {{"A", "b\n--bind\n/"}, {"EMPTY", ""}, {"PATH", "/bin"}};
  const auto said = result_of("env; ls /proc/self/fd | wc -l", wanted).output;
  EXPECT_THAT(said, HasSubstr("A=b\n--bind\n/\n"));
  EXPECT_THAT(said, ::testing::AllOf(HasSubstr("EMPTY=\n"), HasSubstr("PATH=/bin\n"), HasSubstr("LANG=C.UTF-8\n")));
  EXPECT_THAT(said, ::testing::EndsWith("\n4\n")) << "in, out, err and the listing itself";
  // Variables for the loader must take effect only inside.
  wanted.environment = {{"LANG", "C"}, {"LD_DEBUG", "files"}, {"LD_DEBUG_OUTPUT", (home_ / "escaped").string()}};
  EXPECT_EQ(result_of("echo $LANG", wanted).output, "C\n");
  for (const auto& entry : fs::directory_iterator(home_)) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("escaped")));
  }
}

TEST_F(SandboxTest, ItsVariablesSeeNoMoreThanTheCommand) {
  write(project_ / "first.sh", "for fd in 3 4 5 6 7; do cat /proc/self/fd/$fd/../letters/a.txt; done; ulimit -c");
  auto wanted = spec();
  wanted.environment = {{"BASH_ENV", (project_ / "first.sh").string()}};
  const auto said = result_of("echo fine", wanted).output;
  EXPECT_THAT(said, Not(HasSubstr("secret")));
  EXPECT_THAT(said, ::testing::EndsWith("\n0\nfine\n")) << "the limits hold for it too";
  wanted.environment = {{"BASH_FUNC_read%%", "() { touch here; }"}};
  EXPECT_THROW(sandbox_.wrap({"true"}, wanted), ProcessError);
}

TEST_F(SandboxTest, ACommandOfBashNoticesNothingOfWhatRanBefore) {
  auto wanted = spec();
  wanted.environment = {{"A", "b"}, {"LC_ALL", "C"}};
  for (const auto* name : {"fd", "network", "status", "variables"}) wanted.environment[name] = "the command's";
  const std::string look =
      "echo $# $LINENO; env | grep -v ^_= | sort; compgen -v | sort; compgen -A function; trap; ulimit -a; locale; "
      "ls /proc/self/fd | wc -l\nno-such-program; echo $LINENO; if";
  // Bash under another path is executed by the prologue.
  const auto executed = result_of(sandbox_.wrap({"/bin/../bin/bash", "-c", look}, wanted)).output;
  auto followed = result_of(look, wanted).output;
  EXPECT_THAT(followed, ::testing::AllOf(HasSubstr("0 1\nA=b\n"), HasSubstr("variables=the command's\n")));
  for (auto at = followed.find("/bin/bash: "); at != followed.npos; at = followed.find("/bin/bash: ", at + 14))
    followed.replace(at, 9, "/bin/../bin/bash");
  EXPECT_EQ(followed, executed);
}

TEST_F(SandboxTest, ACommandOfBashEndsBySigtermUnlessItHandlesIt) {
  const auto result = result_of("sleep 100", spec(), {.time = 2s, .grace = 1min});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.end.exit_code, 143);
}

TEST_F(SandboxTest, RefusesVariablesThatCannotBe) {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"", "x"},
                                                                      {"A=B", "x"},
                                                                      {"1A", "x"},
                                                                      {"A-B", "x"},
                                                                      {"A", std::string("x\0--bind\0/\0/", 12)},
                                                                      {std::string("A\0B", 3), "x"}}) {
    auto wanted = spec();
    wanted.environment = {{name, value}};
    EXPECT_THROW(sandbox_.wrap({"true"}, wanted), ProcessError) << name;
  }
}

TEST_F(SandboxTest, HasNoNetworkUnlessAllowed) {
  const auto server = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(server, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(server, 5), 0);
  ::getsockname(server, reinterpret_cast<sockaddr*>(&address), &size);
  const auto connect = "exec 5<>/dev/tcp/127.0.0.1/" + std::to_string(ntohs(address.sin_port));
  EXPECT_NE(result_of(connect, spec()).end.exit_code, 0);
  auto wanted = spec();
  wanted.host_network = true;
  EXPECT_EQ(result_of(connect, wanted).end.exit_code, 0);
  ::close(server);
}

/// Listens at `name`: a path of at most 107 bytes, or an abstract name after a NUL.
Descriptor listening_at(const std::string& name) {
  Descriptor server(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path);
  const auto size = static_cast<socklen_t>(sizeof(sa_family_t) + name.size());
  EXPECT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(server.get(), 5), 0);
  return server;
}

TEST_F(SandboxTest, ReachesNoUnixSocketOfTheHost) {
  const auto abstract = "agw-test-" + std::to_string(::getpid());
  const auto hidden = listening_at(std::string(1, '\0') + abstract);
  const Descriptor folder(::open(project_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto shown = listening_at("/proc/self/fd/" + std::to_string(folder.get()) + "/socket");
  for (const auto& name : {"\\0" + abstract, std::string("socket")}) {
    const auto connect = "/usr/bin/python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('" + name + "')\"";
    for (const bool network : {false, true}) {
      auto wanted = spec();
      wanted.host_network = network;
      EXPECT_EQ(result_of(connect, wanted).end.exit_code, 1) << name << network;
    }
  }
}

TEST_F(SandboxTest, GetsNoSocketPairThatCouldBeReconnected) {
  const auto pair = [&](const std::string& type) {
    return result_of("/usr/bin/python3 -c \"import socket as s; s.socketpair(s.AF_UNIX, " + type + ")\"", spec())
        .end.exit_code;
  };
  for (const auto* type : {"s.SOCK_STREAM", "s.SOCK_SEQPACKET"}) EXPECT_EQ(pair(type), 0) << type;
  for (const auto* type : {"s.SOCK_DGRAM", "s.SOCK_RAW"}) EXPECT_EQ(pair(type), 1) << type;
}

TEST_F(SandboxTest, TheKernelRefusesWaysOut) {
  EXPECT_NE(result_of("unshare -Ur true", spec()).end.exit_code, 0);
  EXPECT_NE(result_of("mount -t tmpfs none /tmp", spec()).end.exit_code, 0);
  EXPECT_NE(result_of("chroot /tmp true", spec()).end.exit_code, 0);
  const auto call = [&](const std::string& code) {
    return output_of("/usr/bin/python3 -c \"import ctypes, os; c = ctypes.CDLL(None, use_errno=True).syscall; r = c(" +
                     code + "); print(r, os.strerror(ctypes.get_errno()))\"");
  };
  EXPECT_THAT(call("101, 0, 0, 0, 0"), HasSubstr("not permitted")) << "ptrace";
  EXPECT_THAT(call("250, 0, -3, 0"), HasSubstr("not permitted")) << "keyctl";
  EXPECT_THAT(call("321, 0, 0, 0"), HasSubstr("not permitted")) << "bpf";
  EXPECT_THAT(call("323, 0"), HasSubstr("not permitted")) << "userfaultfd";
  EXPECT_THAT(call("425, 8, 0"), HasSubstr("not permitted")) << "io_uring_setup";
  EXPECT_THAT(call("16, 0, 0x5412, 0"), HasSubstr("not permitted")) << "TIOCSTI";
  EXPECT_THAT(call("16, 0, ctypes.c_uint64(0x100005412), 0"), HasSubstr("not permitted")) << "TIOCSTI in disguise";
  EXPECT_THAT(call("41, 40, 1, 0"), HasSubstr("not supported")) << "a socket to the hypervisor";
  EXPECT_THAT(call("56, ctypes.c_uint64(0x10000011), 0, 0, 0, 0"), HasSubstr("not permitted")) << "CLONE_NEWUSER";
}

TEST_F(SandboxTest, HasLimits) {
  auto wanted = spec();
  wanted.memory_mb = 200;
  wanted.file_mb = 10;
  EXPECT_NE(result_of("/usr/bin/python3 -c 'x = bytearray(400_000_000)'", wanted).end.exit_code, 0);
  EXPECT_EQ(result_of("/usr/bin/python3 -c 'x = bytearray(40_000_000)'", wanted).end.exit_code, 0);
  EXPECT_NE(result_of("head -c 20M /dev/zero > large", wanted).end.exit_code, 0);
  EXPECT_EQ(fs::file_size(project_ / "large"), 10u * 1024 * 1024);
  EXPECT_NE(result_of("for i in $(seq 30); do head -c 9M /dev/zero > /tmp/$i || exit 1; done", wanted).end.exit_code, 0)
      << "/tmp is in memory";
  EXPECT_NE(
      result_of("for i in $(seq 30); do head -c 9M /dev/zero > /dev/shm/$i || exit 1; done", wanted).end.exit_code, 0);
}

TEST_F(SandboxTest, NothingOutlivesTheCommand) {
  const auto marker = "1234" + std::to_string(::getpid());
  const auto runs = [&] {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      if (read(entry.path() / "cmdline").find(marker) != std::string::npos) return true;
    }
    return false;
  };
  result_of("setsid sh -c 'sleep " + marker + " & sleep " + marker + "' >/dev/null 2>&1 & sleep 0.1", spec());
  for (int i = 0; i < 60'000 && runs(); ++i) ::usleep(1000);
  EXPECT_FALSE(runs());
  const auto started = std::chrono::steady_clock::now();
  const auto deaf = result_of("trap '' TERM; (setsid sleep " + marker + " &); sleep " + marker, spec(),
                              {.time = 300ms, .grace = 100ms});
  EXPECT_TRUE(deaf.timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - started, 1min);
  for (int i = 0; i < 60'000 && runs(); ++i) ::usleep(1000);
  EXPECT_FALSE(runs());
}

TEST_F(SandboxTest, ACommandCanCleanUpBeforeItEnds) {
  const auto result =
      result_of("trap 'echo goodbye; exit 5' TERM; while :; do sleep 0.01; done", spec(), {.time = 2s, .grace = 1min});
  EXPECT_THAT(result.output, HasSubstr("goodbye"));
  EXPECT_EQ(result.end.exit_code, 5);
}

TEST_F(SandboxTest, RefusesAnInvalidSpec) {
  EXPECT_THROW(sandbox_.wrap({"true"}, {.directory = "/", .writable = {project_}}), ProcessError);
  EXPECT_THROW(sandbox_.wrap({"true"}, {.directory = "/no", .writable = {"/no"}}), ProcessError);
  EXPECT_THROW(sandbox_.wrap({"true"}, {.directory = home_ / ".ssh", .writable = {home_ / ".ssh"}}), ProcessError);
  const SandboxSpec too_many{.directory = project_, .writable = std::vector(200, project_)};
  EXPECT_THROW(sandbox_.wrap({"true"}, too_many), ProcessError);
}

TEST(SandboxOff, RunsAsTheUserWithItsOwnEnvironment) {
  const Sandbox off({.enabled = false, .home = "/nowhere", .data_directory = "/nowhere/data", .program = "/bin/false"});
  EXPECT_EQ(off.problem(), std::nullopt);
  const auto options = off.wrap({"env"}, {.directory = "/tmp", .writable = {"/tmp"}, .environment = {{"A", "b"}}});
  EXPECT_THAT(options.arguments, ::testing::ElementsAre("env"));
  EXPECT_THAT(options.environment, ::testing::Contains("A=b"));
  EXPECT_EQ(options.directory, "/tmp");
}

}  // namespace
}  // namespace agw
