// Stanzas of an XMPP server. libstrophe reads the XML, so the bytes build elements instead: `<name`, an attribute, `>`
// for the text, `/` to close, each up to a zero byte.

#include <string>
#include <vector>

#include "base/json/json.hpp"
#include "features/channels/xmpp/xmpp_message.hpp"
#include "features/channels/xmpp/xmpp_rooms.hpp"
#include "features/channels/xmpp/xmpp_upload.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "io/xmpp/xmpp_address.hpp"

namespace {

using agw::XmppElement;

/// Splits `text` at the first `mark`.
std::pair<std::string, std::string> halves(std::string_view bytes, char mark) {
  const auto text = agw::to_utf8(bytes);
  const auto middle = text.find(mark);
  if (middle == text.npos) return {text, {}};
  return {text.substr(0, middle), text.substr(middle + 1)};
}

std::string_view take_piece(std::string_view& text) {
  const auto end = std::min(text.find('\0'), text.size());
  const auto piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

/// As deep as the reader of elements descends.
XmppElement element_of(std::string_view& text, int depth) {
  XmppElement element;
  const auto head = halves(take_piece(text), ' ');
  element.name = head.first;
  element.xmlns = head.second;
  while (!text.empty()) {
    const char mark = text.front();
    text.remove_prefix(1);
    if (mark == '/') break;
    if (mark == '<' && depth < 16)
      element.children.push_back(element_of(text, depth + 1));
    else if (mark == '>')
      element.text += agw::to_utf8(take_piece(text));
    else
      element.attributes.push_back(halves(take_piece(text), '='));
  }
  return element;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto text = agw::fuzzing::text_of(data, size);
  const auto address = agw::to_utf8(agw::fuzzing::take_line(text));
  if (const auto account = agw::xmpp_account(address)) {
    agw::fuzzing::require(agw::xmpp_account(*account) == account);
  }
  agw::parse_xmpp_server(address);
  agw::XmppRooms rooms({"room@rooms.example"}, "agent@example.com");
  rooms.enter();
  while (!text.empty()) {
    const auto stanza = element_of(text, 0);
    if (stanza.name == "presence") rooms.learn(stanza);
    agw::is_encrypted(stanza);
    agw::xmpp_error(stanza);
    const auto message = agw::xmpp_message(stanza, "agent@example.com", rooms, agw::ChannelThreads::topic);
    if (message) agw::fuzzing::require(!message->sender.empty());
    if (const auto slot = agw::xmpp_slot(stanza)) {
      for (const auto& header : slot->headers)
        agw::fuzzing::require(header.value.find_first_of("\r\n") == header.value.npos);
    }
    const auto escaped = agw::xml_escaped(stanza.text);
    agw::fuzzing::require(escaped.find_first_of("<>\"'") == escaped.npos && agw::is_utf8(escaped));
  }
  return 0;
}
