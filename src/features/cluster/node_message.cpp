#include "features/cluster/node_message.hpp"

#include <algorithm>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr std::size_t seal_size = 32;

std::string seal_of(std::string_view secret, std::string_view subject, std::string_view frame) {
  // The line end separates the two.
  AGW_DEBUG_ASSERT(subject.find('\n') == subject.npos);
  std::string text(subject);
  text += '\n';
  text += frame;
  auto seal = hmac_sha256(secret, text);
  AGW_ASSERT(seal.size() == seal_size);
  return seal;
}

}  // namespace

std::vector<std::string> sealed_frames(std::string_view secret, std::string_view subject, const NodeMessage& message,
                                       std::size_t limit) {
  AGW_ASSERT(!secret.empty());
  AGW_ASSERT(!message.from.empty());
  AGW_ASSERT(!message.kind.empty());
  AGW_ASSERT(message.number >= 0);
  AGW_ASSERT(limit > 0);
  const auto parts = std::max<std::size_t>(1, (message.body.size() + limit - 1) / limit);
  std::vector<std::string> frames;
  for (std::size_t part = 0; part < parts; ++part) {
    json::object head{{"from", message.from}, {"epoch", message.epoch}};
    if (message.number > 0) head["number"] = message.number + static_cast<std::int64_t>(part);
    if (part == 0) {
      head["kind"] = message.kind;
      if (!message.id.empty()) head["id"] = message.id;
      if (!message.head.empty()) head["head"] = message.head;
    }
    if (parts > 1) {
      head["part"] = part;
      head["parts"] = parts;
    }
    auto frame = to_json(head);
    frame += '\n';
    frame += std::string_view(message.body).substr(part * limit, limit);
    frames.push_back(seal_of(secret, subject, frame) + frame);
  }
  AGW_ASSERT(frames.size() == parts);
  return frames;
}

std::optional<NodeMessageReader::Frame> NodeMessageReader::take(std::string_view subject, std::string_view frame) {
  if (frame.size() <= seal_size) return std::nullopt;
  const auto seal = seal_of(secret_, subject, frame.substr(seal_size));
  if (!are_equal_secrets(seal, frame.substr(0, seal_size))) return std::nullopt;
  const auto content = frame.substr(seal_size);
  const auto end = content.find('\n');
  const auto parsed = parse_json(content.substr(0, end));
  if (end == content.npos || !parsed || !parsed->is_object()) return std::nullopt;
  const auto& head = parsed->get_object();
  Frame taken{string_or_empty(head, "from"), integer_or_zero(head, "epoch"), integer_or_zero(head, "number"),
              std::nullopt};
  const auto part = integer_or_zero(head, "part");
  const auto parts = std::max<std::int64_t>(1, integer_or_zero(head, "parts"));
  auto& partial = partial_[taken.from + ' ' + std::string(subject)];
  if (part == 0) {
    partial.message = {
        taken.from, taken.epoch, taken.number, string_or_empty(head, "kind"), string_or_empty(head, "id"), {}, {}};
    if (const auto* more = head.if_contains("head"); more && more->is_object())
      partial.message.head = more->get_object();
  } else if (part != partial.next_part || partial.message.epoch != taken.epoch) {
    partial = {};  // A part is missing, so the message is dropped.
    return taken;
  }
  partial.next_part = part + 1;
  const auto body = content.substr(end + 1);
  if (partial.message.body.size() + body.size() > max_size) {
    partial = {};
    return taken;
  }
  partial.message.body += body;

  AGW_ASSERT(partial.message.epoch == taken.epoch);
  AGW_ASSERT(partial.message.body.size() <= max_size);
  if (partial.next_part < parts) return taken;
  taken.message = std::move(partial.message);
  partial = {};
  return taken;
}

}  // namespace agw
