import { tick } from 'svelte';

/** The focused element, or the last one if it was removed while focused. */
let lastFocused: Element | null = null;

addEventListener('focusin', ({ target }) => (lastFocused = target as Element));
addEventListener('focusout', () =>
  // A removed element receives this event while it is still in the document.
  queueMicrotask(() => {
    if (lastFocused?.isConnected && lastFocused !== document.activeElement) lastFocused = null;
  }),
);

/** A browser neither focuses nor explains an invalid field that it cannot show. */
addEventListener('invalid', ({ target }) => (target as Element).closest('details')?.setAttribute('open', ''), true);

/** After a form was refused: focuses the first of its fields that show an error. */
export async function focusInvalid(form: ParentNode): Promise<void> {
  await tick();
  form.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
}

/**
 * Focuses `before`, the element that was focused before a dialog opened, or the view's heading if that is impossible.
 */
export function restoreFocus(before: Element | null): void {
  if (before?.isConnected && before instanceof HTMLElement) before.focus();
  if (document.activeElement === before) return;
  const headings = [...document.querySelectorAll<HTMLElement>('main h1')];
  headings.find((heading) => heading.checkVisibility())?.focus();
}

/** An attachment for the element of a dialog that is focused when the dialog opens. */
export const focusedFirst = (element: HTMLElement): void => {
  element.autofocus = true;
};

/** After an action that may remove the focused element: focuses `next`, or the view's heading. */
export async function moveFocus(next?: () => Element | null | undefined): Promise<void> {
  await tick();
  if (document.activeElement === document.body) restoreFocus(next?.() ?? null);
}

/**
 * An attachment for elements that may be removed while focused: focuses the element that `next` finds in the former
 * parent, or the view's heading.
 */
export const restoresFocus =
  (next?: (there: Element) => Element | null | undefined) =>
  (element: HTMLElement): (() => void) => {
    const there = element.parentElement;
    return () => {
      if (element.contains(lastFocused)) void moveFocus(() => there && next?.(there));
    };
  };

/** For notices in forms: returns the focus to the form's field. */
export const restoresFocusInForm = restoresFocus((there) => there.closest('form')?.querySelector('textarea, input'));

/** For elements of a conversation: returns the focus to the conversation. */
export function restoresFocusInLog(element: HTMLElement): () => void {
  const conversation = element.closest('[role=log]');
  return restoresFocus(() => conversation)(element);
}
