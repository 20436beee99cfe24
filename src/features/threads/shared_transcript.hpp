#pragma once

#include "features/secrets/service.hpp"
#include "features/threads/transfer_types.hpp"

namespace agw {

/// What others may read who are given a conversation: of a tool only its name, of a file too; no reasoning; `[secret]`
/// in place of the values in `hidden`. Example: src/features/threads/shared_transcript_test.cpp:
/// SharedTranscript.HasOfToolsAndFilesOnlyNames
Transcript for_others(Transcript transcript, const FilledSecrets& hidden);

}  // namespace agw
