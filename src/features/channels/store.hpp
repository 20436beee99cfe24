#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/channels/types.hpp"
#include "storage/connection.hpp"

namespace agw {

/// A received message that was handled.
struct InboundRow {
  std::int64_t number = 0;  ///< assigned by the database
  std::string integration_id;
  std::string update_id;
  ChatPlace place;
  std::string message;
  std::string sender;
  std::optional<std::string> turn_id;    ///< the turn of the question
  std::optional<std::string> thread_id;  ///< the thread of that turn
  bool is_answered = false;
  /// The service's id of the message that previews the answer. While it is unknown, `?` and the id given to the
  /// service.
  std::optional<std::string> shown_as;
  Timestamp created_at{};
};

/// A message to send.
struct OutboxRow {
  std::int64_t number = 0;  ///< assigned by the database
  std::string id;           ///< the id given to the service
  std::string integration_id;
  ChatPlace place;
  std::string replies_to;
  std::string text;
  bool is_markdown = false;
  std::optional<std::int64_t> question;  ///< the inbound row, if this is the first message of its answer
  std::string files;                     ///< ids of attachments, separated by blanks
  bool is_begun = false;                 ///< sending has begun, so the message may have arrived
  Timestamp created_at{};
};

/// The SQL of the channels' tables.
namespace channel_store {

/// The beginning of `shown_as` until the service has returned the message's id.
inline constexpr std::string_view unknown_message = "?";

std::string cursor(Connection& connection, std::string_view integration_id);
void set_cursor(Connection& connection, std::string_view integration_id, std::string_view cursor);

std::optional<std::string> thread_of(Connection& connection, std::string_view integration_id, const ChatPlace& place);
void set_thread(Connection& connection, std::string_view integration_id, const ChatPlace& place,
                std::string_view thread_id);
/// Moves the threads of a chat to its new id, unless that one has a thread already.
void move_chat(Connection& connection, std::string_view integration_id, std::string_view from, std::string_view to);
void forget_thread(Connection& connection, std::string_view integration_id, const ChatPlace& place);

bool is_known(Connection& connection, std::string_view integration_id, std::string_view update_id);
/// Finds a message by the service's id of it.
bool is_known_message(Connection& connection, std::string_view integration_id, std::string_view sender,
                      std::string_view message);
/// Returns the row's number. Throws DatabaseError if the update has a row already.
std::int64_t insert(Connection& connection, const InboundRow& row);
/// Questions that are not answered yet, oldest first.
std::vector<InboundRow> open_questions(Connection& connection, std::string_view integration_id);
/// Marks a question as answered. Returns false if it already was.
bool mark_answered(Connection& connection, std::int64_t number);
/// Adds an attachment to the answer. Returns false if the question is answered, or already has `max_files`.
bool add_file(Connection& connection, std::int64_t number, std::string_view attachment_id, int max_files);
/// The ids of attachments that are sent with the answer, separated by blanks.
std::string files_of(Connection& connection, std::int64_t number);
void set_shown_as(Connection& connection, std::int64_t number, const std::optional<std::string>& message);
std::optional<std::string> shown_as(Connection& connection, std::int64_t number);
/// Removes some answered messages older than `oldest`.
void purge(Connection& connection, Timestamp oldest);
/// The person who wrote last in that private chat.
std::optional<std::string> person_in(Connection& connection, std::string_view integration_id, const ChatPlace& place);
/// The private chat in which that person wrote last.
std::optional<ChatPlace> private_chat_of(Connection& connection, std::string_view integration_id,
                                         std::string_view sender);

/// Returns the row's number.
std::int64_t insert(Connection& connection, const OutboxRow& row);
/// Unsent messages, in the order in which to send them.
std::vector<OutboxRow> unsent(Connection& connection, std::string_view integration_id);
void mark_begun(Connection& connection, std::int64_t number);
void remove_sent(Connection& connection, std::int64_t number);

/// Removes everything of a channel that was deleted.
void forget(Connection& connection, std::string_view integration_id);

}  // namespace channel_store

}  // namespace agw
