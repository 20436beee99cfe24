#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "features/channels/channel_services.hpp"
#include "features/channels/email/imap.hpp"
#include "features/channels/email/mail_reader.hpp"
#include "features/channels/email/mail_writer.hpp"
#include "features/channels/messenger.hpp"
#include "features/channels/service_call.hpp"

namespace agw {

/// The data about a mail that a reply to it must contain. `ReceivedMessage::message` carries it to the channel, and
/// `OutgoingMessage::replies_to` back.
struct MailReference {
  std::string message_id;                 ///< `<id@host>`
  std::string subject;                    ///< decoded
  std::vector<std::string> references{};  ///< ids of the earlier mails of its thread

  std::string text() const;
  static MailReference from_text(std::string_view text);
};

/// An account at mail servers: reads by IMAP, with IDLE for new mails, and sends by SMTP. Reads only mails whose sender
/// was verified by the trusted server, that name the account's address as a recipient, and that a person wrote.
class Email : public Messenger {
public:
  Email(const ChannelServices& services, const ChannelAccount& account, const ChannelSettings& settings);

  const Traits& traits() const override;
  Task<ReceivedBatch> read(std::string cursor, StopSource& stop) override;
  Task<SendResult> send(OutgoingMessage message, StopSource& stop) override;
  Task<SendResult> draft(ChatPlace place, std::int64_t number, std::string text, StopSource& stop) override;
  Task<> acknowledge(std::string press, std::string text, StopSource& stop) override;
  Task<FetchedFile> fetch(ReceivedFile file, StopSource& stop) override;

private:
  /// The position up to which the inbox was read: `<validity> <last uid> <uids of the last batch> @<seconds>
  /// <renumbered uid>`. The next read marks the mails of the last batch as read. The time is when the server received
  /// the last mail.
  struct Position {
    Imap::Uid validity = 0;
    Imap::Uid last = 0;
    std::vector<Imap::Uid> received{};
    std::optional<Timestamp> time{};
    /// Up to here, the server has renumbered its mails, in any order: most were read before.
    Imap::Uid renumbered = 0;

    std::string text() const;
    static Position from_text(const std::string& text);
  };

  Task<> connect(StopSource& stop);
  Task<ReceivedBatch> read_batch(std::string cursor, StopSource& stop);
  Task<> mark_read(std::vector<Imap::Uid> uids, StopSource& stop);
  /// Whether the server has renumbered its mails since `position`.
  bool is_renumbered(const Position& position) const;
  Task<std::vector<Imap::Uid>> new_mails(Position& position, StopSource& stop);
  Task<std::optional<Imap::Head>> head_of(Imap::Uid uid, Position& position, StopSource& stop);
  /// Advances `position` to that mail. No value if the mail is ignored or was deleted.
  Task<std::optional<ReceivedMessage>> read_one(Imap::Uid uid, Position& position, StopSource& stop);
  static bool is_moved_here(const Imap::Head& fetched, const Position& position);
  /// Whether reading that mail has failed repeatedly although the server returns others.
  Task<bool> is_unreadable(Imap::Uid uid, StopSource& stop);
  bool is_for_account(const MailHead& head) const;
  /// A mail without an id is identified by `bytes`, the bytes of its head.
  static MailReference reference_of(const MailHead& head, std::string_view bytes);
  std::string topic_of(const MailReference& reference) const;
  ReceivedMessage message_of(const MailReference& reference, MailAddress sender) const;
  void add_content(Mail mail, const MailReference& reference, ReceivedMessage& message);
  MailDraft draft_of(const OutgoingMessage& message) const;
  MailServer server(const std::string& address) const;

  /// The mail that is being read, or that could not be read.
  struct Attempt {
    Imap::Uid uid = 0;
    bool has_head = false;  ///< its head was read
    int count = 0;
  };

  const ChannelServices& services_;
  const ChannelAccount& account_;
  const ChannelSettings& settings_;
  std::unique_ptr<Imap> imap_;  ///< null if not connected
  bool has_read_ = false;       ///< reading has succeeded on this connection
  Attempt attempt_;
  std::map<std::string, MailFile, std::less<>> files_;  ///< files of the mails read last, by id
  std::size_t files_size_ = 0;
};

}  // namespace agw
