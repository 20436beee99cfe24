#include "features/context/attached_files.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "features/context/service.hpp"
#include "models/picture.hpp"

namespace agw {

namespace {

/// Bytes. Even with the third that Base64 adds, the request stays below the providers' size limits.
constexpr std::size_t image_budget = attachment_limit;

/// The attachments that the turn's metadata names, each id once. Other members are not trusted and ignored.
std::vector<Attachment> attachments_named_in(const Turn& turn) {
  const auto* list = turn.metadata && turn.role == Role::user ? turn.metadata->if_contains("attachments") : nullptr;
  if (!list || !list->is_array()) return {};
  std::vector<Attachment> named;
  std::set<std::string> ids;
  for (const auto& entry : list->get_array()) {
    if (!entry.is_object()) continue;
    const auto& object = entry.get_object();
    auto id = string_or_empty(object, "id");
    if (!id.empty() && !ids.insert(id).second) continue;
    named.push_back({std::move(id), string_or_empty(object, "name"), string_or_empty(object, "mime")});
  }
  return named;
}

std::vector<std::string> ids_of(const std::vector<Attachment>& attachments) {
  std::vector<std::string> ids;
  ids.reserve(attachments.size());
  for (const auto& attachment : attachments) ids.push_back(attachment.id);
  return ids;
}

bool matches_its_type(const Attachment& attachment, std::string_view bytes) {
  return is_image(attachment) ? is_picture(attachment.mime, bytes) : is_text(bytes);
}

/// Returns no value if the file cannot be read, or its content does not match its type.
Task<std::optional<std::string>> bytes_of(Attachments& attachments, const Attachment& attachment,
                                          AttachedFiles& loaded) {
  if (auto known = loaded.extract(attachment.id)) co_return std::move(known.mapped().bytes);
  auto bytes = co_await attachments.bytes(attachment);
  if (bytes && !matches_its_type(attachment, *bytes)) bytes.reset();
  co_return bytes;
}

/// Name and type of the file. Control characters are replaced: they could end the line.
std::string label_of(const Attachment& attachment) {
  auto name = attachment.name;
  std::ranges::replace_if(name, is_control, ' ');
  return fmt::format("{} ({})", name, attachment.mime);
}

/// Both delimiters contain the id, which the file's author could not know, so the text cannot imitate the end.
std::string text_of(const AttachedFile& file) {
  return fmt::format("\n\n--- begin of the attached file {}, {} ---\n{}\n--- end of the attached file, {} ---",
                     label_of(file.attachment), file.attachment.id, file.bytes, file.attachment.id);
}

}  // namespace

bool is_image(const Attachment& attachment) { return !picture_mime(attachment.mime).empty(); }

json::object attachment_metadata(const std::vector<Attachment>& attachments) {
  return {{"attachments", attachment_list(attachments)}};
}

Task<AttachedFiles> load_attached_files(Attachments& attachments, const std::vector<Turn>& turns, bool sees,
                                        std::size_t text_budget, AttachedFiles loaded) {
  AttachedFiles files;
  auto image_bytes = image_budget;
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {
    const auto named = ids_of(attachments_named_in(*turn));
    if (named.empty()) continue;
    const auto found = co_await attachments.find(named);
    for (const auto& attachment : found) {
      if (files.contains(attachment.id)) continue;
      auto& budget = is_image(attachment) ? image_bytes : text_budget;
      if (static_cast<std::size_t>(attachment.size) > budget || (is_image(attachment) && !sees)) continue;
      auto bytes = co_await bytes_of(attachments, attachment, loaded);
      // Conversion to UTF-8 may have made the text longer.
      const auto size = bytes ? bytes->size() : 0;
      if (!bytes || size > budget) continue;
      files.emplace(attachment.id, AttachedFile{attachment, *std::move(bytes), turn->id});
      budget -= size;
    }
  }
  co_return files;
}

std::size_t text_size(const AttachedFiles& files) {
  std::size_t size = 0;
  for (const auto& [id, file] : files) size += is_image(file.attachment) ? 0 : file.bytes.size();
  return size;
}

bool has_attachments(const Turn& turn) { return !attachments_named_in(turn).empty(); }

void add_attached_files(Message& message, const Turn& turn, const AttachedFiles& files) {
  for (const auto& named : attachments_named_in(turn)) {
    const auto file = files.find(named.id);
    if (file == files.end())
      message.text += fmt::format("\n\n[The file {} is attached, but cannot be shown to you.]", label_of(named));
    else if (file->second.turn_id != turn.id)
      message.text += fmt::format("\n\n[The file {} is attached; it stands with a later message.]", label_of(named));
    else if (is_image(file->second.attachment))
      message.images.push_back({std::string(picture_mime(file->second.attachment.mime)), file->second.bytes});
    else
      message.text += text_of(file->second);
  }
}

}  // namespace agw
