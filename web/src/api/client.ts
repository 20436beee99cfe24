/** Requests to the gateway that served this page, authorized by this browser's token. */
import { t } from '../base/language';

/** An error response, with the gateway's message. The status is 0 if no response arrived. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly details: { path: string; message: string }[] = [],
    /** The parsed body of the response; null if there is none. */
    readonly body: unknown = null,
  ) {
    super(message);
  }

  /** The message with its details, if there are any. */
  get fullMessage(): string {
    const reasons = this.details.map(({ path, message }) =>
      message.startsWith(path) ? message : `${path} ${message}`.trim(),
    );
    return reasons.length ? `${this.message}: ${reasons.join('; ')}` : this.message;
  }

  /** Whether sending the request again later may succeed. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 503 || this.status === 408;
  }
}

export interface RequestOptions {
  query?: Record<string, string | number | boolean | null | undefined>;
  body?: unknown;
  /** An idempotency key: with the same key the gateway returns the same response, so the request can be repeated. */
  key?: string;
  /** The request is completed even if the page is closed. */
  keepalive?: boolean;
}

let token: string | null = null;
let onUnauthorized: () => void = () => {};

/** Sets the token for further requests, and the function to call when the gateway rejects it. */
export function authorize(newToken: string | null, whenUnauthorized: () => void = onUnauthorized): void {
  token = newToken;
  onUnauthorized = whenUnauthorized;
}

export async function request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, String(value));
  }
  const headers = new Headers();
  const asked = token;
  if (asked) headers.set('authorization', `Bearer ${asked}`);
  if (options.key) headers.set('idempotency-key', options.key);
  const { body } = options;
  const raw = body instanceof Blob;
  if (raw) headers.set('content-type', body.type || 'application/octet-stream');
  else if (body !== undefined) headers.set('content-type', 'application/json');
  let response: Response;
  try {
    const init: RequestInit = {
      method,
      headers,
      body: raw ? body : body === undefined ? null : JSON.stringify(body),
      credentials: 'omit',
      keepalive: options.keepalive ?? false,
    };
    response = await (method === 'GET' || options.key ? fetchRetrying(url, init) : fetch(url, init));
  } catch {
    throw unreachable();
  }
  if (response.ok) return response;
  if (response.status === 401 && asked && asked === token) onUnauthorized();
  throw await toApiError(response);
}

const suspectFor = 15_000;
const suspectTimeout = 1500;
let suspectUntil = 0;
const pending = new Set<AbortController>();

/**
 * Repeats pending requests on other connections, because open ones may be dead after the device has slept. For
 * `suspectFor` milliseconds, further requests are repeated after `suspectTimeout` without a response. Affects only
 * requests that may be repeated.
 */
export function suspectConnections(): void {
  suspectUntil = Date.now() + suspectFor;
  for (const controller of pending) controller.abort();
}

/** Retries on another connection if the current one seems dead. Only for requests that may be repeated. */
async function fetchRetrying(url: URL, init: RequestInit): Promise<Response> {
  for (;;) {
    const controller = new AbortController();
    pending.add(controller);
    const timer = Date.now() < suspectUntil ? setTimeout(() => controller.abort(), suspectTimeout) : undefined;
    try {
      return await fetch(url, { ...init, signal: controller.signal });
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
      pending.delete(controller);
    }
  }
}

const unreachable = (): ApiError => new ApiError(0, t('The gateway could not be reached.'));

async function toApiError(response: Response): Promise<ApiError> {
  try {
    const body = (await response.json()) as { error?: unknown; details?: unknown };
    const details = Array.isArray(body.details) ? (body.details as ApiError['details']) : [];
    return new ApiError(response.status, String(body.error ?? response.statusText), details, body);
  } catch {
    return new ApiError(response.status, t('The gateway responded with status {status}.', { status: response.status }));
  }
}

async function json<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
  const response = await request(method, path, options);
  if (response.status === 204) return undefined as T;
  // The connection can be cut in the middle of the response.
  return (await response.json().catch(() => {
    throw unreachable();
  })) as T;
}

export const get = <T>(path: string, query?: RequestOptions['query']): Promise<T> =>
  json('GET', path, query && { query });
export const post = <T = unknown>(path: string, body?: unknown, options: RequestOptions = {}): Promise<T> =>
  json('POST', path, { ...options, ...(body !== undefined && { body }) });
export const put = <T = unknown>(path: string, body: unknown): Promise<T> => json('PUT', path, { body });
export const patch = <T = unknown>(path: string, body: unknown): Promise<T> => json('PATCH', path, { body });
export const remove = (path: string, keepalive = false): Promise<void> => json('DELETE', path, { keepalive });

/** A path with encoded segments: `` apiPath`/agents/${name}/soul` ``. */
export function apiPath(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce(
    (path, part, i) => path + part + (i < values.length ? encodeURIComponent(values[i] ?? '') : ''),
    '',
  );
}
