// The messenger for an account at mail servers: reads by IMAP, sends by SMTP.
//
// A mail's *reference* (`MailReference`) is the data that a reply needs: its message id, its subject and the ids of
// earlier mails. The *topic* identifies a conversation by mail. The ids of our own mails contain it, because some
// programs refer only to the mail that they answer. The *position*, stored as the cursor, is `<validity> <last uid>
// <received uids> @<time of the last>`.
//
// A mail is read only if the header of the trusted server verifies its sender, a person wrote it, and it names the
// account as a recipient: otherwise a signed mail to someone else could be replayed to us. Only the head of a
// stranger's mail is read.
//
// The invariant: a mail is marked as read at the server only after the channel has stored the position that contains
// it. So the received ones of the last batch are marked by the *next* `read_batch`.
//
//   1. Connect, and mark the mails of the last batch as read.
//   2. Search for mails after the last one; if there are none, wait for new ones (IDLE).
//   3. Read each head, then the whole mail if its sender is known, up to 20 mails or 8 MiB at once.
//
// If the server has renumbered its mails (another UIDVALIDITY, or a next number that was already assigned), the stored
// numbers are useless: of the mails that have a number then, those count that are unread, not older than the last one
// and of the last two days. The order of the new numbers says nothing. A mail that is read twice because of this, or
// after a kill, has the same `update` (the hash of sender and message id), so it is recognised.

#include "features/channels/email/email.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/log.hpp"
#include "base/text/utf8.hpp"
#include "features/attachments/service.hpp"
#include "features/channels/email/mail_encoding.hpp"
#include "features/channels/email/mail_sender.hpp"
#include "features/channels/email/mail_text.hpp"
#include "features/channels/email/smtp.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

/// Limits of one batch, which bound the memory used.
constexpr std::size_t max_mails_per_batch = 20;
constexpr std::size_t max_bytes_per_batch = 8 * 1024 * 1024;
/// A file of 20 MiB has 27 MiB in a mail.
constexpr std::size_t max_mail = 40 * 1024 * 1024;
constexpr std::size_t max_subject = 250;
/// Of reading one mail.
constexpr int max_attempts = 4;
/// Older mails are not answered after the server has renumbered its mails, or when they are moved into the inbox.
constexpr auto max_time_away = std::chrono::days(2);
constexpr std::size_t max_references = 20;
constexpr std::size_t topic_length = 16;

std::string_view domain_of(std::string_view address) { return address.substr(address.find('@') + 1); }

/// Removes the tag: `ann+work@example.org` is also `ann@example.org`.
std::string without_tag(std::string_view address) {
  const auto at = address.find('@');
  const auto plus = address.substr(0, at).find('+');
  return std::string(address.substr(0, plus)) + std::string(plus == address.npos ? "" : address.substr(at));
}

/// Identifies a mail independently of its number at the server. Only mails of the same sender can have the same id.
std::string update_of(const MailReference& reference, std::string_view sender) {
  return to_hex(sha256(fmt::format("{}\n{}", sender, reference.message_id)));
}

std::string topic_from_id(std::string_view message_id) { return to_hex(sha256(message_id)).substr(0, topic_length); }

}  // namespace

// References are stored as lines: the id, the subject, the ids of earlier mails.

std::string MailReference::text() const {
  return fmt::format("{}\n{}\n{}", message_id, subject, boost::algorithm::join(references, " "));
}

MailReference MailReference::from_text(std::string_view text) {
  const auto first = std::min(text.find('\n'), text.size());
  const auto rest = text.substr(std::min(first + 1, text.size()));
  const auto second = std::min(rest.find('\n'), rest.size());
  return {.message_id = std::string(text.substr(0, first)),
          .subject = std::string(rest.substr(0, second)),
          .references = read_message_ids(rest.substr(second))};
}

std::string Email::Position::text() const {
  auto written = fmt::format("{} {} {}", validity, last, fmt::join(received, ","));
  if (time) written += fmt::format(" @{}", std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count());
  if (time && last < renumbered) written += fmt::format(" {}", renumbered);
  return written;
}

Email::Position Email::Position::from_text(const std::string& text) {
  std::vector<Imap::Uid> numbers;
  const auto mark = std::min(text.find('@'), text.size());
  for (const char *at = text.data(), *end = at + mark; at < end;) {
    Imap::Uid number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc()) numbers.push_back(number);
    at = error == std::errc() ? next : at + 1;
  }
  if (numbers.size() < 2) return {};
  Position position{.validity = numbers[0], .last = numbers[1], .received = {numbers.begin() + 2, numbers.end()}};
  std::int64_t seconds = 0;
  const auto written = std::string_view(text).substr(std::min(mark + 1, text.size()));
  const auto* const end = written.data() + written.size();
  const auto [next, error] = std::from_chars(written.data(), end, seconds);
  if (error == std::errc()) position.time = Timestamp(std::chrono::seconds(seconds));
  if (next != end) std::from_chars(next + 1, end, position.renumbered);
  return position;
}

Email::Email(const ChannelServices& services, const ChannelAccount& account, const ChannelSettings& settings)
    : services_(services), account_(account), settings_(settings) {}

const Messenger::Traits& Email::traits() const {
  // Servers allow some hundred mails an hour or more; each is sent on a separate connection.
  static const Traits traits{
      .max_units = 500'000, .is_mail = true, .between_messages = 1s, .between_in_group = 1s, .per_second = 5};
  return traits;
}

MailServer Email::server(const std::string& address) const {
  return {.url = address,
          .user = settings_.user,
          .password = account_.token,
          .rule = {.public_only = !account_.is_persons, .no_metadata = true}};
}

// Reading.

Task<ReceivedBatch> Email::read(std::string cursor, StopSource& stop) {
  files_.clear();
  files_size_ = 0;
  ReceivedBatch batch{.end = ReceivedBatch::End::retry};
  try {
    co_return co_await read_batch(std::move(cursor), stop);
  } catch (const MailError& error) {
    if (error.kind == MailError::Kind::stopped) batch.end = ReceivedBatch::End::stopped;
    if (error.kind == MailError::Kind::refused) batch.end = ReceivedBatch::End::refused;
    batch.error = account_.secrets.hidden_in(error.what());
  }
  imap_.reset();
  has_read_ = false;
  co_return batch;
}

Task<> Email::connect(StopSource& stop) {
  auto imap = std::make_unique<Imap>(services_.http);
  co_await imap->open(server(account_.address), stop);
  imap_ = std::move(imap);
}

Task<ReceivedBatch> Email::read_batch(std::string cursor, StopSource& stop) {
  if (!imap_) co_await connect(stop);
  AGW_ASSERT(imap_->validity() > 0);
  AGW_ASSERT(imap_->next_uid() > 0);
  auto position = Position::from_text(cursor);
  ReceivedBatch batch{.end = ReceivedBatch::End::read, .cursor = std::move(cursor)};
  if (batch.cursor.empty()) {
    // Mails from before the channel existed were not meant for it.
    batch.cursor = Position{imap_->validity(), imap_->next_uid() - 1, {}, services_.clock.now()}.text();
    co_return batch;
  }
  if (!is_renumbered(position)) co_await mark_read(std::exchange(position.received, {}), stop);
  auto uids = co_await new_mails(position, stop);
  // The first read returns immediately, so that the channel's state is known.
  while (uids.empty() && has_read_) {
    co_await imap_->wait_for_new_mail(stop);
    uids = co_await new_mails(position, stop);
  }
  has_read_ = true;
  for (const auto uid : uids) {
    auto message = co_await read_one(uid, position, stop);
    if (message) {
      if (settings_.allow.contains(message->sender)) position.received.push_back(uid);
      batch.messages.push_back(*std::move(message));
    }
    attempt_ = {};
    if (batch.messages.size() >= max_mails_per_batch || files_size_ > max_bytes_per_batch) break;
  }
  batch.cursor = position.text();
  co_return batch;
}

/// Without the mark nothing is answered twice, so a mailbox that may only be read is no reason to stop.
Task<> Email::mark_read(std::vector<Imap::Uid> uids, StopSource& stop) {
  try {
    co_await imap_->mark_read(std::move(uids), stop);
  } catch (const MailError& error) {
    if (error.kind != MailError::Kind::rejected) throw;
    log::warn("the channel {} cannot mark mails as read: {}", settings_.name, account_.secrets.hidden_in(error.what()));
  }
}

/// A server that lost its numbers may restart them with the same UIDVALIDITY. Then the next uid, as of the login, is
/// one that was already assigned.
bool Email::is_renumbered(const Position& position) const {
  return position.validity != imap_->validity() || (!has_read_ && imap_->next_uid() <= position.last);
}

/// If the server has renumbered its mails (UIDVALIDITY), their numbers no longer show which ones were read. Then only
/// the unread mails of the last days count that are not older than the last one, and answered mails are recognised by
/// their message ids.
Task<std::vector<Imap::Uid>> Email::new_mails(Position& position, StopSource& stop) {
  const auto oldest = services_.clock.now() - max_time_away;
  if (is_renumbered(position)) {
    log::warn("the mail server of the channel {} has renumbered its mails", settings_.name);
    position = {.validity = imap_->validity(),
                .time = std::max(position.time.value_or(oldest), oldest),
                .renumbered = imap_->next_uid() - 1};
  }
  auto uids = co_await imap_->mails_from(position.last + 1, stop);
  if (position.last >= position.renumbered) co_return uids;
  const auto unread = co_await imap_->unread_mails(std::max(position.time.value_or(oldest), oldest), stop);
  std::erase_if(uids,
                [&](Imap::Uid uid) { return uid <= position.renumbered && !std::ranges::binary_search(unread, uid); });
  if (uids.empty() || uids.front() > position.renumbered) position.last = position.renumbered;
  co_return uids;
}

/// The head of a mail; nullopt if the mail is not there, or an old one.
Task<std::optional<Imap::Head>> Email::head_of(Imap::Uid uid, Position& position, StopSource& stop) {
  attempt_ = {.uid = uid, .has_head = false, .count = attempt_.uid == uid ? attempt_.count + 1 : 1};
  auto fetched = co_await imap_->head(uid, stop);
  attempt_.has_head = true;
  if (!fetched) co_return std::nullopt;
  if (is_moved_here(*fetched, position)) {
    log::info("the channel {} ignores an old mail that was moved into the inbox", settings_.name);
    co_return std::nullopt;
  }
  // The order of renumbered mails is not that of their times.
  if (fetched->received && uid > position.renumbered)
    position.time = std::max(position.time.value_or(*fetched->received), *fetched->received);
  co_return fetched;
}

Task<std::optional<ReceivedMessage>> Email::read_one(Imap::Uid uid, Position& position, StopSource& stop) {
  position.last = std::max(position.last, uid);
  const bool skips = co_await is_unreadable(uid, stop);
  if (skips && !attempt_.has_head) {
    log::warn("the channel {} skips a mail that its server does not return", settings_.name);
    co_return std::nullopt;
  }
  const auto fetched = co_await head_of(uid, position, stop);
  if (!fetched) co_return std::nullopt;
  const auto head = read_mail_head(fetched->bytes);
  auto sender = authentic_sender(head, settings_.authserv_id);
  if (!sender || is_automatic(head) || !is_for_account(head) || sender->address == settings_.from) {
    log::info("the channel {} ignores a mail: {}", settings_.name,
              !sender ? "its sender is not verified" : "it was not sent by a person to this account");
    co_return std::nullopt;
  }
  const bool is_stranger = !settings_.allow.contains(sender->address);
  const auto reference = reference_of(head, fetched->bytes);
  auto message = message_of(reference, *std::move(sender));
  // Only the head of a stranger's mail is read.
  if (is_stranger) co_return message;
  if (fetched->size > max_mail) {
    message.text = fmt::format("(A mail with the subject {} is too large to be read: it has over {} MiB.)",
                               reference.subject, max_mail / 1024 / 1024);
    co_return message;
  }
  if (skips) {
    message.text = fmt::format("(The server does not return a mail with the subject {}.)", reference.subject);
    co_return message;
  }
  auto bytes = co_await imap_->mail(uid, stop);
  if (!bytes) co_return std::nullopt;
  auto mail = co_await services_.blocking.run([bytes = *std::move(bytes)] { return read_mail(bytes); });
  add_content(std::move(mail), reference, message);
  co_return message;
}

/// A mail that was moved or imported gets a new number, but keeps the time when it was received.
bool Email::is_moved_here(const Imap::Head& fetched, const Position& position) {
  return fetched.received && position.time && *fetched.received < *position.time - max_time_away;
}

/// Some servers cannot return one of their mails, and end the connection. The mails after it must not wait for it.
Task<bool> Email::is_unreadable(Imap::Uid uid, StopSource& stop) {
  if (attempt_.uid != uid || attempt_.count < max_attempts) co_return false;
  co_return co_await imap_->returns_another(uid, stop);
}

/// Rejects replays: a mail to another recipient, resent here with its signature intact, was not meant for the agent.
bool Email::is_for_account(const MailHead& head) const {
  const auto is_own = [this](const MailAddress& one) {
    return one.address == settings_.from || without_tag(one.address) == settings_.from;
  };
  for (const auto* name : {"to", "cc"}) {
    for (const auto field : head.all(name)) {
      if (std::ranges::any_of(read_addresses(field), is_own)) return true;
    }
  }
  return false;
}

MailReference Email::reference_of(const MailHead& head, std::string_view bytes) {
  const auto ids = read_message_ids(head.first("message-id"));
  MailReference reference{
      .message_id = ids.empty() ? fmt::format("<{}@mail.invalid>", to_hex(sha256(bytes))) : ids.front(),
      .subject = std::string(utf8_prefix(boost::trim_copy(decode_header(head.first("subject"))), max_subject)),
      .references = read_message_ids(head.first("references"))};
  if (reference.references.empty()) reference.references = read_message_ids(head.first("in-reply-to"));
  // The first id identifies the thread; mail programs search for the last ones.
  if (auto& all = reference.references; all.size() > max_references)
    all.erase(all.begin() + 1, all.end() - (max_references - 1));
  return reference;
}

/// Some programs refer only to the answered mail, so the ids of the gateway's own mails contain the topic.
std::string Email::topic_of(const MailReference& reference) const {
  if (settings_.threads == ChannelThreads::chat) return {};
  for (const auto& id : reference.references) {
    const auto at = id.find('@');
    const auto dot = id.substr(0, at).rfind('.');
    const bool is_own = at != id.npos && dot != id.npos && at - dot == topic_length + 1 &&
                        id.substr(at + 1) == fmt::format("{}>", domain_of(settings_.from));
    if (is_own) return id.substr(dot + 1, topic_length);
  }
  return topic_from_id(reference.references.empty() ? reference.message_id : reference.references.front());
}

ReceivedMessage Email::message_of(const MailReference& reference, MailAddress sender) const {
  auto name = sender.name.empty() ? sender.address : std::move(sender.name);
  return {.update = update_of(reference, sender.address),
          .place = {.chat = sender.address, .topic = topic_of(reference)},
          .message = reference.text(),
          .sender = std::move(sender.address),
          .sender_name = std::move(name),
          .text = {}};
}

void Email::add_content(Mail mail, const MailReference& reference, ReceivedMessage& message) {
  // What a person only forwards are not their own words.
  message.text = is_forward(reference.subject) ? text_with_forwarded(mail.text) : own_text(mail.text);
  const bool begins_thread = reference.references.empty() && !reference.subject.empty();
  if (message.text.empty()) {
    message.text = reference.subject;
  } else if (begins_thread && !message.text.starts_with('/')) {
    message.text = fmt::format("Subject: {}\n\n{}", reference.subject, message.text);
  }
  for (const auto& what : mail.omitted) message.text += fmt::format("\n({})", what);
  if (message.text.empty() && mail.files.empty()) message.text = "(an empty mail)";
  for (auto& file : mail.files) {
    auto id = fmt::format("{}/{}", message.update, files_.size());
    message.files.push_back({.id = id, .name = file.name, .mime = file.mime});
    files_size_ += file.bytes.size();
    const bool is_new = files_.emplace(std::move(id), std::move(file)).second;
    AGW_ASSERT(is_new);
  }
}

Task<FetchedFile> Email::fetch(ReceivedFile file, StopSource&) {
  const auto found = files_.find(file.id);
  if (found == files_.end()) co_return FetchedFile{{}, "it is gone"};
  if (found->second.bytes.size() > attachment_limit) co_return FetchedFile{{}, "it is over 20 MiB"};
  co_return FetchedFile{found->second.bytes, {}};
}

// Sending.

MailDraft Email::draft_of(const OutgoingMessage& message) const {
  // A sent mail cannot be edited, so the new text becomes a separate mail.
  const auto& replies_to = message.edits.empty() ? message.replies_to : message.edits;
  auto answered = MailReference::from_text(replies_to);
  MailDraft draft{
      .from = settings_.from,
      .to = message.to.chat,
      .subject = {},
      .message_id = fmt::format("<{}.{}@{}>", message.id,
                                message.to.topic.empty() ? topic_from_id(message.to.chat) : message.to.topic,
                                domain_of(settings_.from)),
      .text = message.text,
      .is_markdown = message.is_markdown,
      .is_reply = !replies_to.empty(),
      .date = services_.clock.now()};
  for (const auto& file : message.files) draft.files.push_back({file.name, file.mime, file.bytes});
  const auto agent = services_.extensions.find_agent(settings_.agent_id.empty() ? "assistant" : settings_.agent_id);
  if (agent) draft.from_name = agent->name;
  if (replies_to.empty()) {
    draft.subject = shortened(message.text.substr(0, message.text.find('\n')), 80);
  } else {
    draft.subject = fmt::format("Re: {}", bare_subject(answered.subject));
    draft.references = std::move(answered.references);
    draft.references.push_back(std::move(answered.message_id));
  }
  return draft;
}

Task<SendResult> Email::send(OutgoingMessage message, StopSource& stop) {
  const auto draft = draft_of(message);
  auto mail = co_await services_.blocking.run([draft] { return write_mail(draft); });
  // libcurl uses the path of the URL as its name in the SMTP greeting.
  auto account = server(fmt::format("{}/{}", settings_.smtp, domain_of(settings_.from)));
  auto result = co_await send_mail(services_.http, std::move(account), settings_.from, draft.to, std::move(mail), stop);
  result.error = account_.secrets.hidden_in(result.error);
  if (result.end == SendResult::End::sent) {
    result.message =
        MailReference{.message_id = draft.message_id, .subject = draft.subject, .references = draft.references}.text();
  }
  co_return result;
}

Task<SendResult> Email::draft(ChatPlace, std::int64_t, std::string, StopSource&) {
  co_return SendResult{.end = SendResult::End::refused, .error = "mails have no drafts"};
}

Task<> Email::acknowledge(std::string, std::string, StopSource&) { co_return; }

}  // namespace agw
