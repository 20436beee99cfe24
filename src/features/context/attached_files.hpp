#pragma once

#include <map>
#include <string>
#include <vector>

#include "features/attachments/service.hpp"
#include "features/threads/types.hpp"
#include "models/model.hpp"

namespace agw {

/// An attached file, loaded for a model.
struct AttachedFile {
  Attachment attachment;
  std::string bytes;
  std::string turn_id;  ///< the newest turn that names it; only that turn's message contains the bytes
};
/// The files that a model is shown, by attachment id.
using AttachedFiles = std::map<std::string, AttachedFile, std::less<>>;

/// Loads the files of `turns` that a model can read, newest turns first: pictures if `sees`, and UTF-8 text of at most
/// `text_budget` bytes in total. Files in `loaded` are not read again.
/// Example: src/features/context/attached_files_test.cpp: AttachedFiles.TextFollowsTheMessage
Task<AttachedFiles> load_attached_files(Attachments& attachments, const std::vector<Turn>& turns, bool sees,
                                        std::size_t text_budget, AttachedFiles loaded = {});

/// The total size of the text files, in bytes.
std::size_t text_size(const AttachedFiles& files);

/// Whether a turn has attached files.
bool has_attachments(const Turn& turn);
/// Adds the turn's files to its message. A file that is missing in `files` is only mentioned.
void add_attached_files(Message& message, const Turn& turn, const AttachedFiles& files);

}  // namespace agw
