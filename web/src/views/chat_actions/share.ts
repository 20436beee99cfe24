/** Exports a chat for others, as a static page that loads nothing. Omits tool inputs and results, and secrets. */
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
import { documentOf, fileName, removeAttributes, removeComments } from '../../shared/contents';

interface Transcript {
  thread: Thread;
  turns: Turn[];
  next: string | null;
}

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

/** The number of formulas in the tokens of marked that will be rendered. */
function formulasIn(read: unknown): number {
  if (typeof read !== 'object' || read === null) return 0;
  const { type, lang } = read as { type?: unknown; lang?: unknown };
  // The alternative text of a picture is not rendered.
  if (type === 'image') return 0;
  const isFormula = type === 'math' || (type === 'code' && lang === 'math');
  return Object.values(read).reduce<number>((sum, part) => sum + formulasIn(part), isFormula ? 1 : 0);
}

const briefly = 20;
const maxWaits = 50;

/** Waits until all formulas are rendered, or no more appear: some are shown in another form. */
async function allDrawn(box: HTMLElement, text: string): Promise<void> {
  const wanted = formulasIn(lex(text));
  // Loads the renderer first, because that may take arbitrarily long.
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

/** Renders Markdown to static HTML: formulas as MathML, which needs no script, and code without its buttons. */
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
  // A formula from a code block is followed by its source, which is removed.
  for (const source of copy.querySelectorAll('.formula ~ pre')) source.remove();
  for (const done of copy.querySelectorAll('input')) done.replaceWith(done.checked ? '☑ ' : '☐ ');
  for (const control of copy.querySelectorAll('button')) control.remove();
  removeComments(copy);
  removeAttributes(copy);
  for (const diagram of diagrams) await addPicture(diagram);
  return copy;
}

/** Puts a static picture of a diagram above its source. If it cannot be drawn, only the source remains. */
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

/** `turns`: oldest first. The names of tools precede the answer that used them. */
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

export async function sharedFile({ id }: Thread): Promise<File> {
  const { title, turns } = await transcript(id);
  const page = documentOf(title, language, (await bodyOf(title, turns)).outerHTML);
  // The gateway cannot remove this token: it does not store the text of its clients' tokens.
  const text = session.token ? page.replaceAll(session.token, '[secret]') : page;
  return new File([text], fileName(title), { type: 'text/html' });
}

export function save(file: File): void {
  download(file.name, file, file.type);
  toasts.show(t('Saved without what tools got and gave, and without secrets. Read it before you pass it on.'));
}

export const saveShared = async (thread: Thread): Promise<void> => save(await sharedFile(thread));
