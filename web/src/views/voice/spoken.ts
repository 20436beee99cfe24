const blocks = 'p,h1,h2,h3,h4,h5,h6,li,td,th';

/** The text of an answer to read aloud, one part per block. Omits code, formulas, diagrams and footnote marks. */
export function spokenParts(answer: Element | null): string[] {
  const found = [...(answer?.querySelectorAll(':scope > .prose') ?? [])].flatMap((prose) => [
    ...prose.querySelectorAll(blocks),
  ]);
  return found.flatMap((block) => wordsOf(block) || []);
}

function wordsOf(block: Element): string {
  const copy = block.cloneNode(true) as Element;
  // A list item may contain paragraphs and further items, which are parts themselves.
  for (const silent of copy.querySelectorAll(`sup,pre,math,svg,img,button,ul,ol,${blocks}`)) silent.remove();
  return (copy.textContent ?? '').trim();
}
