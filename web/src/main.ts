import { mount } from 'svelte';
import './look/tokens.css';
import './look/base.css';
import './look/prose.css';
import App from './App.svelte';

function start(): void {
  const target = document.getElementById('page');
  if (!target) throw new Error('index.html has no #page');
  mount(App, { target });
}

// public/first.js imports the chat's code, and with it this, which may run before the whole document has come.
if (document.readyState === 'loading' && !document.getElementById('page')) addEventListener('DOMContentLoaded', start, { once: true });
else start();
