/** Knowledge as the gateway tells of it. */
export interface Index {
  categories: { name: string; pages: { slug: string; title: string; summary: string | null; updated_at: string | null }[] }[];
  page_count: number;
  updated_at: string | null;
}

export interface Found {
  slug: string;
  title: string;
  snippet: string;
  score: number;
  scope: string;
}

/** A reference to a page: its slug, alone or with what is known of it. */
export type PageReference = string | { slug: string; title?: string; scope?: string };

export const slugOf = (page: PageReference): string => (typeof page === 'string' ? page : page.slug);
export const titleOf = (page: PageReference): string => (typeof page === 'string' ? page : (page.title ?? page.slug));

export interface Article {
  slug: string;
  title: string;
  summary: string | null;
  content: string;
  links: PageReference[];
  backlinks: PageReference[];
  sources: unknown[];
  updated_at: string | null;
}

/** Of a scope: how many pages, and which of them need care. */
export interface ScopeHealth {
  pages: number;
  orphans: unknown[];
  broken_links: unknown[];
  stale: unknown[];
  uncompiled: unknown[];
}

export interface Health {
  shared: ScopeHealth;
  agents: Record<string, ScopeHealth>;
  raw: ScopeHealth;
}

export interface LogEntry {
  at: string;
  op: string;
  title: string | null;
  detail: string | null;
}

export interface Entity {
  id: string;
  name: string;
  type: string | null;
  pages: { slug: string; title: string; scope: string }[];
}

/** A list's entry in words, whatever it is made of. */
export function inWords(entry: unknown): string {
  if (typeof entry === 'string') return entry;
  return Object.values((entry ?? {}) as Record<string, unknown>).filter((value) => typeof value === 'string').join(' → ');
}

/** The page that an entry speaks of, where it names one. */
export function pageOf(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  const { slug, page, from } = (entry ?? {}) as Record<string, unknown>;
  return [slug, page, from].find((value): value is string => typeof value === 'string');
}
