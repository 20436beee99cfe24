/** Global keyboard shortcuts. None is a single letter: those belong to the inbox and to permission requests. */
import { router } from '../../base/router.svelte';
import { threads } from '../../state/threads.svelte';
import { overlays } from './overlays.svelte';

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA)$/.test(target.tagName));

export function listenToShortcuts(): () => void {
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}

function pressed(event: KeyboardEvent): void {
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

/** Steps through the list of chats as last shown, without those deleted since. */
function step(by: number): void {
  const there = new Set(threads.all.map(({ id }) => id));
  const listed = threads.listed.filter(({ id }) => there.has(id));
  const all = listed.length ? listed : threads.all;
  const now = all.findIndex(({ id }) => id === threads.selectedId);
  const next = all[now + by];
  if (next) router.push(['t', next.id]);
}

/** Switches the mode of the second chat if it has the focus, else of the main one, which may be new. */
function switchMode(): void {
  const chat = document.activeElement?.closest('.second') ?? document;
  const other = chat.querySelector<HTMLElement>('.modes input:not(:checked)');
  if (other?.checkVisibility()) other.click();
}
