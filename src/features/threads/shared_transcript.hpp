#pragma once

#include "features/secrets/service.hpp"
#include "features/threads/transfer_types.hpp"

namespace agw {

/// The part of a conversation that is shared with others: only the names of tools and files; no reasoning; `[secret]`
/// in place of the values in `hidden`. Example: src/features/threads/shared_transcript_test.cpp:
/// SharedTranscript.HasOfToolsAndFilesOnlyNames
Transcript for_others(Transcript transcript, const FilledSecrets& hidden);

}  // namespace agw
