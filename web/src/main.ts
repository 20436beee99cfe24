import { mount } from 'svelte';
import './look/tokens.css';
import './look/base.css';
import App from './App.svelte';

const target = document.getElementById('page');
if (!target) throw new Error('index.html has no #page');
mount(App, { target });
