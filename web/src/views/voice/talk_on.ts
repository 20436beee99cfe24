/** The chat in which a talk continues that began as a new chat. Only this document knows it: no other tab, no later visit. */
let next: string | null = null;

export const talkOnIn = (threadId: string | null): void => void (next = threadId);

/** Whether the message box that appears, whose text is stored as `draft`, continues a talk. Forgets it. */
export function talksOn(draft: string): boolean {
  const found = next !== null && draft === `draft.${next}`;
  next = null;
  return found;
}
