import { readFileSync } from 'node:fs';

/** The icons of the page, by their names in lucide. */
const names = [
  'message-square',
  'inbox',
  'clock',
  'bot',
  'puzzle',
  'book-open',
  'flask-conical',
  'coins',
  'app-window',
  'settings',
  'plus',
  'search',
  'send',
  'square',
  'paperclip',
  'x',
  'check',
  'chevron-right',
  'chevron-down',
  'circle-alert',
  'copy',
  'trash',
  'pencil',
  'git-fork',
  'refresh-cw',
  'quote',
  'play',
  'flask-round',
  'archive',
  'file',
  'folder',
  'loader-circle',
  'ban',
  'menu',
  'triangle-alert',
  'info',
  'arrow-down',
  'folder-git-2',
  'command',
  'pin',
  'mic',
  'audio-lines',
  'volume-2',
  'ellipsis',
  'columns-2',
];

const module = 'virtual:icons';

/** A rectangle with rounded corners, as SVG draws `rx`. */
function rectangle({ x, y, width, height, rx = 0 }) {
  const [left, top, radius] = [x, y, rx].map(Number);
  const [across, down] = [width, height].map((length) => length - 2 * radius);
  const corner = (right, below) => (radius ? `a${radius} ${radius} 0 0 1 ${right * radius} ${below * radius}` : '');
  return `M${left + radius} ${top}h${across}${corner(1, 1)}v${down}${corner(-1, 1)}h${-across}${corner(-1, -1)}v${-down}${corner(1, -1)}z`;
}

/** Each of lucide's shapes as a path (SVG 2, section 9.3), so that an icon is a single element. */
const paths = {
  path: ({ d }) => `M0 0${d}`,
  line: ({ x1, y1, x2, y2 }) => `M${x1} ${y1}L${x2} ${y2}`,
  polyline: ({ points }) => `M${points}`,
  circle: ({ cx, cy, r }) => `M${cx - r} ${cy}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  rect: rectangle,
};

/**
 * Provides `virtual:icons`: icon paths by name.
 * @returns {import('vite').Plugin}
 */
export function icons() {
  return {
    name: 'icons',
    resolveId: (id) => (id === module ? `\0${module}` : undefined),
    load(id) {
      if (id !== `\0${module}`) return undefined;
      const all = JSON.parse(readFileSync('node_modules/lucide-static/icon-nodes.json', 'utf8'));
      const pathOf = (name) => {
        if (!all[name]) throw new Error(`lucide has no icon ${name}`);
        return all[name].map(([tag, attributes]) => paths[tag](attributes)).join('');
      };
      return `export default ${JSON.stringify(Object.fromEntries(names.map((name) => [name, pathOf(name)])))}`;
    },
  };
}
