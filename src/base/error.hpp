#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace agw {

/// The process's exit statuses, which scripts and service managers rely on.
enum class ExitStatus {
  success = 0,
  failure = 1,
  usage = 2,              ///< wrong arguments, configuration, or permissions of files
  already_running = 3,    ///< another gateway holds the data directory or the database
  not_running = 4,        ///< the command line found no gateway
  database_unusable = 5,  ///< corrupt, or newer than this binary
  restart = 75,           ///< asks the service manager to start the gateway again
};

/// The gateway cannot start, or a command cannot continue. The message states the problem, its place and the remedy. It
/// is printed to stderr, and the process exits with the status.
class StartError : public std::runtime_error {
public:
  StartError(ExitStatus status, const std::string& message) : std::runtime_error(message), status_(status) {}
  ExitStatus status() const { return status_; }

private:
  ExitStatus status_;
};

/// The message of an exception. It must derive from std::exception, as all exceptions of this project do.
inline std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace agw
