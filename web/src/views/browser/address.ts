/** The host and port of an address; empty if it has none, as that of an empty tab. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return '';
  }
}

/** What the address field shows. An empty tab has an empty address. */
export const shownAddress = (url: string): string => (url === 'about:blank' ? '' : url);

/** What a tab is called: its title, else its host. Empty for an empty tab. */
export const nameOfTab = ({ title, url }: { title: string; url: string }): string =>
  title && title !== url ? title : hostOf(url) || shownAddress(url);
