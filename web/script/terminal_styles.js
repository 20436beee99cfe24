/**
 * Changes xterm, because the page's Content-Security-Policy rejects its inline styles: `<style>` elements become custom
 * elements that adopt a style sheet (src/views/terminal/sheet.ts), and `style` attributes are set as properties.
 */
const changes = [
  [/createElement\("style"\)/g, 'createElement("terminal-sheet")', 2],
  [/(\w)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w)\};`\)/g, '$1.style.cssText+=`$2;`', 1],
];

/** @returns {import('vite').Plugin} */
export const terminalStyles = () => ({
  name: 'terminal-styles',
  transform(code, id) {
    if (!/\/@xterm\/xterm\/lib\/xterm\.js/.test(id)) return undefined;
    for (const [from, to, times] of changes) {
      if ([...code.matchAll(from)].length !== times)
        throw new Error('the build of xterm has changed: see terminal_styles.js');
      code = code.replaceAll(from, to.replace('`$2;`', '`${$2};`'));
    }
    return { code, map: null };
  },
});
