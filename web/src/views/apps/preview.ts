/**
 * The first page of an app as a single document, with its styles, scripts, pictures and fonts inlined. It is shown in a
 * frame without network access: requests from there would fail, because they need the token.
 */
import { apiPath } from '../../api/client';
import { t } from '../../base/language';
import { session } from '../../state/session.svelte';

export interface Preview {
  html: string;
  /** Whether files of the app are left out. */
  isPartial: boolean;
}

const maxFiles = 100;
const maxBytes = 8_000_000;

/** Disables links to other pages, which could not be loaded. */
const guard =
  '<script>addEventListener("click",function(e){var a=e.target.closest&&e.target.closest("a[href]");' +
  'if(a&&a.getAttribute("href")[0]!=="#")e.preventDefault()})</script>';

const attribute = (tag: string, name: string): string | undefined => {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag);
  return (found?.[1] ?? found?.[2] ?? found?.[3])?.replace(/&amp;/g, '&');
};

/** Replaces each match of `pattern` with the result of `replaced`, unless that is undefined. */
async function replaceAll(
  text: string,
  pattern: RegExp,
  replaced: (...found: string[]) => Promise<string | undefined>,
): Promise<string> {
  const made = await Promise.all(
    [...text.matchAll(pattern)].map(async (found) => (await replaced(...found)) ?? found[0]),
  );
  let next = 0;
  return text.replace(pattern, () => made[next++] ?? '');
}

class App {
  isPartial = false;
  #left = maxFiles;
  #bytes = maxBytes;

  constructor(readonly name: string) {}

  get #root(): string {
    return apiPath`/apps/${this.name}/proxy/`;
  }

  /** Resolves a path `named` in the file `from`, relative to the app. undefined for addresses outside the app. */
  path(named: string, from: string): string | undefined {
    const base = `http://app.invalid/${from}`;
    if (!URL.canParse(named, base)) return undefined;
    const { origin, pathname, search } = new URL(named, base);
    if (origin !== 'http://app.invalid') return undefined;
    return (pathname.startsWith(this.#root) ? pathname.slice(this.#root.length) : pathname.slice(1)) + search;
  }

  /**
   * Reads a file of the app. Does not use the API client: a 401 from the app must not unpair this browser. Follows no
   * redirects: the app could direct the request, with its token, to the gateway's API.
   */
  async read(path: string): Promise<Blob> {
    const headers = { authorization: `Bearer ${session.token}` };
    const init: RequestInit = { headers, credentials: 'omit', cache: 'no-store', redirect: 'manual' };
    const response = await fetch(this.#root + path, init);
    if (response.type === 'opaqueredirect')
      throw new Error(t('The app redirects to another address, which is not shown here.'));
    if (!response.ok) throw new Error(t('The app responded with status {status}.', { status: response.status }));
    return response.blob();
  }

  /** Reads a file that another one names. undefined if it is missing, outside the app, or beyond the limits. */
  async named(name: string, from: string): Promise<{ path: string; content: Blob } | undefined> {
    if (/^(data|blob|javascript|about):/i.test(name)) return undefined;
    const path = this.path(name, from);
    const content = path !== undefined && this.#left-- > 0 ? await this.read(path).catch(() => undefined) : undefined;
    this.#bytes -= content?.size ?? 0;
    if (path !== undefined && content && this.#bytes >= 0) return { path, content };
    this.isPartial = true;
    return undefined;
  }
}

const asData = (content: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error());
    reader.readAsDataURL(content);
  });

/** Inlines the styles, pictures and fonts that a style sheet names. */
async function styles(app: App, css: string, from: string): Promise<string> {
  const imported = /@import\s+(?:url\()?\s*["']?([^"')\s;]+)["']?\s*\)?\s*;/gi;
  const all = await replaceAll(css, imported, async (_, name = '') => {
    const file = await app.named(name, from);
    return file ? styles(app, await file.content.text(), file.path) : undefined;
  });
  return replaceAll(all, /url\(\s*["']?([^"')]+?)["']?\s*\)/gi, async (_, name = '') => {
    const file = name.startsWith('#') ? undefined : await app.named(name, from);
    return file && `url("${await asData(file.content)}")`;
  });
}

/** Matches modules that import others: the frame cannot load those. */
const loadsOthers = /^\s*(?:import\b|export\b[^;]*\bfrom\b)|\bimport\(/m;

export async function previewOf(name: string, first: string): Promise<Preview> {
  const app = new App(name);
  let html = await (await app.read(first)).text();
  html = await replaceAll(html, /<link\b[^>]*>/gi, async (tag = '') => {
    const href = attribute(tag, 'href');
    if (!href || !/\bstylesheet\b/i.test(attribute(tag, 'rel') ?? '')) return '';
    const file = await app.named(href, first);
    if (!file) return '';
    const css = await styles(app, await file.content.text(), file.path);
    return `<style media="${attribute(tag, 'media') ?? 'all'}">${css.replace(/<\/style/gi, '<\\/style')}</style>`;
  });
  html = await replaceAll(html, /(<style\b[^>]*>)([\s\S]*?)(?=<\/style)/gi, async (_, tag = '', css = '') =>
    css.includes('data:') ? undefined : tag + (await styles(app, css, first)),
  );
  html = await replaceAll(
    html,
    /(<(?:img|input)\b[^>]*?\ssrc\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi,
    async (tag, before) => {
      const file = await app.named(attribute(tag ?? '', 'src') ?? '', first);
      return file && `${before}"${await asData(file.content)}"`;
    },
  );
  const deferred: string[] = [];
  html = await replaceAll(html, /<script\b([^>]*)>\s*<\/script\s*>/gi, async (tag = '') => {
    const source = attribute(tag, 'src');
    if (!source) return undefined;
    const code = await (await app.named(source, first))?.content.text();
    const isModule = attribute(tag, 'type') === 'module';
    if (code === undefined) return '';
    if (isModule && loadsOthers.test(code)) app.isPartial = true;
    const script = `<script${isModule ? ' type="module"' : ''}>${code.replace(/<\/script/gi, '<\\/script')}</script>`;
    if (isModule || !/\sdefer\b/i.test(tag)) return script;
    deferred.push(script);
    return '';
  });
  return { html: html + deferred.join('') + guard, isPartial: app.isPartial };
}
