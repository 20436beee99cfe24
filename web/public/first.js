// Runs before anything else. Applies the chosen theme, so that no other is painted first. In a paired browser it also
// starts the slowest requests of a chat: its code, and the turns of the thread in the address, which the page finds in
// `preloaded` (src/api/preloaded.ts).
(() => {
  // Browsers open a dropped file in place of the page.
  for (const type of ['dragover', 'drop'])
    addEventListener(type, (event) => event.dataTransfer?.types.includes('Files') && event.preventDefault());

  const stored = (name) => {
    try {
      return JSON.parse(localStorage.getItem(`agw.${name}`));
    } catch {
      return null;
    }
  };

  // Validated where it is chosen (src/styles/theme.ts).
  const theme = stored('theme');
  const { style } = document.documentElement;
  if (theme?.scheme) style.setProperty('color-scheme', theme.scheme);
  const tokens = { ...theme?.tokens, ...stored('looks') };
  for (const [name, value] of Object.entries(tokens)) style.setProperty(name, value);

  const token = stored('token');
  if (typeof token !== 'string') return;
  const { chat = '' } = document.currentScript.dataset;
  for (const file of chat.split(' ')) if (file) import(file).catch(() => {}); // The page imports it again and reports errors.

  const thread = /^#\/t\/([\w-]+)/.exec(location.hash)?.[1];
  if (!thread) return;
  const preloaded = (globalThis.preloaded = { path: `/threads/${thread}/turns?limit=50` });
  preloaded.promise = fetch(preloaded.path, { headers: { authorization: `Bearer ${token}` }, credentials: 'omit' })
    .then(async (answer) => (preloaded.result = answer.ok ? await answer.json() : undefined))
    .catch(() => {}); // Reported when the page itself requests it.
})();
