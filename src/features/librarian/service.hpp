#pragma once

#include <memory>
#include <string>
#include <vector>

#include "features/librarian/types.hpp"
#include "models/model.hpp"

namespace agw {

class Extensions;
class Knowledge;
class Threads;

/// The model `offline/librarian`: answers without a model by quoting its sources and the conversation, and by making
/// the tool call that a message clearly requests. The same conversation and data produce the same answer. It costs
/// nothing; its token counts are estimates of four characters per token.
/// Example: src/features/librarian/service_test.cpp: LibrarianTest.QuotesWhatItFoundWithItsSource
class Librarian : public Provider {
public:
  /// Queries the sources in this order.
  explicit Librarian(std::vector<std::unique_ptr<LibrarySource>> sources);

  /// Streams a few words at a time, with pauses so that other work proceeds and the answer can be stopped. An answer
  /// longer than `max_output_tokens` is truncated (`length`). Exceptions of sources propagate.
  Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) override;

private:
  /// Returns the whole text, and in `offers` the messages that it suggests.
  Task<std::string> compose(const ModelRequest& request, std::vector<std::string>& offers);
  Task<std::string> look_up(const ModelRequest& request);
  Task<std::vector<Passage>> find(const ModelRequest& request, const std::vector<std::string>& words, Match match);

  std::vector<std::unique_ptr<LibrarySource>> sources_;
};

/// Creates a librarian that searches knowledge pages and the turns of threads.
std::unique_ptr<Librarian> make_librarian(Knowledge& knowledge, const Extensions& extensions, Threads& threads);

}  // namespace agw
