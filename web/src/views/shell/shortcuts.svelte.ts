/** Global keyboard shortcuts. Single letters work only in the inbox, where they can be turned off. */
import { patch } from '../../api/client';
import { router } from '../../base/router.svelte';
import { tryOrToast } from '../../base/toasts.svelte';
import { threads } from '../../state/threads.svelte';
import { overlays } from './overlays.svelte';

export const shortcuts: [keys: string, what: string][] = [
  ['Ctrl K', 'Find chats, pages and commands'],
  ['Ctrl Shift O', 'New chat'],
  ['Ctrl .', 'Switch between Plan and Act'],
  ['Alt ↑ ↓', 'Previous, next chat'],
  ['Enter · Shift Enter', 'Send · New line'],
  ['Ctrl Enter · Ctrl Shift Enter', 'Add to the answer · Interrupt it'],
  ['↑ in an empty message', 'Recall the last message'],
  ['/ and @', 'Insert a command, a file'],
  ['Esc', 'Close the dialog, or stop the answer'],
  ['y t p n', 'When an agent asks: allow once, allow in this chat, propose, deny'],
  ['j k a r e', 'In the inbox: down, up, apply, reject, edit'],
  ['?', 'Show this list'],
];

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function listenToShortcuts(): () => void {
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
  if (control && shift && key.toLowerCase() === 'o') return () => router.push(['new']);
  if (control && key === '.') return switchMode;
  if (alt && !control && key === 'ArrowUp') return () => step(-1);
  if (alt && !control && key === 'ArrowDown') return () => step(1);
  if (key === '?' && !typing(event.target)) return () => (overlays.open = 'keys');
  return undefined;
}

/** Steps through the list as it was last shown, without deleted threads. */
function step(by: number): void {
  const there = new Set(threads.all.map(({ id }) => id));
  const listed = threads.listed.filter(({ id }) => there.has(id));
  const all = listed.length ? listed : threads.all;
  const now = all.findIndex(({ id }) => id === threads.selectedId);
  const next = all[now + by];
  if (next) router.push(['t', next.id]);
}

function switchMode(): void {
  const thread = threads.selected;
  if (!thread) return;
  const mode = thread.mode === 'plan' ? 'act' : 'plan';
  void tryOrToast(() => patch(`/threads/${thread.id}`, { mode }));
}
