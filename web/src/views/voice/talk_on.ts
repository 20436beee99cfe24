/** The chat in which a talk from a new chat continues. In memory only: it must not apply to other tabs or visits. */
let next: string | null = null;

export const talkOnIn = (threadId: string | null): void => void (next = threadId);

/** Whether a new message box, whose text is stored as `draft`, continues a talk. Clears the chat. */
export function talksOn(draft: string): boolean {
  const found = next !== null && draft === `draft.${next}`;
  next = null;
  return found;
}
