import { mount } from 'svelte';
import './styles/font.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/prose.css';
import App from './App.svelte';
import { withholdComposition } from './base/composition';
import { language } from './base/language';

withholdComposition();

function start(): void {
  const target = document.getElementById('page');
  if (!target) throw new Error('index.html has no #page');
  document.documentElement.lang = language;
  mount(App, { target });
}

/** Style sheets that could not be fetched are requested again until they load; their code works without them. */
addEventListener('vite:preloadError', (event) => {
  const { message } = (event as unknown as { payload: Error }).payload;
  const address = /^Unable to preload CSS for (\S+)/.exec(message)?.[1];
  if (!address) return;
  event.preventDefault();
  const ask = (): void => {
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: address });
    link.onerror = () => (link.remove(), setTimeout(ask, 2000));
    document.head.append(link);
  };
  setTimeout(ask, 1000);
});

// public/first.js imports the chat's code, and thereby this module, possibly before the document has been parsed.
if (document.readyState === 'loading' && !document.getElementById('page'))
  addEventListener('DOMContentLoaded', start, { once: true });
else start();
