import { mount } from 'svelte';
import './styles/font.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/prose.css';
import App from './App.svelte';

function start(): void {
  const target = document.getElementById('page');
  if (!target) throw new Error('index.html has no #page');
  mount(App, { target });
}

// public/first.js imports the chat's code and this with it, possibly before the document has been parsed.
if (document.readyState === 'loading' && !document.getElementById('page'))
  addEventListener('DOMContentLoaded', start, { once: true });
else start();
