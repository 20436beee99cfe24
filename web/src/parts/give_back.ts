import { tick } from 'svelte';

/** The keyboard goes back to who had it before a dialog opened; where that has gone meanwhile, to the heading of what is shown. */
export function giveBack(before: Element | null): void {
  const holder = before?.isConnected ? before : document.querySelector('main h1');
  if (holder instanceof HTMLElement) holder.focus();
}

/** For what may go with what was pressed in it: the keyboard goes on at `next`, or at the heading of what is shown. */
export async function goOn(next?: () => Element | null | undefined): Promise<void> {
  await tick();
  if (document.activeElement === document.body) giveBack(next?.() ?? null);
}

/** Attached to a question within a form: whose button goes with it goes on in what is edited. */
export function asksIn(question: HTMLElement): () => void {
  const form = question.closest('form');
  return () => void goOn(() => form?.querySelector('textarea, input'));
}
