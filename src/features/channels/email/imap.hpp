#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/time.hpp"
#include "io/mail/mail_connection.hpp"

namespace agw {

/// Accesses the inbox of an account by IMAP4rev1 (RFC 3501) with IDLE (RFC 2177). One call at a time. Functions throw
/// MailError, after which the object must not be used, unless the server only rejected the command.
class Imap {
public:
  using Uid = std::uint32_t;

  explicit Imap(HttpClient& http) : connection_(http) {}

  /// Connects, logs in and selects the inbox.
  Task<> open(MailServer server, StopSource& stop);

  /// Changes when the server renumbers all mails (UIDVALIDITY).
  Uid validity() const { return validity_; }
  /// The lowest uid that a new mail can have, as of `open` (UIDNEXT).
  Uid next_uid() const { return next_uid_; }

  /// The mails from `first` on, ascending.
  Task<std::vector<Uid>> mails_from(Uid first, StopSource& stop);
  /// The unread mails that the server received at `since` or later, ascending.
  Task<std::vector<Uid>> unread_mails(Timestamp since, StopSource& stop);

  struct Head {
    std::string bytes;                    ///< the header, at most 256 KiB of it
    std::size_t size = 0;                 ///< of the whole mail
    std::optional<Timestamp> received{};  ///< when the server received it (INTERNALDATE)
  };
  /// Reads the head without marking the mail as read. No value if the mail was deleted.
  Task<std::optional<Head>> head(Uid uid, StopSource& stop);
  /// Reads the whole mail. No value if it was deleted.
  Task<std::optional<std::string>> mail(Uid uid, StopSource& stop);
  /// Whether the server returns the head of another mail.
  Task<bool> returns_another(Uid uid, StopSource& stop);
  Task<> mark_read(std::vector<Uid> uids, StopSource& stop);

  /// Waits until there may be new mails.
  Task<> wait_for_new_mail(StopSource& stop);

private:
  struct Response {
    std::string text;                     ///< all lines, without the contents of literals
    std::vector<std::string> literals{};  ///< in order
    std::size_t size = 0;                 ///< text and literals together, in bytes
  };

  Task<Response> read_response(StopSource& stop);
  /// Reads up to the tagged response; returns the responses before it. Throws if the server rejected the command.
  Task<std::vector<Response>> read_until(std::string tag, StopSource& stop);
  Task<std::vector<Response>> run(std::string command, StopSource& stop);
  Task<std::vector<Uid>> search(std::string criteria, StopSource& stop);
  void handle_untagged(std::string_view text);
  Task<> idle(StopSource& stop);
  std::string next_tag();

  MailConnection connection_;
  Uid validity_ = 0;
  Uid next_uid_ = 0;
  int commands_ = 0;
  bool can_idle_ = false;
  bool has_new_mail_ = false;  ///< since the last search
};

}  // namespace agw
