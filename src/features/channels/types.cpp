#include "features/channels/types.hpp"

#include <array>
#include <utility>

#include "base/json/describe.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "io/xmpp/xmpp_address.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(ChannelService, telegram, matrix, email, xmpp)
std::span<const EnumName> names(Tag<ChannelService>) { return enum_names<ChannelService>(); }

BOOST_DESCRIBE_ENUM(ChannelThreads, chat, topic)
std::span<const EnumName> names(Tag<ChannelThreads>) { return enum_names<ChannelThreads>(); }

BOOST_DESCRIBE_ENUM(ChannelStream, draft, edit, off)
std::span<const EnumName> names(Tag<ChannelStream>) { return enum_names<ChannelStream>(); }

BOOST_DESCRIBE_ENUM(ChannelState, connecting, connected, failing)
std::span<const EnumName> names(Tag<ChannelState>) { return enum_names<ChannelState>(); }

std::span<const EnumName> names(Tag<ChannelNotice>) {
  // These are the names of events, some of which have a dot. The first name of each value is the one that is written.
  static constexpr std::array listed{
      EnumName{"permission-requested", static_cast<int>(ChannelNotice::permission_requested)},
      EnumName{"proposal.created", static_cast<int>(ChannelNotice::proposal_created)},
      EnumName{"proposal-created", static_cast<int>(ChannelNotice::proposal_created)},
      EnumName{"job.failed", static_cast<int>(ChannelNotice::job_failed)},
      EnumName{"signal", static_cast<int>(ChannelNotice::signal)},
      EnumName{"signals", static_cast<int>(ChannelNotice::signal)},
      EnumName{"finish", static_cast<int>(ChannelNotice::finish)}};
  return listed;
}

BOOST_DESCRIBE_STRUCT(ChannelStatus, (), (id, name, service, state, error, open_questions, unsent, strangers))
constexpr auto rules(Tag<ChannelStatus>) {
  return std::tuple{
      RuleFor<&ChannelStatus::error>{{.about = "why it fails, and what to do"}},
      RuleFor<&ChannelStatus::open_questions>{{.about = "messages that are being answered or wait"}},
      RuleFor<&ChannelStatus::unsent>{{.about = "messages that wait to be sent"}},
      RuleFor<&ChannelStatus::strangers>{{.about = "people who were given a code that can still be confirmed"}}};
}
const Description& describe(Tag<ChannelStatus>) { return description_of<ChannelStatus>("ChannelStatus"); }

BOOST_DESCRIBE_STRUCT(ConfirmSender, (), (code))
constexpr auto rules(Tag<ConfirmSender>) {
  return std::tuple{RuleFor<&ConfirmSender::code>{{.about = "the six digits that the channel has sent to a stranger"}}};
}
const Description& describe(Tag<ConfirmSender>) { return description_of<ConfirmSender>("ConfirmSender"); }

BOOST_DESCRIBE_STRUCT(ConfirmedSender, (), (channel, sender, name))
constexpr auto rules(Tag<ConfirmedSender>) {
  return std::tuple{RuleFor<&ConfirmedSender::name>{{.about = "what they call themselves there"}}};
}
const Description& describe(Tag<ConfirmedSender>) { return description_of<ConfirmedSender>("ConfirmedSender"); }

namespace {

/// Ids are numbers at some services, so people write them as numbers.
std::set<std::string, std::less<>> ids_in(const json::object& members, std::string_view name) {
  std::set<std::string, std::less<>> ids;
  if (const auto* listed = array_member(members, name)) {
    for (const auto& id : *listed) ids.insert(text_or_json(id));
  }
  return ids;
}

/// Mail addresses are case-insensitive. Unfinished answers are not shown, because sent mails cannot be changed.
void add_mail_settings(const json::object& members, ChannelSettings& settings) {
  settings.smtp = string_or_empty(members, "smtp");
  while (settings.smtp.ends_with('/')) settings.smtp.pop_back();
  settings.user = string_or_empty(members, "user");
  const auto from = string_or_empty(members, "from");
  settings.from = lower_case(from.empty() ? settings.user : from);
  settings.authserv_id = string_or_empty(members, "authserv_id");
  settings.stream = ChannelStream::off;
  std::set<std::string, std::less<>> allow;
  for (const auto& one : settings.allow) allow.insert(lower_case(one));
  settings.allow = std::move(allow);
}

/// Normalises addresses as XMPP servers do.
void add_xmpp_settings(const json::object& members, ChannelSettings& settings) {
  const auto accounts = [](const std::set<std::string, std::less<>>& addresses) {
    std::set<std::string, std::less<>> found;
    for (const auto& address : addresses) found.insert(xmpp_account(address).value_or(address));
    return found;
  };
  settings.user = xmpp_account(string_or_empty(members, "user")).value_or("");
  settings.rooms = accounts(ids_in(members, "rooms"));
  settings.allow = accounts(settings.allow);
}

ChannelSettings common_settings(const Extension& extension) {
  const auto& members = extension.definition.members();
  ChannelSettings settings{.id = extension.id,
                           .name = extension.name,
                           .service = enum_member(members, "service", ChannelService::telegram),
                           .token = string_or_empty(members, "token"),
                           .address = string_or_empty(members, "address"),
                           .agent_id = string_or_empty(members, "agent_id"),
                           .allow = ids_in(members, "allow"),
                           .pairing = is_true(members, "pairing"),
                           .threads = enum_member(members, "threads", ChannelThreads::chat),
                           .stream = enum_member(members, "stream", ChannelStream::draft),
                           .notify = {},
                           .is_persons = extension.source == Source::user};
  while (settings.address.ends_with('/')) settings.address.pop_back();
  for (const auto& name : strings_of(members, "notify")) {
    if (const auto kind = from_text<ChannelNotice>(name)) settings.notify.insert(*kind);
  }
  return settings;
}

}  // namespace

ChannelSettings channel_settings(const Extension& extension) {
  auto settings = common_settings(extension);
  if (settings.service == ChannelService::email) add_mail_settings(extension.definition.members(), settings);
  if (settings.service == ChannelService::xmpp) add_xmpp_settings(extension.definition.members(), settings);
  return settings;
}

}  // namespace agw
