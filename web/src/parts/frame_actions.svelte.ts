/** What an extension's frame asks for happens only after a person has said yes, outside of the frame. */
import type { Extension } from '../api/types';
import { toasts } from '../base/toasts.svelte';
import { visible } from '../base/visible';
import { place } from '../base/route.svelte';
import { store } from '../base/storage';
import { questions } from './ask.svelte';

const longestShown = 500;

/** Actions run as an agent's call: the page writes the request into the composer of a new chat, for the person to send. */
export async function confirmAction(from: string, action: string, input: unknown, extension: Extension | undefined): Promise<void> {
  if (!extension?.enabled) {
    toasts.bad(`${from} asks for ${action}, which is not enabled.`);
    return;
  }
  const shown = visible(JSON.stringify(input ?? {}).slice(0, longestShown));
  const text = `The extension ${from} asks for ${action} with\n${shown}\n\nA new chat is opened with this request; nothing runs before you send it.`;
  if (!(await questions.ask({ title: 'An extension asks', text, confirm: 'Open the chat', danger: false }))) return;
  store('draft.new', `Run ${action} with ${shown}`);
  place.go(['new']);
}
