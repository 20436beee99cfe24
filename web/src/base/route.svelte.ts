/** Where the reader is: everything behind `#/`, so that back, reload and a sent address lead to the same place. */

export interface Route {
  /** The segments, decoded: `['t', '<id>']`. Never empty. */
  path: string[];
  query: URLSearchParams;
}

const home = ['chats'];

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

/** The address of a place: `href(['t', id], { turn })`. Members without a value are left out. */
export function href(path: string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

class Place {
  now = $state.raw(parseRoute(location.hash));

  constructor() {
    addEventListener('hashchange', () => (this.now = parseRoute(location.hash)));
  }

  get view(): string {
    return this.now.path[0] ?? 'chats';
  }

  go(path: string[], query?: Record<string, string | undefined>): void {
    location.hash = href(path, query);
  }

  /** Goes there without a step in the history. */
  replace(path: string[], query?: Record<string, string | undefined>): void {
    history.replaceState(null, '', href(path, query));
    this.now = parseRoute(location.hash);
  }

  /** Changes the query alone, without a step in the history: for filters. */
  filter(query: Record<string, string | undefined>): void {
    this.replace(this.now.path, query);
  }
}

export const place = new Place();
