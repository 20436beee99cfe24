#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "features/attachments/types.hpp"
#include "io/process/blocking.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

struct Image;
struct Route;
class Clock;
class Connection;
class Database;

/// The maximum size of an uploaded file, in bytes.
inline constexpr std::size_t attachment_limit = 20 * 1024 * 1024;

/// Limits of the pictures that tools return: those of a call, and the number and total bytes of those of a thread.
inline constexpr std::size_t max_call_pictures = 8;
inline constexpr std::int64_t max_thread_pictures = 500;
inline constexpr std::int64_t max_thread_picture_bytes = 200 * 1024 * 1024;

/// Files uploaded for messages: a row each, and their bytes below the data directory.
/// Example: src/features/attachments/service_test.cpp: Attachments.AreFoundInTheOrderOfTheirIds
class Attachments {
public:
  Attachments(BlockingPool& blocking, Database& database, const Clock& clock, std::filesystem::path data_directory);

  /// Stores a file. A text is converted to UTF-8 from the charset of its `content_type` or its byte order mark.
  /// `content_type` is the header's text; without a valid one, the type is `application/octet-stream`. Throws
  /// BadRequest `invalid name: <name>` for a name with control characters or over 255 bytes. If there is a file with
  /// the given `id` already, returns that one; waits for one that is being stored. Throws `invalid id` if `id` is not a
  /// UUID in lower case.
  Task<Attachment> add(std::string name, std::string content_type, std::string bytes,
                       InTransaction<Attachment> in_transaction = {}, std::optional<std::string> id = {});

  /// Returns the files in the order of `ids`. Throws NotFound `file not found` if one is unknown.
  Task<std::vector<Attachment>> require(std::vector<std::string> ids);
  /// Returns the files without the unknown ones.
  Task<std::vector<Attachment>> find(std::vector<std::string> ids);

  /// Returns the file's content; nullopt if the file is missing.
  Task<std::optional<std::string>> bytes(Attachment attachment);

  /// Stores what a tool returned in a thread, and returns it: at most `max_call_pictures` PNG, JPEG, GIF and WebP
  /// images, by their first bytes; skips others. They belong to the thread and to its forks. If the thread then has too
  /// many, deletes its oldest ones.
  Task<std::vector<Attachment>> add_pictures(std::string thread_id, std::string tool, std::vector<Image> images);
  /// Lets a fork have the pictures of a thread too, inside the write that makes it.
  static void share_pictures(Connection& connection, const std::string& thread_id, const std::string& fork_id);
  /// Deletes the files of pictures that no longer belong to a thread. Their records are already gone.
  Task<> remove_unused();

private:
  class Upload;

  Task<Attachment> store(Attachment made, std::string content_type, std::string bytes,
                         InTransaction<Attachment> in_transaction);

  BlockingPool& blocking_;
  Database& database_;
  const Clock& clock_;
  std::filesystem::path data_directory_;
  std::map<std::string, std::shared_ptr<StopSource>> uploads_;  ///< of files with chosen ids: requested at their ends
};

/// The endpoints of files, `/files`.
std::vector<Route> attachment_routes(Attachments& attachments);

}  // namespace agw
