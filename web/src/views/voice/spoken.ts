const blocks = 'p,h1,h2,h3,h4,h5,h6,li,td,th';

/** The words of an answer, one part for each paragraph. Code, formulas, diagrams and marks of footnotes are left out. */
export function spokenParts(answer: Element | null): string[] {
  const found = [...(answer?.querySelectorAll(':scope > .prose') ?? [])].flatMap((prose) => [
    ...prose.querySelectorAll(blocks),
  ]);
  return found.flatMap((block) => wordsOf(block) || []);
}

function wordsOf(block: Element): string {
  const copy = block.cloneNode(true) as Element;
  // A point of a list may contain paragraphs and further points, which are read as such.
  for (const silent of copy.querySelectorAll(`sup,pre,math,svg,img,button,ul,ol,${blocks}`)) silent.remove();
  return (copy.textContent ?? '').trim();
}
