/** Parses the text of a pie chart into the structure that mermaid's renderer expects. */

interface Pie {
  title?: string;
  accTitle?: string;
  accDescr?: string;
  showData: boolean;
  sections: { label: string; value: number }[];
}

const head = /^\s*pie(?:\s+(showData))?(?:\s+title\s+(.+))?\s*$/;
const section = /^\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*:\s*(-?\d+(?:\.\d+)?)\s*$/;
const told = /^\s*(title|accTitle|accDescr)\b\s*:?\s*(.*)$/;

export function parsePie(text: string): Pie {
  const pie: Pie = { showData: false, sections: [] };
  let begun = false;
  text.split('\n').forEach((line, i) => {
    const shown = line.replace(/%%.*$/, '');
    if (!shown.trim()) return;
    const [, label = section.exec(shown)?.[2], , value] = section.exec(shown) ?? [];
    const [, name, words] = told.exec(shown) ?? [];
    if (!begun) {
      const found = head.exec(shown);
      if (!found) throw new Error(`Parse error on line ${i + 1}: a pie begins with "pie"`);
      begun = true;
      pie.showData = !!found[1];
      if (found[2]) pie.title = found[2].trim();
    } else if (label !== undefined && value !== undefined) {
      pie.sections.push({ label, value: Number(value) });
    } else if (shown.trim() === 'showData') {
      pie.showData = true;
    } else if (name && words !== undefined) {
      pie[name as 'title' | 'accTitle' | 'accDescr'] = words.trim();
    } else {
      throw new Error(`Parse error on line ${i + 1}: "label" : number`);
    }
  });
  return pie;
}
