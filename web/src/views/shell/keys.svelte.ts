/** Keys that work everywhere. Letters alone work only in the inbox, and can be switched off there. */
import { patch } from '../../api/client';
import { place } from '../../base/route.svelte';
import { attempt } from '../../base/toasts.svelte';
import { threads } from '../../state/threads.svelte';
import { overlays } from './overlays.svelte';

export const keys: [keys: string, what: string][] = [
  ['Ctrl K', 'Commands, threads, pages: go anywhere'],
  ['Ctrl Shift O', 'New chat'],
  ['Ctrl .', 'Switch the thread between plan and act'],
  ['Alt ↑ ↓', 'The thread above, below'],
  ['Enter · Shift Enter', 'Send · a new line'],
  ['↑ in an empty message', 'Bring back the last message'],
  ['/ and @', 'Commands and files, in a message'],
  ['Esc', 'Close what lies on top; else stop the answer'],
  ['j k a r e', 'In the inbox: down, up, apply, reject, edit'],
  ['?', 'This list'],
];

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function listenToKeys(): () => void {
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}

function pressed(event: KeyboardEvent): void {
  if (event.isComposing || event.keyCode === 229) return;
  const command = commandOf(event);
  if (!command) return;
  event.preventDefault();
  command();
}

function commandOf(event: KeyboardEvent): (() => void) | undefined {
  const { key, altKey: alt, shiftKey: shift } = event;
  const control = event.ctrlKey || event.metaKey;
  if (control && !shift && !alt && key === 'k') return () => (overlays.open = 'palette');
  if (control && shift && key.toLowerCase() === 'o') return () => place.go(['new']);
  if (control && key === '.') return switchMode;
  if (alt && !control && key === 'ArrowUp') return () => step(-1);
  if (alt && !control && key === 'ArrowDown') return () => step(1);
  if (key === '?' && !typing(event.target)) return () => (overlays.open = 'keys');
  return undefined;
}

/** In the order of the list as it was shown last, without what was deleted since. */
function step(by: number): void {
  const there = new Set(threads.all.map(({ id }) => id));
  const listed = threads.listed.filter(({ id }) => there.has(id));
  const all = listed.length ? listed : threads.all;
  const now = all.findIndex(({ id }) => id === threads.open);
  const next = all[now + by];
  if (next) place.go(['t', next.id]);
}

function switchMode(): void {
  const thread = threads.reading;
  if (!thread) return;
  const mode = thread.mode === 'plan' ? 'act' : 'plan';
  void attempt(() => patch(`/threads/${thread.id}`, { mode }));
}
