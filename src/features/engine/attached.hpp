#pragma once

#include <map>
#include <string>
#include <vector>

#include "features/attachments/service.hpp"
#include "features/threads/types.hpp"
#include "models/model.hpp"

namespace agw {

/// A file of a message as a model gets it.
struct AttachedFile {
  Attachment attachment;
  std::string bytes;
  std::string turn_id;  ///< of the newest that names it, which alone shows it
};
/// By the attachment's id: those that the model is shown.
using AttachedFiles = std::map<std::string, AttachedFile, std::less<>>;

/// Whether it is a picture of a kind that models take.
bool is_image(const Attachment& attachment);

/// What a user turn with these attachments carries as metadata.
json::object attachment_metadata(const std::vector<Attachment>& attachments);

/// The files of `turns` that a model can read, the newest turns' first: pictures where it `sees`, and UTF-8 text of
/// `text_budget` bytes together. Those among `loaded` are not read again.
Task<AttachedFiles> load_attached(Attachments& attachments, const std::vector<Turn>& turns, bool sees,
                                  std::size_t text_budget, AttachedFiles loaded = {});

/// How many bytes of them are shown as text.
std::size_t text_size(const AttachedFiles& files);

/// Whether a turn has any.
bool has_attachments(const Turn& turn);
/// Puts the turn's files into its message. Of one that is not among `files` the model is told that it is there.
void add_attached(Message& message, const Turn& turn, const AttachedFiles& files);

}  // namespace agw
