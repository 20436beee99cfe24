#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "features/attachments/types.hpp"
#include "io/process/blocking.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

struct Route;
class Clock;
class Database;

/// The maximum size of an uploaded file, in bytes.
inline constexpr std::size_t attachment_limit = 20 * 1024 * 1024;

/// Files uploaded for messages: a row each, and their bytes below the data directory.
/// Example: src/features/attachments/service_test.cpp: Attachments.AreFoundInTheOrderOfTheirIds
class Attachments {
public:
  Attachments(BlockingPool& blocking, Database& database, const Clock& clock, std::filesystem::path data_directory);

  /// Stores a file. A text is converted to UTF-8 from the charset of its `content_type` or its byte order mark.
  /// `content_type` is the header's text; without a valid one, the type is `application/octet-stream`. Throws
  /// BadRequest `invalid name: <name>` for a name with control characters or over 255 bytes. If there is a file with
  /// the given `id` already, returns that one. Throws `invalid id` if `id` is not a UUID in lower case.
  Task<Attachment> add(std::string name, std::string content_type, std::string bytes,
                       InTransaction<Attachment> in_transaction = {}, std::optional<std::string> id = {});

  /// Returns the files in the order of `ids`. Throws NotFound `file not found` if one is unknown.
  Task<std::vector<Attachment>> require(std::vector<std::string> ids);
  /// Returns the files without the unknown ones.
  Task<std::vector<Attachment>> find(std::vector<std::string> ids);

  /// Returns the file's content; nullopt if the file is missing.
  Task<std::optional<std::string>> bytes(Attachment attachment);

private:
  BlockingPool& blocking_;
  Database& database_;
  const Clock& clock_;
  std::filesystem::path data_directory_;
};

/// The endpoint of uploads, `/files`.
std::vector<Route> attachment_routes(Attachments& attachments);

}  // namespace agw
