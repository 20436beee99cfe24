#include "storage/postgres/testing.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include <fmt/format.h>

#include "storage/postgres/address.hpp"
#include "storage/postgres/errors.hpp"
#include "storage/postgres/libpq.hpp"
#include "storage/postgres/session.hpp"

namespace agw::postgres::testing {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// The directory of the newest version's programs; empty if none is installed.
fs::path programs() {
  const fs::path versions = "/usr/lib/postgresql";
  fs::path newest;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(versions, none)) {
    if (fs::exists(entry.path() / "bin/initdb")) newest = std::max(newest, entry.path());
  }
  return newest.empty() ? newest : newest / "bin";
}

void become_postgres() {
  const auto* user = ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr;
  if (user && (::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0)) ::_exit(126);
}

Session::Deadline never = Session::Clock::time_point::max();

}  // namespace

std::string Server::missing() {
  if (!Libpq::get().error.empty()) return Libpq::get().error;
  if (programs().empty()) return "PostgreSQL is not installed (package postgresql)";
  return {};
}

Server& Server::shared() {
  static Server server;
  return server;
}

Server::Server() {
  const auto* user = ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr;
  if (user && ::chown(directory_.path().c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("cannot give the directory to postgres");
  }
  if (run({(programs() / "initdb").string(), "-D", (directory_.path() / "data").string(), "-U", "agw", "-A", "trust",
           "-E", "UTF8", "--locale=C", "-N"}) != 0) {
    throw std::runtime_error("initdb failed");
  }
  start();
}

Server::~Server() {
  if (process_ > 0) kill();
}

int Server::spawn(const std::vector<std::string>& command) const {
  std::vector<char*> arguments;
  for (const auto& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  const auto log = (directory_.path() / "log").string();
  const int child = ::fork();
  if (child == 0) {
    become_postgres();
    // If a test crashes, the server ends with it.
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    if (::chdir("/") == 0) ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  return child;
}

int Server::run(const std::vector<std::string>& command) const {
  int status = -1;
  ::waitpid(spawn(command), &status, 0);
  return status;
}

void Server::start() {
  process_ = spawn({(programs() / "postgres").string(), "-D", (directory_.path() / "data").string(), "-k",
                    directory_.path().string(), "-c", "listen_addresses=", "-c", "shared_buffers=16MB"});
  wait_until_ready();
}

void Server::wait_until_ready() const {
  const auto address = read_address(url("postgres"));
  for (const auto end = Session::Clock::now() + 20s;;) {
    try {
      const Session session(address, Session::Clock::now() + 5s, never);
      return;
    } catch (const ConnectionLost&) {
      if (Session::Clock::now() > end) throw;
      std::this_thread::sleep_for(20ms);
    }
  }
}

void Server::end(int signal) {
  ::kill(process_, signal);
  ::waitpid(process_, nullptr, 0);
  process_ = 0;
}

std::string Server::create_database(const std::string& options) {
  const auto name = fmt::format("test{}", ++databases_);
  Session session(read_address(url("postgres")), Session::Clock::now() + 5s, never);
  session.execute(fmt::format("CREATE DATABASE {} TEMPLATE template0 {}", name, options));
  return url(name);
}

std::string Server::url(const std::string& database, const std::string& user) const {
  return fmt::format("host={} dbname={} user={}", directory_.path().string(), database, user);
}

}  // namespace agw::postgres::testing
