/** A chat as a file for others: a page that loads and runs nothing, without inputs, results and secrets. */
import { flushSync, mount, unmount } from 'svelte';
import { apiPath, get } from '../../api/client';
import type { Thread, Turn } from '../../api/types';
import { download } from '../../base/download';
import { escapeBidi, escapeInvisible } from '../../base/escape';
import { language, t } from '../../base/language';
import { toasts } from '../../base/toasts.svelte';
import { session } from '../../state/session.svelte';
import { answerData, toolData } from '../../state/timeline';
import { lex } from '../../markdown/blocks';
import { draw } from '../../markdown/diagrams';
import Markdown from '../../markdown/Markdown.svelte';

interface Transcript {
  thread: Thread;
  turns: Turn[];
  next: string | null;
}

// Raw strings: what they hold is in no language.
const styles = String.raw`:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}article{margin:1.5rem 0}small{opacity:.75}.said{white-space:pre-wrap;padding:.5rem .75rem;border-radius:.5rem;background:light-dark(#eef0f3,#262a2e)}pre{overflow-x:auto;padding:.75rem;border-radius:.5rem;background:light-dark(#f3f4f7,#1b1f24)}table{border-collapse:collapse}td,th{border:1px solid gray;padding:.25rem .5rem}blockquote{margin-inline:0;padding-inline-start:1rem;border-inline-start:3px solid gray}h1,h2,h3{line-height:1.25}math[display=block]{margin:1rem 0;overflow-x:auto}img{display:block;max-width:100%;margin:1rem auto;padding:.5rem;background:#fff}`;
const policy = String.raw`default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`;

async function transcript(id: string): Promise<{ title: string; turns: Turn[] }> {
  const turns: Turn[] = [];
  for (let after: string | undefined; ;) {
    const page = await get<Transcript>(apiPath`/threads/${id}/transcript`, { shared: true, after });
    turns.push(...page.turns);
    if (!page.next) return { title: page.thread.title, turns };
    after = page.next;
  }
}

const element = (name: string, text: string, className = ''): HTMLElement =>
  Object.assign(document.createElement(name), { textContent: text, className });

const mathML = 'http://www.w3.org/1998/Math/MathML';
/** How many formulas are drawn of what marked read. */
function formulasIn(read: unknown): number {
  if (typeof read !== 'object' || read === null) return 0;
  const { type, lang } = read as { type?: unknown; lang?: unknown };
  // The text of a picture is shown as it is written.
  if (type === 'image') return 0;
  const isFormula = type === 'math' || (type === 'code' && lang === 'math');
  return Object.values(read).reduce<number>((sum, part) => sum + formulasIn(part), isFormula ? 1 : 0);
}

const briefly = 20;
const maxWaits = 50;

/** Until all formulas are there, or no more of them come: some are shown in another way. */
async function allDrawn(box: HTMLElement, text: string): Promise<void> {
  const wanted = formulasIn(lex(text));
  // What draws them is fetched first, however long that takes.
  if (wanted) await import('../../markdown/Formula.svelte').catch(console.warn);
  let count = 0;
  for (let waits = 0; count < wanted && waits < maxWaits; waits++) {
    const before = count;
    count = box.querySelectorAll('.formula').length;
    if (count > before) waits = 0;
    if (count < wanted) await new Promise((resolve) => setTimeout(resolve, briefly));
  }
  flushSync();
}

/** Formulas as MathML, which needs no script, code without its buttons. */
async function drawn(text: string): Promise<HTMLElement> {
  const box = document.createElement('div');
  const shown = mount(Markdown, { target: box, props: { text } });
  flushSync();
  for (let more; (more = box.querySelector<HTMLElement>('button.more')); flushSync()) more.click();
  await allDrawn(box, text);
  const copy = box.cloneNode(true) as HTMLElement;
  void unmount(shown);
  const diagrams = [...copy.querySelectorAll('.code')].filter(
    (code) => code.querySelector('.bar span')?.textContent === 'mermaid',
  );
  // A formula in a code block stands above its source.
  for (const source of copy.querySelectorAll('.formula ~ pre')) source.remove();
  for (const done of copy.querySelectorAll('input')) done.replaceWith(done.checked ? '☑ ' : '☐ ');
  for (const control of copy.querySelectorAll('button')) control.remove();
  const comments = document.createTreeWalker(copy, NodeFilter.SHOW_COMMENT);
  const found: Node[] = [];
  while (comments.nextNode()) found.push(comments.currentNode);
  for (const comment of found) comment.parentNode?.removeChild(comment);
  for (const one of copy.querySelectorAll('*'))
    for (const { name } of [...one.attributes]) if (!isKept(one, name)) one.removeAttribute(name);
  for (const { style } of copy.querySelectorAll<MathMLElement>('math, math *'))
    for (const property of [...style]) if (!keptStyle.test(property)) style.removeProperty(property);
  for (const diagram of diagrams) await addPicture(diagram);
  return copy;
}

/** How formulas look. The gaps of their tables, and their colors, are styles. */
const ofFormulas =
  /^(accent(under)?|column(align|lines|spacing|span)|depth|dir|display(style)?|encoding|fence|form|height|largeop|linebreak|linethickness|[lr]space|math(background|color|size|variant)|maxsize|minsize|movablelimits|notation|row(lines|spacing|span)|scriptlevel|separator|stretchy|style|symmetric|voffset|width|xmlns)$/;
const keptStyle = /^(border|color$|display$|font-weight$|math-depth$|padding|text-align$|width$)/;

const isKept = (element: Element, attribute: string): boolean =>
  (element.namespaceURI === mathML ? ofFormulas : /^(href|dir|start|colspan|rowspan|align)$/).test(attribute);

/** A diagram as a picture above its source, in which nothing runs. One that cannot be drawn stays as it is written. */
async function addPicture(code: Element): Promise<void> {
  const source = code.querySelector('pre');
  try {
    const { svg, title } = await draw(source?.textContent ?? '', false);
    const picture = document.createElement('img');
    picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    picture.alt = escapeInvisible(title) || t('A diagram, drawn from its source');
    const folded = document.createElement('details');
    folded.append(element('summary', t('Source')), ...(source ? [source] : []));
    code.replaceChildren(picture, folded);
  } catch (error) {
    console.warn('a diagram is shared as it is written:', error);
  }
}

async function article(turn: Turn): Promise<HTMLElement> {
  const box = document.createElement('article');
  const who = turn.role === 'user' ? t('You') : turn.role === 'system' ? t('Note') : t('Assistant');
  box.append(element('small', `${who}, ${new Date(turn.created_at).toLocaleString(language)}`));
  if (turn.role === 'assistant') box.append(await drawn(turn.content));
  else box.append(element('div', escapeBidi(turn.content), 'said'));
  const files = turn.metadata?.attachments;
  if (Array.isArray(files))
    for (const { name } of files as { name: string }[])
      box.append(element('small', t('Attached: {name}', { name: escapeInvisible(name) })));
  return box;
}

/** `turns`: oldest first. Tools are named before the answer that used them. */
async function bodyOf(title: string, turns: Turn[]): Promise<HTMLElement> {
  const body = document.createElement('body');
  body.append(element('h1', escapeInvisible(title)));
  let tools: string[] = [];
  for (const turn of turns) {
    if (answerData(turn).superseded === true) continue;
    if (turn.role === 'tool') {
      const { tool_name: name } = toolData(turn);
      if (typeof name === 'string') tools.push(name);
      continue;
    }
    if (tools.length) {
      const names = [...new Set(tools)].map(escapeInvisible).join(', ');
      body.append(element('small', t('Tools that were used: {names}', { names })));
    }
    tools = [];
    body.append(await article(turn));
  }
  return body;
}

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

export async function sharedFile({ id }: Thread): Promise<File> {
  const { title, turns } = await transcript(id);
  const body = await bodyOf(title, turns);
  const head =
    `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">` +
    `<meta name="viewport" content="width=device-width"><title>${escaped(escapeInvisible(title))}</title><style>${styles}</style>`;
  const page = `<!doctype html>\n<html lang="${language}"><head>${head}</head>${body.outerHTML}</html>\n`;
  // The gateway does not know the tokens of its clients by their text.
  const text = session.token ? page.replaceAll(session.token, '[secret]') : page;
  const name =
    escapeInvisible(title)
      .replace(/[^\p{L}\p{N} _-]+/gu, '')
      .trim()
      .slice(0, 60)
      .trim() || 'chat';
  return new File([text], `${name}.html`, { type: 'text/html' });
}

export async function saveShared(thread: Thread): Promise<void> {
  const file = await sharedFile(thread);
  download(file.name, file, file.type);
  toasts.show(t('Saved without what tools got and gave, and without secrets. Read it before you pass it on.'));
}
