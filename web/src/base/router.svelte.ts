/** The current route: everything after `#/`, so that back, reload and shared links work. */

export interface Route {
  /** The decoded segments: `['t', '<id>']`. Never empty. */
  path: string[];
  query: URLSearchParams;
}

const home = ['chats'];

/** The segment of a form for a new item: `#/jobs/+new`. No item can have this name, but one can be called `new`. */
export const newItem = '+new';

function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const segments = path.split('/').filter(Boolean).map(decoded);
  return { path: segments.length ? segments : home, query: new URLSearchParams(query) };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The address of a route: `href(['t', id], { turn })`. Members without a value are omitted. */
export function href(path: string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(given).toString();
  return `#/${path.map((segment) => (segment === newItem ? segment : encodeURIComponent(segment))).join('/')}${search && `?${search}`}`;
}

class Router {
  route = $state.raw(parseRoute(location.hash));
  /** The heading of the view, for the title of the browser's tab. Empty for chats. */
  title = $state('');

  constructor() {
    addEventListener('hashchange', () => (this.route = parseRoute(location.hash)));
  }

  get view(): string {
    return this.route.path[0] ?? 'chats';
  }

  push(path: string[], query?: Record<string, string | undefined>): void {
    location.hash = href(path, query);
  }

  /** Navigates without a new history entry. */
  replace(path: string[], query?: Record<string, string | undefined>): void {
    history.replaceState(null, '', href(path, query));
    this.route = parseRoute(location.hash);
  }

  /** Replaces the query without a new history entry: for filters. */
  setQuery(query: Record<string, string | undefined>): void {
    this.replace(this.route.path, query);
  }
}

export const router = new Router();
