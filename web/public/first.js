// Before anything else: the theme that was chosen, so that no other is painted first; and in a browser that is paired what a
// chat waits for longest: its code, and the turns of the thread that the address names, which the page finds in `early`
// (src/api/early.ts).
(() => {
  const stored = (name) => {
    try {
      return JSON.parse(localStorage.getItem(`agw.${name}`));
    } catch {
      return null;
    }
  };

  // What it may hold is checked where it is chosen (src/look/theme.ts).
  const theme = stored('theme');
  const { style } = document.documentElement;
  if (theme?.scheme) style.setProperty('color-scheme', theme.scheme);
  for (const [name, value] of Object.entries(theme?.tokens ?? {})) style.setProperty(name, value);

  const token = stored('token');
  if (typeof token !== 'string') return;
  const { chat = '' } = document.currentScript.dataset;
  for (const file of chat.split(' ')) if (file) import(file).catch(() => {}); // The page itself imports it again, and tells.

  const thread = /^#\/t\/([\w-]+)/.exec(location.hash)?.[1];
  if (!thread) return;
  const early = (globalThis.early = { path: `/threads/${thread}/turns?limit=50` });
  early.coming = fetch(early.path, { headers: { authorization: `Bearer ${token}` }, credentials: 'omit' })
    .then(async (answer) => (early.answer = answer.ok ? await answer.json() : undefined))
    .catch(() => {}); // It is told when the page itself asks.
})();
