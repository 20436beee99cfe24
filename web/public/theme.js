// Before the first paint: the theme that was chosen. What it may hold is checked where it is chosen (src/look/theme.ts).
(() => {
  try {
    const theme = JSON.parse(localStorage.getItem('agw.theme') ?? '{}');
    const style = document.documentElement.style;
    if (theme.scheme) style.setProperty('color-scheme', theme.scheme);
    for (const [name, value] of Object.entries(theme.tokens ?? {})) style.setProperty(name, value);
  } catch {
    localStorage.removeItem('agw.theme');
  }
})();
