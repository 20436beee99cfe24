#include "features/channels/xmpp/xmpp_upload.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "features/channels/xmpp/xmpp_message.hpp"
#include "io/http/web_request.hpp"

namespace agw {

namespace {

using End = SendResult::End;

constexpr std::string_view http_upload = "urn:xmpp:http:upload:0";
constexpr std::string_view disco_info = "http://jabber.org/protocol/disco#info";
constexpr std::string_view disco_items = "http://jabber.org/protocol/disco#items";
constexpr std::size_t max_services = 20;
constexpr std::chrono::minutes upload_timeout{5};

std::string query_for(std::string_view xmlns) { return fmt::format("<query xmlns='{}'/>", xmlns); }

bool accepts_files(const XmppElement& response) {
  const auto* query = response.child("query", disco_info);
  return query && std::ranges::any_of(query->children, [](const XmppElement& one) {
           return one.name == "feature" && one.attribute("var") == http_upload;
         });
}

/// The addresses of the server and its services.
std::vector<std::string> addresses_in(const XmppElement& response, const std::string& domain) {
  std::vector<std::string> addresses{domain};
  const auto* query = response.child("query", disco_items);
  if (!query) return addresses;
  for (const auto& one : query->children) {
    const auto address = one.attribute("jid");
    if (one.name == "item" && !address.empty() && addresses.size() <= max_services) addresses.emplace_back(address);
  }
  return addresses;
}

std::string slot_request(const OutgoingFile& file) {
  return fmt::format("<request xmlns='{}' filename='{}' size='{}' content-type='{}'/>", http_upload,
                     xml_escaped(file.name), file.bytes.size(), xml_escaped(file.mime));
}

/// XEP-0363, section 4: clients must ignore other headers of a slot.
bool is_slot_header(std::string_view name, std::string_view value) {
  const auto lower = lower_case(name);
  const bool is_known = lower == "authorization" || lower == "cookie" || lower == "expires";
  return is_known && value.find_first_of("\r\n") == value.npos;
}

XmppUpload::Uploaded failed(End end, std::string error) {
  return {.url = {}, .problem = {.end = end, .error = std::move(error)}};
}

}  // namespace

std::optional<XmppSlot> xmpp_slot(const XmppElement& response) {
  const auto* slot = response.child("slot", http_upload);
  const auto* put = slot ? slot->child("put", http_upload) : nullptr;
  const auto* get = slot ? slot->child("get", http_upload) : nullptr;
  if (!put || !get) return std::nullopt;
  const auto put_url = WebUrl::parse(put->attribute("url"));
  if (!put_url || !WebUrl::parse(get->attribute("url"))) return std::nullopt;
  XmppSlot found{.put = *put_url, .get = std::string(get->attribute("url"))};
  for (const auto& one : put->children) {
    const auto name = one.attribute("name");
    if (one.name == "header" && is_slot_header(name, one.text)) found.headers.push_back({std::string(name), one.text});
  }
  return found;
}

XmppUpload::XmppUpload(HttpClient& http, XmppRequests& requests, std::string domain, MayBePrivate may_be_private)
    : http_(http), requests_(requests), domain_(std::move(domain)), may_be_private_(std::move(may_be_private)) {}

/// Empty if no address accepts files, nullopt if the server does not respond.
Task<std::optional<std::string>> XmppUpload::find_service(StopSource& stop) {
  if (!service_.empty()) co_return service_;
  const auto listed = co_await requests_.get(domain_, query_for(disco_items), stop);
  if (!listed) co_return std::nullopt;
  for (const auto& address : addresses_in(*listed, domain_)) {
    const auto features = co_await requests_.get(address, query_for(disco_info), stop);
    if (!features || !accepts_files(*features)) continue;
    service_ = address;
    break;
  }
  co_return service_;
}

Task<XmppUpload::Uploaded> XmppUpload::upload(OutgoingFile file, StopSource& stop) {
  const auto service = co_await find_service(stop);
  if (!service) co_return failed(End::retry, "the server did not respond");
  if (service->empty()) co_return failed(End::refused, "the server does not accept files (XEP-0363)");
  const auto response = co_await requests_.get(*service, slot_request(file), stop);
  if (!response) co_return failed(End::retry, "the server did not respond");
  if (response->attribute("type") == "error") co_return failed(End::refused, xmpp_error(*response));
  auto slot = xmpp_slot(*response);
  if (!slot) co_return failed(End::refused, "the server named no URL for the file");
  slot->headers.push_back({"Content-Type", file.mime});
  const auto put = co_await send_web_request(http_,
                                             {.url = slot->put,
                                              .method = "PUT",
                                              .origin_headers = std::move(slot->headers),
                                              .body = std::move(file.bytes),
                                              .limit = upload_timeout,
                                              .may_be_private = may_be_private_},
                                             stop);
  if (!put.problem.empty()) co_return failed(End::retry, put.problem);
  const auto status = put.head.status;
  if (status == 200 || status == 201) co_return Uploaded{.url = slot->get};
  co_return failed(status >= 500 ? End::retry : End::refused,
                   fmt::format("the server responded to the file with {}", status));
}

}  // namespace agw
