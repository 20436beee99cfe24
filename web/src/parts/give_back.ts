import { tick } from 'svelte';

/** What has the keyboard, or had it when it was taken off the page. */
let holder: Element | null = null;

addEventListener('focusin', ({ target }) => (holder = target as Element));
addEventListener('focusout', () =>
  // Whose element is taken off is told of it while that is still there.
  queueMicrotask(() => {
    if (holder?.isConnected && holder !== document.activeElement) holder = null;
  }),
);

/** The keyboard goes back to who had it before a dialog opened; where that cannot have it any more, to the heading of what is shown. */
export function giveBack(before: Element | null): void {
  if (before?.isConnected && before instanceof HTMLElement) before.focus();
  if (document.activeElement === before) return;
  const headings = [...document.querySelectorAll<HTMLElement>('main h1')];
  headings.find((heading) => heading.checkVisibility())?.focus();
}

/** For what may go with what was pressed in it: the keyboard goes on at `next`, or at the heading of what is shown. */
export async function goOn(next?: () => Element | null | undefined): Promise<void> {
  await tick();
  if (document.activeElement === document.body) giveBack(next?.() ?? null);
}

/** Attached to what may go while it has the keyboard: that goes on at what `next` finds where it stood, or at the heading. */
export const passesOn =
  (next?: (there: Element) => Element | null | undefined) =>
  (element: HTMLElement): (() => void) => {
    const there = element.parentElement;
    return () => {
      if (element.contains(holder)) void goOn(() => there && next?.(there));
    };
  };

/** For a question within a form: goes on in what is edited. */
export const asksIn = passesOn((there) => there.closest('form')?.querySelector('textarea, input'));

/** For what stands in a conversation: goes on in that. */
export function reads(element: HTMLElement): () => void {
  const conversation = element.closest('[role=log]');
  return passesOn(() => conversation)(element);
}
