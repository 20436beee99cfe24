#include "cli/transfer/conversation.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/id.hpp"
#include "base/text/utf8.hpp"
#include "features/threads/types.hpp"

namespace agw::cli {

namespace {

/// The maximum number of forks with their whole path; later ones contain only the differing part, so the total stays
/// proportional to the size of the tree, whatever its shape.
constexpr std::size_t max_whole_forks = 100;
/// The maximum number of messages with the same id that a message is compared with.
constexpr std::size_t max_of_one_id = 100;

using Path = std::vector<std::size_t>;

/// The messages of a conversation as a tree.
class Tree {
public:
  explicit Tree(const std::vector<SourceMessage>& messages) : messages_(messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) numbers_.emplace(messages[i].id, i);
    has_children_.resize(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (const auto parent = parent_of(i)) has_children_[*parent] = true;
    }
  }

  std::optional<std::size_t> find(const std::string& id) const {
    const auto found = numbers_.find(id);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The path from the root to the message. Stops at a loop, which broken data may contain.
  Path path_to(std::size_t last) const { return path_to(last, std::vector<bool>(messages_.size())); }

  /// The same without the messages in `taken` and their ancestors.
  Path path_to(std::size_t last, std::vector<bool> taken) const {
    Path path;
    for (std::optional<std::size_t> at = last; at && !taken[*at]; at = parent_of(*at)) {
      taken[*at] = true;
      path.push_back(*at);
    }
    std::ranges::reverse(path);
    return path;
  }

  /// The ends of paths that together contain all messages: first the leaves, then other messages, among which broken
  /// data may contain loops.
  std::vector<std::size_t> ends() const {
    std::vector<std::size_t> found;
    for (const bool are_leaves : {true, false}) {
      for (std::size_t i = 0; i < messages_.size(); ++i) {
        if (has_children_[i] != are_leaves) found.push_back(i);
      }
    }
    return found;
  }

  /// The newest leaf below the message, or the message itself if it is a leaf.
  std::size_t leaf_below(std::size_t number) const {
    std::vector<bool> taken(messages_.size());
    for (auto leaf = messages_.size(); leaf-- > 0;) {
      if (has_children_[leaf]) continue;
      const auto path = path_to(leaf, taken);
      if (contains(path, number)) return leaf;
      for (const auto each : path) taken[each] = true;
    }
    return number;
  }

private:
  std::optional<std::size_t> parent_of(std::size_t i) const {
    return messages_[i].parent ? find(*messages_[i].parent) : std::nullopt;
  }

  const std::vector<SourceMessage>& messages_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<bool> has_children_;
};

void write_path(Importer& importer, const SourceConversation& conversation, ImportedThread head, const Path& path) {
  importer.begin_thread(std::move(head), conversation.project);
  TurnWriter turns(importer);
  for (const auto number : path) turns.add(conversation.messages[number]);
  turns.finish();
}

void mark(const Path& path, std::vector<bool>& taken) {
  for (const auto number : path) taken[number] = true;
}

/// The title of the thread for this path, if necessary derived from its first question as the gateway does.
std::string title_of(const SourceConversation& conversation, const Path& path) {
  if (conversation.head.title) return *conversation.head.title;
  for (const auto number : path) {
    const auto& message = conversation.messages[number];
    auto title = message.role == Role::user ? title_from(message.text) : std::string();
    if (!title.empty()) return title;
  }
  return "Conversation";
}

bool is_copy(const SourceMessage& one, const SourceMessage& other) {
  return one.role == other.role && one.text == other.text && one.reasoning == other.reasoning &&
         one.calls == other.calls && one.files == other.files && one.attachments == other.attachments &&
         std::ranges::equal(one.results, other.results, [](const SourceResult& a, const SourceResult& b) {
           return a.call_id == b.call_id && a.output == b.output && a.is_error == b.is_error;
         });
}

/// Broken data may have several messages with the same id. Duplicates are dropped; others become forks, with their ids
/// as keys.
void resolve_duplicate_ids(Importer& importer, std::vector<SourceMessage>& messages) {
  std::unordered_map<std::string, std::vector<std::size_t>> kept;
  for (const auto& message : messages) kept.try_emplace(message.id);
  std::size_t count = 0;
  for (auto& message : messages) {
    auto& same = kept[message.id];
    if (std::ranges::any_of(same, [&](auto number) { return is_copy(messages[number], message); })) continue;
    if (same.size() == max_of_one_id) {
      importer.leave_one_of("messages", "have the id of 100 others");
      continue;
    }
    same.push_back(count);
    if (same.size() > 1) {
      const auto id = std::exchange(message.id, {});
      // The id may belong to another message.
      for (auto number = same.size(); message.id.empty(); ++number) {
        if (auto own = fmt::format("{}/{}", id, number); kept.try_emplace(own).second) message.id = std::move(own);
      }
    }
    if (&messages[count] != &message) messages[count] = std::move(message);
    ++count;
  }
  messages.resize(count);
}

std::string fork_key(const SourceConversation& conversation, std::size_t leaf) {
  return conversation.head.key + "/" + conversation.messages[leaf].id;
}

/// The newest message in the thread that an earlier import made. Returns nullopt if there is no such thread.
std::optional<std::size_t> newest_in(const Importer& importer, const std::string& key,
                                     const std::vector<SourceMessage>& messages) {
  const auto thread = importer.thread_id(key);
  std::unordered_map<std::string, std::size_t> numbers;
  const auto turn = importer.newest_turn(thread, [&](const std::string& id) {
    if (numbers.empty()) {  // computed only if there is such a thread
      for (std::size_t i = 0; i < messages.size(); ++i) numbers.emplace(id_of_key(thread, messages[i].id), i);
    }
    return numbers.contains(id);
  });
  return turn ? std::optional(numbers[*turn]) : std::nullopt;
}

struct Fork {
  std::size_t leaf;
  std::string key;
};

/// Forks that earlier imports made go on as far as their conversations do now.
std::vector<Fork> earlier_forks(Importer& importer, const SourceConversation& conversation, const Tree& tree,
                                const std::vector<bool>& taken) {
  std::vector<Fork> forks;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    auto key = taken[i] ? std::string() : fork_key(conversation, i);
    if (key.empty() || !importer.has_thread(importer.thread_id(key))) continue;
    const auto newest = newest_in(importer, key, conversation.messages);
    const auto path = tree.path_to(i);
    const bool is_beyond = newest && !contains(path, *newest);
    forks.push_back({tree.leaf_below(is_beyond ? *newest : i), std::move(key)});
  }
  return forks;
}

void write_forks(Importer& importer, const SourceConversation& conversation, const Tree& tree, const std::string& title,
                 std::vector<bool>& taken, std::vector<Fork> forks) {
  for (const auto leaf : tree.ends()) forks.push_back({leaf, fork_key(conversation, leaf)});
  std::size_t count = 0;
  for (auto& [leaf, key] : forks) {
    if (taken[leaf]) continue;
    const auto rest = tree.path_to(leaf, taken);
    mark(rest, taken);
    if (std::ranges::none_of(rest, [&](auto number) { return has_content(conversation.messages[number]); })) continue;
    auto head = conversation.head;
    head.key = std::move(key);
    head.pinned = false;
    head.title = fmt::format("{} (fork {})", title, ++count);
    write_path(importer, conversation, std::move(head), count <= max_whole_forks ? tree.path_to(leaf) : rest);
  }
}

}  // namespace

void add_paragraph(std::string& text, std::string_view paragraph) {
  if (paragraph.empty()) return;
  if (!text.empty()) text += "\n\n";
  text += paragraph;
}

bool has_content(const SourceMessage& message) {
  return !message.text.empty() || !message.calls.empty() || !message.results.empty() || !message.reasoning.empty() ||
         !message.files.empty() || !message.attachments.empty();
}

void take_files(Importer& importer, const std::string& scope, SourceMessage& message) {
  for (std::size_t i = 0; i < message.files.size(); ++i) {
    if (auto made = importer.add_attachment(fmt::format("{}/{}/{}", scope, message.id, i), message.files[i]))
      message.attachments.push_back(*std::move(made));
  }
  message.files.clear();
}

void TurnWriter::take(const SourceResult& result, const SourceMessage& message) {
  const auto find = [&] {
    return std::ranges::find_if(calls_,
                                [&](const Call& each) { return each.call.id == result.call_id && !each.result; });
  };
  auto call = find();
  if (call == calls_.end()) {
    // Keeps a result without its call.
    answer({.id = message.id,
            .role = message.role,
            .calls = {{result.call_id, "tool", {}}},
            .model = message.model,
            .at = message.at});
    call = find();
  }
  call->result = result;
  if (const auto at = result.at ? result.at : message.at) call->at = at;
  results_since_step_ = true;
}

json::array TurnWriter::attachments_of(const SourceMessage& message) {
  auto attachments = message.attachments;
  for (std::size_t i = 0; i < message.files.size(); ++i) {
    if (auto made = importer_.add_attachment(fmt::format("{}/{}", message.id, i), message.files[i]))
      attachments.push_back(*std::move(made));
  }
  return attachments;
}

void TurnWriter::attach(const SourceMessage& message) {
  for (auto& attachment : attachments_of(message)) answer_->attachments.push_back(std::move(attachment));
}

void TurnWriter::answer(const SourceMessage& message) {
  if (!answer_) answer_ = SourceMessage{.id = message.id, .role = message.role};
  const auto earlier = answer_->text.size();
  add_paragraph(answer_->text, message.text);
  const std::string_view text = answer_->text;
  add_paragraph(answer_->reasoning, message.reasoning);
  if (!message.model.empty()) answer_->model = message.model;
  if (message.at) answer_->at = message.at;
  std::size_t counted = 0;
  std::size_t characters = 0;
  for (const auto& call : message.calls) {
    // A reader may have shortened the text after the call.
    const auto bytes = std::min(call.text_bytes.value_or(message.text.size()), message.text.size());
    const auto end = std::max(counted, bytes == 0 ? earlier : text.size() - message.text.size() + bytes);
    characters += count_characters(text.substr(counted, end - counted));
    counted = end;
    if (std::exchange(results_since_step_, false) || steps_.empty() || steps_.back().at("text_end") != characters) {
      steps_.push_back(json::object{{"text_end", characters}, {"tool_call_ids", json::array()}});
    }
    steps_.back().at("tool_call_ids").as_array().emplace_back(call.id);
    calls_.push_back({call, std::nullopt, message.at});
  }
}

void TurnWriter::add(const SourceMessage& message) {
  if (message.role == Role::assistant && has_content(message)) answer(message);
  for (const auto& result : message.results) take(result, message);
  if (answer_ && (message.role == Role::assistant || message.role == Role::tool)) attach(message);
  if (message.role == Role::assistant || message.role == Role::tool) return;
  if (message.text.empty() && message.files.empty() && message.attachments.empty()) return;
  finish();
  ImportedTurn turn{
      .key = message.id, .role = message.role, .content = message.text, .metadata = {}, .created_at = message.at};
  if (auto attachments = attachments_of(message); !attachments.empty())
    turn.metadata = json::object{{"attachments", std::move(attachments)}};
  if (message.role == Role::user) question_ = message.id;
  importer_.add_turn(std::move(turn));
}

void TurnWriter::finish() {
  if (!answer_) return;
  const auto run_id = "imported-" + answer_->id;
  for (auto& [call, result, at] : calls_) {
    json::object metadata{{"run_id", run_id},
                          {"tool_call_id", call.id},
                          {"tool_name", call.name},
                          {"input", std::move(call.input)},
                          {"is_error", !result || result->is_error}};
    auto key = "call/" + call.id;
    // Some models restart the numbering of their calls with each answer.
    for (int number = 2; !call_keys_.insert(key).second; ++number)
      key = fmt::format("call/{}/{}/{}", call.id, answer_->id, number);
    importer_.add_turn({.key = std::move(key),
                        .role = Role::tool,
                        .content = result ? std::move(result->output) : "There is no result of this call.",
                        .metadata = std::move(metadata),
                        .created_at = at,
                        .in_reply_to = question_});
  }
  json::object metadata{{"run_id", run_id}};
  if (!answer_->attachments.empty()) metadata["attachments"] = std::move(answer_->attachments);
  if (!steps_.empty()) metadata["steps"] = std::move(steps_);
  if (!answer_->model.empty()) metadata["model"] = answer_->model;
  if (!answer_->reasoning.empty()) metadata["reasoning"] = answer_->reasoning;
  importer_.add_turn({.key = answer_->id,
                      .role = Role::assistant,
                      .content = std::move(answer_->text),
                      .metadata = std::move(metadata),
                      .created_at = answer_->at,
                      .in_reply_to = question_});
  answer_.reset();
  calls_.clear();
  steps_ = json::array();
  results_since_step_ = true;
}

void import_conversation(Importer& importer, SourceConversation conversation) {
  resolve_duplicate_ids(importer, conversation.messages);
  const auto& messages = conversation.messages;
  if (std::ranges::none_of(messages, has_content)) {
    importer.leave("conversation " + conversation.head.title.value_or(conversation.head.key), "has no messages");
    return;
  }
  const Tree tree(messages);
  auto current = conversation.current ? tree.find(*conversation.current) : std::nullopt;
  auto path = tree.path_to(current.value_or(messages.size() - 1));
  std::vector<bool> taken(messages.size());
  // What a thread has is never changed. So if another path is shown now, that one becomes a fork.
  std::optional<std::size_t> newest;
  if (path.size() < messages.size()) newest = newest_in(importer, conversation.head.key, messages);
  if (newest && !contains(path, *newest)) path = tree.path_to(tree.leaf_below(*newest));
  mark(path, taken);
  std::vector<Fork> forks;
  if (newest) forks = earlier_forks(importer, conversation, tree, taken);
  write_path(importer, conversation, conversation.head, path);
  write_forks(importer, conversation, tree, title_of(conversation, path), taken, std::move(forks));
}

}  // namespace agw::cli
