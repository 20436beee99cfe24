#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/descriptor.hpp"

namespace agw {

/// Holds a data directory for one gateway, by a lock of the kernel on `{data_dir}/gateway.lock`: it ends with the
/// process, however that ends, so that a file left behind by a killed gateway holds nothing. The file says who holds
/// it, as JSON: `{"pid": 123, "url": "http://127.0.0.1:7420", "certificate": null}`, `url` null until published.
class LockFile {
public:
  /// Takes the lock. A dead gateway's children may hold it for the moment in which they were made: that is waited for,
  /// nothing else. Throws StartError: already_running, naming process and URL, where another gateway has it; usage
  /// where the file cannot be used.
  explicit LockFile(const std::filesystem::path& data_directory);
  ~LockFile();  ///< empties the file, and lets go
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  /// Tells the command line where the gateway answers and, with TLS, the fingerprint of the certificate that it shows.
  void publish(std::string_view url, std::string_view certificate = {});

private:
  void write(std::string_view url, std::string_view certificate);

  std::filesystem::path path_;
  Descriptor file_;
};

/// A gateway that holds its lock right now.
struct RunningGateway {
  pid_t pid = 0;            ///< 0 where it has not been written yet
  std::string url;          ///< empty while it starts or stops
  std::string certificate;  ///< SHA-256 of the certificate that it shows, in hex; empty without TLS
};

/// The gateway that runs on `data_directory`, or nothing. Only the lock counts, never the file's content alone; looking
/// does not take it, so a gateway that starts meanwhile is not disturbed.
std::optional<RunningGateway> find_running_gateway(const std::filesystem::path& data_directory);

}  // namespace agw
