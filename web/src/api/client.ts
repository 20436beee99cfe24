/** Requests to the gateway that served this page, with its token. */

/** An answer that is an error, with the gateway's own words. Status 0: no answer came at all. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly details: { path: string; message: string }[] = [],
  ) {
    super(message);
  }

  /** The message, and what exactly is wrong where that is known. */
  get whole(): string {
    const reasons = this.details.map(({ path, message }) => (message.startsWith(path) ? message : `${path} ${message}`.trim()));
    return reasons.length ? `${this.message}: ${reasons.join('; ')}` : this.message;
  }

  /** Sending it again later may work. */
  get passing(): boolean {
    return this.status === 0 || this.status === 503 || this.status === 408;
  }
}

export interface Wanted {
  query?: Record<string, string | number | boolean | null | undefined>;
  body?: unknown;
  /** The gateway answers the same key with the same answer, so that it can be sent again. */
  key?: string;
  /** Finishes although the page is left. */
  keepalive?: boolean;
}

let token: string | null = null;
let refused: () => void = () => {};

/** Who asks from now on, and what to do when the token does not count any more. */
export function authorize(newToken: string | null, whenRefused: () => void = refused): void {
  token = newToken;
  refused = whenRefused;
}

export async function request(method: string, path: string, wanted: Wanted = {}): Promise<Response> {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(wanted.query ?? {})) {
    if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, String(value));
  }
  const headers = new Headers();
  const asked = token;
  if (asked) headers.set('authorization', `Bearer ${asked}`);
  if (wanted.key) headers.set('idempotency-key', wanted.key);
  const { body } = wanted;
  const raw = body instanceof Blob;
  if (raw) headers.set('content-type', body.type || 'application/octet-stream');
  else if (body !== undefined) headers.set('content-type', 'application/json');
  let answer: Response;
  try {
    const init: RequestInit = {
      method,
      headers,
      body: raw ? body : body === undefined ? null : JSON.stringify(body),
      credentials: 'omit',
      keepalive: wanted.keepalive ?? false,
    };
    answer = await (method === 'GET' || wanted.key ? insistently(url, init) : fetch(url, init));
  } catch {
    throw new Refusal(0, 'The gateway could not be reached.');
  }
  if (answer.ok) return answer;
  if (answer.status === 401 && asked && asked === token) refused();
  throw await refusalOf(answer);
}

const suspectFor = 15_000;
const answerWithin = 1500;
let suspectUntil = 0;
const underWay = new Set<AbortController>();

/** Connections may be dead without saying so, as after a sleep: for a while nothing is waited for long on one of them. */
export function suspectConnections(): void {
  suspectUntil = Date.now() + suspectFor;
  for (const attempt of underWay) attempt.abort();
}

/** Asks once more, on another connection, where one seems dead: only what may be asked twice. */
async function insistently(url: URL, init: RequestInit): Promise<Response> {
  for (;;) {
    const attempt = new AbortController();
    underWay.add(attempt);
    const timer = Date.now() < suspectUntil ? setTimeout(() => attempt.abort(), answerWithin) : undefined;
    try {
      return await fetch(url, { ...init, signal: attempt.signal });
    } catch (error) {
      if (!attempt.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
      underWay.delete(attempt);
    }
  }
}

async function refusalOf(answer: Response): Promise<Refusal> {
  try {
    const body = (await answer.json()) as { error?: unknown; details?: unknown };
    const details = Array.isArray(body.details) ? (body.details as Refusal['details']) : [];
    return new Refusal(answer.status, String(body.error ?? answer.statusText), details);
  } catch {
    return new Refusal(answer.status, `The gateway answered ${answer.status}.`);
  }
}

async function json<T>(method: string, path: string, wanted?: Wanted): Promise<T> {
  const answer = await request(method, path, wanted);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}

export const get = <T>(path: string, query?: Wanted['query']): Promise<T> => json('GET', path, query && { query });
export const post = <T = unknown>(path: string, body?: unknown, wanted: Wanted = {}): Promise<T> =>
  json('POST', path, { ...wanted, ...(body !== undefined && { body }) });
export const put = <T = unknown>(path: string, body: unknown): Promise<T> => json('PUT', path, { body });
export const patch = <T = unknown>(path: string, body: unknown): Promise<T> => json('PATCH', path, { body });
export const remove = (path: string, keepalive = false): Promise<void> => json('DELETE', path, { keepalive });

/** A path with its segments encoded: `` at`/agents/${name}/soul` ``. */
export function at(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((path, part, i) => path + part + (i < values.length ? encodeURIComponent(values[i] ?? '') : ''), '');
}
