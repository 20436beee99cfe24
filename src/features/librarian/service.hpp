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

/// `offline/librarian`: answers without a model, by quoting what its sources and the conversation hold, and by calling
/// the tool that a message plainly asks for, as any model does. The same
/// conversation and data give the same answer. It costs nothing; its tokens are estimates, one for four characters.
class Librarian : public Provider {
public:
  /// Asks the sources in this order.
  explicit Librarian(std::vector<std::unique_ptr<LibrarySource>> sources);

  /// Streams a few words at a time, at a pace that leaves the loop to others and can be stopped. An answer longer than
  /// `max_output_tokens` is cut off (`length`). What a source throws leaves it.
  Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) override;

private:
  /// The whole text; `offers` are the messages that it suggests.
  Task<std::string> compose(const ModelRequest& request, std::vector<std::string>& offers);
  Task<std::string> look_up(const ModelRequest& request);
  Task<std::vector<Passage>> find(const ModelRequest& request, const std::vector<std::string>& words, Match match);

  std::vector<std::unique_ptr<LibrarySource>> sources_;
};

/// One that looks through the pages of knowledge and the turns of threads.
std::unique_ptr<Librarian> make_librarian(Knowledge& knowledge, const Extensions& extensions, Threads& threads);

}  // namespace agw
