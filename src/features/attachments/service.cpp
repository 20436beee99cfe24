#include "features/attachments/service.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <set>

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "base/text/ascii.hpp"
#include "features/attachments/store.hpp"
#include "io/files/directory.hpp"
#include "models/model.hpp"
#include "models/picture.hpp"
#include "storage/database.hpp"
#include "tools/charset.hpp"

namespace agw {

namespace {

constexpr std::size_t max_name_length = 255;
constexpr auto folder = "attachments";
/// U+FFFD, the replacement for bytes that are invalid in the declared charset.
constexpr auto no_character = "\xEF\xBF\xBD";
/// The maximum number of UTF-8 bytes for one input byte.
constexpr std::size_t max_growth = 3;
constexpr std::size_t max_picture_bytes = 5 * 1024 * 1024;
constexpr auto unknown_type = "application/octet-stream";

bool is_mime_character(char c) {
  return is_lower(c) || is_digit(c) || std::string_view("!#$&-^_.+").find(c) != std::string::npos;
}

/// `Text/Plain; charset=utf-8` becomes `text/plain`.
std::string mime_of(const std::string& content_type) {
  auto mime = boost::to_lower_copy(content_type.substr(0, content_type.find(';')));
  boost::trim(mime);
  const auto slash = mime.find('/');
  if (slash == mime.npos || slash == 0 || slash + 1 == mime.size()) return unknown_type;
  const bool valid = std::all_of(mime.begin(), mime.begin() + static_cast<std::ptrdiff_t>(slash), is_mime_character) &&
                     std::all_of(mime.begin() + static_cast<std::ptrdiff_t>(slash) + 1, mime.end(), is_mime_character);
  return valid ? mime : unknown_type;
}

/// Converts text to UTF-8 for models. Other files are left unchanged.
std::string readable(std::string bytes, const std::string& mime, const std::string& content_type) {
  const bool is_notified = declares_charset(content_type);
  const bool is_text =
      is_marked_utf16(bytes) || is_notified || (mime.starts_with("text/") && bytes.find('\0') == bytes.npos);
  if (!is_text || !picture_mime(mime).empty() || (!is_notified && is_utf8(bytes))) return bytes;
  auto text = text_to_utf8(bytes, content_type);
  const bool is_readable = !text.empty() && text.find('\0') == text.npos && text.find(no_character) == text.npos;
  return is_readable ? std::move(text) : std::move(bytes);
}

std::string path_of(const std::string& id) { return std::string(folder) + '/' + id; }

void keep_pictures_only(std::vector<Image>& images) {
  std::erase_if(images, [](const Image& image) {
    return image.bytes.size() > max_picture_bytes || mime_of_picture(image.bytes).empty();
  });
  if (images.size() > max_call_pictures) images.resize(max_call_pictures);
}

/// `image/png` becomes `<tool>.png`.
Attachment picture_record(const std::string& tool, const Image& image) {
  const auto mime = mime_of_picture(image.bytes);
  return {new_id(), fmt::format("{}.{}", tool, mime.substr(mime.find('/') + 1)), std::string(mime),
          static_cast<std::int64_t>(image.bytes.size())};
}

/// A new picture, and others of its thread with the same number of bytes.
struct NewPicture {
  std::string id;
  std::vector<std::string> candidates;
};

/// Makes the file a second name of an equal one. Returns false if there is none, or the file system has no hard links.
bool link_to_equal(const Directory& files, const NewPicture& picture, const std::string& bytes) {
  // Files are replaced, never changed in place, and deleting one name leaves the others.
  const auto equal = std::ranges::find_if(picture.candidates, [&](const auto& candidate) {
    const auto found = files.read(candidate, bytes.size());
    return found && *found == bytes;
  });
  const int fd = files.descriptor();
  return equal != picture.candidates.end() && ::linkat(fd, equal->c_str(), fd, picture.id.c_str(), 0) == 0 &&
         ::fsync(fd) == 0;
}

void write_pictures(const std::filesystem::path& path, const std::vector<NewPicture>& pictures,
                    const std::vector<Image>& images) {
  const auto directory = Directory::open(path, Symlinks::refuse).value();
  directory.make_directories(folder).value();
  const auto files = directory.directory(folder).value();
  AGW_ASSERT(pictures.size() == images.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (!link_to_equal(files, pictures[i], images[i].bytes)) files.write(pictures[i].id, images[i].bytes).value();
  }
}

/// Returns the ids of which there is no file any more.
std::vector<std::string> delete_files(const std::filesystem::path& path, std::vector<std::string> ids) {
  const auto directory = Directory::open(path, Symlinks::refuse).value();
  std::erase_if(ids, [&](const auto& id) {
    const auto removed = directory.remove(path_of(id));
    if (removed || removed.error() == FileError::not_found) return false;
    log::warn("the file of the deleted attachment {} cannot be deleted: {}", id, to_string(removed.error()));
    return true;
  });
  return ids;
}

}  // namespace

/// An upload with a chosen id, while it is in progress. There is one at a time for each id: of several, the record
/// would be that of the first, but the file that of the last.
class Attachments::Upload {
public:
  using All = decltype(Attachments::uploads_);

  /// Returns null if no upload with the id is in progress. Otherwise what is requested at its end.
  static std::shared_ptr<StopSource> find(const All& all, const std::string& id) {
    const auto found = all.find(id);
    return found == all.end() ? nullptr : found->second;
  }

  Upload(All& all, const std::string& id) : all_(all) {
    AGW_ASSERT(!all.contains(id));
    place_ = all.emplace(id, std::make_shared<StopSource>()).first;
  }
  ~Upload() {
    const auto ended = place_->second;
    all_.erase(place_);
    ended->request();
  }
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

private:
  All& all_;
  All::iterator place_;
};

Attachments::Attachments(BlockingPool& blocking, Database& database, const Clock& clock,
                         std::filesystem::path data_directory)
    : blocking_(blocking), database_(database), clock_(clock), data_directory_(std::move(data_directory)) {}

Task<Attachment> Attachments::add(std::string name, std::string content_type, std::string bytes,
                                  InTransaction<Attachment> in_transaction, std::optional<std::string> id) {
  if (id && (!is_uuid(*id) || boost::to_lower_copy(*id) != *id)) throw BadRequest("invalid id: " + *id);
  if (name.size() > max_name_length || std::ranges::any_of(name, is_control)) throw BadRequest("invalid name: " + name);
  Attachment made{id ? *id : new_id(), std::move(name), mime_of(content_type), static_cast<std::int64_t>(bytes.size())};
  if (!id) co_return co_await store(std::move(made), std::move(content_type), std::move(bytes), in_transaction);
  while (const auto earlier = Upload::find(uploads_, *id)) co_await until_requested(*earlier);
  const Upload upload(uploads_, *id);
  if (auto found = co_await find({*id}); !found.empty()) co_return std::move(found.front());
  co_return co_await store(std::move(made), std::move(content_type), std::move(bytes), in_transaction);
}

Task<Attachment> Attachments::store(Attachment made, std::string content_type, std::string bytes,
                                    InTransaction<Attachment> in_transaction) {
  co_await blocking_.run([path = data_directory_, made, content_type, given = std::move(bytes)]() mutable {
    const auto bytes = readable(std::move(given), made.mime, content_type);
    const auto directory = Directory::open(path, Symlinks::refuse).value();
    directory.make_directories(folder).value();
    directory.write(path_of(made.id), bytes).value();
  });
  std::exception_ptr failure;
  try {
    co_await database_.write([made, in_transaction, now = clock_.now()](Connection& connection) {
      attachment_store::insert(connection, made, now);
      if (in_transaction) in_transaction(connection, made);
    });
  } catch (const DiskFull&) {
    failure = std::current_exception();
  }
  if (!failure) co_return made;
  // The file was written with the last space, and nothing would ever delete it.
  co_await blocking_.run([path = data_directory_, id = made.id] { return delete_files(path, {id}); });
  std::rethrow_exception(failure);
}

Task<std::vector<Attachment>> Attachments::find(std::vector<std::string> ids) {
  if (ids.empty()) co_return std::vector<Attachment>{};
  co_return co_await database_.read([ids = std::move(ids)](Connection& connection) {
    std::vector<Attachment> found;
    for (const auto& id : ids) {
      if (auto attachment = attachment_store::find(connection, id)) found.push_back(*std::move(attachment));
    }
    return found;
  });
}

Task<std::vector<Attachment>> Attachments::require(std::vector<std::string> ids) {
  // A file with several references is attached once.
  std::set<std::string> known;
  std::erase_if(ids, [&](const auto& id) { return !known.insert(id).second; });
  const auto wanted = ids.size();
  auto found = co_await find(std::move(ids));
  if (found.size() != wanted) throw file_not_found();
  co_return found;
}

Task<std::optional<std::string>> Attachments::bytes(Attachment attachment) {
  co_return co_await blocking_.run([path = data_directory_, attachment = std::move(attachment)] {
    const auto directory = Directory::open(path, Symlinks::refuse).value();
    auto content = directory.read(path_of(attachment.id), max_growth * attachment_limit);
    if (content) return std::optional(*std::move(content));
    log::warn("the attachment {} ({}) cannot be read: {}", attachment.id, attachment.name, to_string(content.error()));
    return std::optional<std::string>();
  });
}

// The records come first, so that a kill before or between the files leaves nothing that is not deleted with the
// thread. The turn that names the pictures follows the files.
Task<std::vector<Attachment>> Attachments::add_pictures(std::string thread_id, std::string tool,
                                                        std::vector<Image> images) {
  keep_pictures_only(images);
  std::vector<Attachment> made;
  if (images.empty()) co_return made;
  for (const auto& image : images) made.push_back(picture_record(tool, image));
  auto pictures = co_await database_.write([thread_id, made, now = clock_.now()](Connection& connection) {
    std::vector<NewPicture> pictures;
    for (const auto& picture : made) {
      pictures.push_back({picture.id, attachment_store::pictures_of_size(connection, thread_id, picture.size)});
      attachment_store::insert_picture(connection, thread_id, picture, now);
    }
    attachment_store::trim_pictures(connection, thread_id, max_thread_pictures, max_thread_picture_bytes);
    return pictures;
  });
  co_await blocking_.run([path = data_directory_, pictures = std::move(pictures), images = std::move(images)] {
    write_pictures(path, pictures, images);
  });
  co_await remove_unused();
  co_return made;
}

void Attachments::share_pictures(Connection& connection, const std::string& thread_id, const std::string& fork_id) {
  attachment_store::copy_pictures(connection, thread_id, fork_id);
}

Task<> Attachments::remove_unused() {
  auto ids = co_await database_.read(attachment_store::unused);
  if (ids.empty()) co_return;
  ids = co_await blocking_.run([path = data_directory_, ids = std::move(ids)] { return delete_files(path, ids); });
  co_await database_.write([ids](Connection& connection) {
    for (const auto& id : ids) attachment_store::remove_unused(connection, id);
  });
}

}  // namespace agw
