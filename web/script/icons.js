import { readFileSync } from 'node:fs';

/** The icons that the page shows, by their names in lucide. */
const names = [
  'message-square', 'inbox', 'clock', 'bot', 'puzzle', 'book-open', 'flask-conical', 'coins', 'app-window', 'settings',
  'plus', 'search', 'send', 'square', 'paperclip', 'x', 'check', 'chevron-right', 'chevron-down', 'circle-alert', 'copy',
  'trash', 'pencil', 'git-fork', 'refresh-cw', 'quote', 'play', 'flask-round', 'archive', 'file', 'folder', 'terminal',
  'loader-circle', 'ban', 'menu', 'triangle-alert', 'info', 'sun', 'moon', 'monitor', 'arrow-down', 'external-link',
  'folder-git-2', 'bell', 'command', 'wrench',
];

const module = 'virtual:icons';

/** @returns {import('vite').Plugin}
 * Gives `virtual:icons`: for each name the elements of its drawing, so that no request and no HTML text is needed. */
export function icons() {
  return {
    name: 'icons',
    resolveId: (id) => (id === module ? `\0${module}` : undefined),
    load(id) {
      if (id !== `\0${module}`) return undefined;
      const all = JSON.parse(readFileSync('node_modules/lucide-static/icon-nodes.json', 'utf8'));
      for (const name of names) if (!all[name]) throw new Error(`lucide has no icon ${name}`);
      return `export default ${JSON.stringify(Object.fromEntries(names.map((name) => [name, all[name]])))}`;
    },
  };
}
