/**
 * The first page of an app as one text, with the styles, scripts, pictures and fonts that it names: it is shown in a frame
 * without network, whose requests nobody would answer, because they need the token.
 */
import { apiPath } from '../../api/client';
import { t } from '../../base/language';
import { session } from '../../state/session.svelte';

export interface Preview {
  html: string;
  /** Something is left out. */
  isPartial: boolean;
}

const maxFiles = 100;
const maxBytes = 8_000_000;

/** Links lead nowhere, as their pages could not be loaded. */
const guard =
  '<script>addEventListener("click",function(e){var a=e.target.closest&&e.target.closest("a[href]");' +
  'if(a&&a.getAttribute("href")[0]!=="#")e.preventDefault()})</script>';

const attribute = (tag: string, name: string): string | undefined => {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag);
  return (found?.[1] ?? found?.[2] ?? found?.[3])?.replace(/&amp;/g, '&');
};

/** Replaces what `pattern` finds by what `replaced` makes of it, if that is not undefined. */
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

  /** A path that a file of the app names, relative to the app; undefined for what is not the app's. */
  path(named: string, from: string): string | undefined {
    const base = `http://app.invalid/${from}`;
    if (!URL.canParse(named, base)) return undefined;
    const { origin, pathname, search } = new URL(named, base);
    if (origin !== 'http://app.invalid') return undefined;
    return (pathname.startsWith(this.#root) ? pathname.slice(this.#root.length) : pathname.slice(1)) + search;
  }

  /**
   * Not a request of the page's own: an app may answer 401 without the browser being unpaired. No redirect is followed: the
   * token would go with it to wherever the app leads, into the gateway itself.
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

  /** A file that another one names; undefined for what is missing, too much, or not the app's. */
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

/** Styles with the styles, pictures and fonts that they name. */
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

/** Other scripts cannot be loaded by it. */
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
