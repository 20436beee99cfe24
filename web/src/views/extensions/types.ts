/** The types of extensions, what each is for, and what a new one begins with. */
import type { ExtensionType } from '../../api/types';

export const types: { type: ExtensionType; label: string; about: string }[] = [
  { type: 'command', label: 'Commands', about: 'What you can type behind a slash.' },
  { type: 'agent', label: 'Agents', about: 'Somebody to talk to: a prompt, a model, and what it may use.' },
  { type: 'job', label: 'Jobs', about: 'Work that an agent does by itself.' },
  { type: 'action', label: 'Actions', about: 'Single things that agents can do: a request, a command, a prompt.' },
  { type: 'integration', label: 'Integrations', about: 'Connections to other services, whose tools agents can use.' },
  { type: 'capability', label: 'Capabilities', about: 'What an agent that names it is limited to.' },
  { type: 'app', label: 'Apps', about: 'Projects that the gateway serves.' },
  { type: 'theme', label: 'Themes', about: 'Colours of this page.' },
  { type: 'renderer', label: 'Renderers', about: 'Own ways of showing a block of an answer.' },
  { type: 'widget', label: 'Widgets', about: 'Small pages inside this page.' },
  { type: 'artifact', label: 'Artifacts', about: 'Things that agents made.' },
  { type: 'control', label: 'Controls', about: 'Buttons, toggles and forms.' },
];

export const templates: Partial<Record<ExtensionType, Record<string, unknown>>> = {
  command: { prompt: 'Do this: $ARGUMENTS' },
  agent: { systemPrompt: '' },
  job: { agent_id: 'assistant', prompt: '' },
  action: { kind: 'http', method: 'GET', url: 'https://' },
  integration: { kind: 'mcp-stdio', command: '' },
  capability: { tools: ['Read', 'Glob', 'Grep'], stage: 'apprentice' },
  app: { type: 'static', path: '' },
  theme: { dark: false, colors: { background: '#ffffff', text: '#1b1f24', accent: '#0b57d0' } },
  renderer: { match: { language: '' }, html: '<p id="out"></p>\n<script>\naddEventListener("gateway", (event) => {\n  document.getElementById("out").textContent = event.detail.content;\n});\n</script>' },
  widget: { placement: 'home', height: 200, html: '<p>Hello</p>' },
  artifact: { mime: 'text/markdown', content: '' },
  control: { controls: [{ kind: 'button', label: '', action: '' }] },
};
