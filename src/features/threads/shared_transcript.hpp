#pragma once

#include "features/secrets/service.hpp"
#include "features/threads/transfer_types.hpp"

namespace agw {

/// The part of a conversation that may be shared: of tools and files only the names, no reasoning, and `[secret]`
/// instead of the values in `hidden`.
/// Example: src/features/threads/shared_transcript_test.cpp: SharedTranscript.HasOfToolsAndFilesOnlyNames
Transcript for_others(Transcript transcript, const FilledSecrets& hidden);

}  // namespace agw
