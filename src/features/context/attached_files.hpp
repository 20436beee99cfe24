#pragma once

#include <map>
#include <string>
#include <vector>

#include "features/attachments/service.hpp"
#include "features/threads/types.hpp"
#include "models/model.hpp"

namespace agw {

/// An attached file as a model gets it.
struct AttachedFile {
  Attachment attachment;
  std::string bytes;
  std::string turn_id;  ///< the newest turn that names it: only that one contains the bytes
};
/// The files that a model is shown, by the attachment's id.
using AttachedFiles = std::map<std::string, AttachedFile, std::less<>>;

/// Loads the files of `turns` that a model can read, those of the newest turns first: pictures if it `sees`, and UTF-8
/// text of at most `text_budget` bytes together. Files among `loaded` are not read again.
/// Example: src/features/context/attached_files_test.cpp: AttachedFiles.TextFollowsTheMessage
Task<AttachedFiles> load_attached_files(Attachments& attachments, const std::vector<Turn>& turns, bool sees,
                                        std::size_t text_budget, AttachedFiles loaded = {});

/// The size of those that are text, in bytes.
std::size_t text_size(const AttachedFiles& files);

/// Whether a turn has any.
bool has_attachments(const Turn& turn);
/// Adds the turn's files to its message. One that is not among `files` is only mentioned.
void add_attached_files(Message& message, const Turn& turn, const AttachedFiles& files);

}  // namespace agw
