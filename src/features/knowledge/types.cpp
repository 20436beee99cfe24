#include "features/knowledge/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(KnowledgePage, (), (slug, title, summary, category, scope, tags, updated_at, words))
constexpr auto rules(Tag<KnowledgePage>) {
  return std::tuple{RuleFor<&KnowledgePage::scope>{{.about = "shared, or agent:<name>"}}};
}
const Description& describe(Tag<KnowledgePage>) { return description_of<KnowledgePage>("KnowledgePage"); }

BOOST_DESCRIBE_STRUCT(KnowledgeLine, (), (slug, title, summary, updated_at))
const Description& describe(Tag<KnowledgeLine>) { return description_of<KnowledgeLine>("KnowledgeLine"); }

BOOST_DESCRIBE_STRUCT(KnowledgeCategory, (), (name, pages))
const Description& describe(Tag<KnowledgeCategory>) { return description_of<KnowledgeCategory>("KnowledgeCategory"); }

BOOST_DESCRIBE_STRUCT(KnowledgeOverview, (), (categories, page_count, updated_at))
const Description& describe(Tag<KnowledgeOverview>) { return description_of<KnowledgeOverview>("KnowledgeOverview"); }

BOOST_DESCRIBE_STRUCT(KnowledgeHit, (), (slug, title, snippet, score, scope))
constexpr auto rules(Tag<KnowledgeHit>) {
  return std::tuple{RuleFor<&KnowledgeHit::score>{{.about = "more is better, among the results of one search"}}};
}
const Description& describe(Tag<KnowledgeHit>) { return description_of<KnowledgeHit>("KnowledgeHit"); }

BOOST_DESCRIBE_STRUCT(Article, (), (slug, title, summary, content, html, links, backlinks, sources, updated_at))
constexpr auto rules(Tag<Article>) {
  return std::tuple{RuleFor<&Article::content>{{.about = "Markdown"}},
                    RuleFor<&Article::html>{{.about = "safe to show"}},
                    RuleFor<&Article::links>{{.about = "slugs of the pages that it links to"}},
                    RuleFor<&Article::backlinks>{{.about = "slugs of the pages that link to it"}}};
}
const Description& describe(Tag<Article>) { return description_of<Article>("Article"); }

BOOST_DESCRIBE_STRUCT(KnowledgeLink, (), (scope, slug, target_scope, target))
constexpr auto rules(Tag<KnowledgeLink>) {
  return std::tuple{RuleFor<&KnowledgeLink::target>{{.about = "the slug of the page that it leads to"}}};
}
const Description& describe(Tag<KnowledgeLink>) { return description_of<KnowledgeLink>("KnowledgeLink"); }

BOOST_DESCRIBE_STRUCT(KnowledgeStats, (), (pages, sources, words, links, broken_links, orphans, log_entries))
constexpr auto rules(Tag<KnowledgeStats>) {
  return std::tuple{RuleFor<&KnowledgeStats::links>{{.about = "broken ones too"}},
                    RuleFor<&KnowledgeStats::orphans>{{.about = "pages that no other page links to"}}};
}
const Description& describe(Tag<KnowledgeStats>) { return description_of<KnowledgeStats>("KnowledgeStats"); }

BOOST_DESCRIBE_STRUCT(BrokenLink, (), (slug, target))
constexpr auto rules(Tag<BrokenLink>) {
  return std::tuple{RuleFor<&BrokenLink::slug>{{.about = "the page that it stands on"}}};
}
const Description& describe(Tag<BrokenLink>) { return description_of<BrokenLink>("BrokenLink"); }

BOOST_DESCRIBE_STRUCT(KnowledgeCondition, (), (pages, orphans, broken_links, stale, uncompiled))
constexpr auto rules(Tag<KnowledgeCondition>) {
  return std::tuple{
      RuleFor<&KnowledgeCondition::orphans>{{.about = "nothing links to them; raw: cannot become a page"}},
      RuleFor<&KnowledgeCondition::stale>{{.about = "not what their source says now"}},
      RuleFor<&KnowledgeCondition::uncompiled>{{.about = "raw files without a page"}}};
}
const Description& describe(Tag<KnowledgeCondition>) {
  return description_of<KnowledgeCondition>("KnowledgeCondition");
}

BOOST_DESCRIBE_STRUCT(KnowledgeHealth, (), (shared, agents, raw))
const Description& describe(Tag<KnowledgeHealth>) { return description_of<KnowledgeHealth>("KnowledgeHealth"); }

BOOST_DESCRIBE_STRUCT(KnowledgeEvent, (), (at, op, title, detail))
const Description& describe(Tag<KnowledgeEvent>) { return description_of<KnowledgeEvent>("KnowledgeEvent"); }

BOOST_DESCRIBE_STRUCT(EntityPage, (), (slug, title, scope))
const Description& describe(Tag<EntityPage>) { return description_of<EntityPage>("EntityPage"); }

BOOST_DESCRIBE_STRUCT(Entity, (), (id, name, type, pages))
const Description& describe(Tag<Entity>) { return description_of<Entity>("Entity"); }

BOOST_DESCRIBE_STRUCT(KnowledgeFilter, (), (scope))
constexpr auto rules(Tag<KnowledgeFilter>) {
  return std::tuple{RuleFor<&KnowledgeFilter::scope>{{.about = "shared, or agent:<name>; all when omitted"}}};
}
const Description& describe(Tag<KnowledgeFilter>) { return description_of<KnowledgeFilter>("KnowledgeFilter"); }

BOOST_DESCRIBE_STRUCT(KnowledgeQuery, (), (q, limit, scope))
constexpr auto rules(Tag<KnowledgeQuery>) {
  return std::tuple{RuleFor<&KnowledgeQuery::q>{{.about = "words or a question"}},
                    RuleFor<&KnowledgeQuery::limit>{{.about = "100 when omitted", .has_default = true}},
                    RuleFor<&KnowledgeQuery::scope>{{.about = "shared, or agent:<name>; all when omitted"}}};
}
const Description& describe(Tag<KnowledgeQuery>) { return description_of<KnowledgeQuery>("KnowledgeQuery"); }

BOOST_DESCRIBE_STRUCT(KnowledgeLogQuery, (), (limit))
constexpr auto rules(Tag<KnowledgeLogQuery>) {
  return std::tuple{RuleFor<&KnowledgeLogQuery::limit>{{.about = "100 when omitted", .has_default = true}}};
}
const Description& describe(Tag<KnowledgeLogQuery>) { return description_of<KnowledgeLogQuery>("KnowledgeLogQuery"); }

BOOST_DESCRIBE_STRUCT(EntityQuery, (), (q, type))
constexpr auto rules(Tag<EntityQuery>) { return std::tuple{RuleFor<&EntityQuery::q>{{.about = "a part of the name"}}}; }
const Description& describe(Tag<EntityQuery>) { return description_of<EntityQuery>("EntityQuery"); }

}  // namespace agw
