/** The extension types with descriptions and initial definitions. */
import type { ExtensionType } from '../../api/types';

export const types: { type: ExtensionType; label: string; about: string }[] = [
  { type: 'command', label: 'Commands', about: 'Prompts that you run by typing a slash and their name.' },
  { type: 'agent', label: 'Agents', about: 'Whom you chat with: a prompt, a model and the tools it may use.' },
  { type: 'job', label: 'Jobs', about: 'Work that an agent does on its own.' },
  { type: 'action', label: 'Actions', about: 'Single operations for agents: a request, a command or a prompt.' },
  { type: 'integration', label: 'Integrations', about: 'Connections to other services and their tools.' },
  { type: 'capability', label: 'Capabilities', about: 'Sets of tools that limit the agents that name them.' },
  { type: 'app', label: 'Apps', about: 'Projects that the gateway serves.' },
  { type: 'theme', label: 'Themes', about: 'Colours for this page.' },
  { type: 'renderer', label: 'Renderers', about: 'Custom ways to show blocks of answers.' },
  { type: 'widget', label: 'Widgets', about: 'Small HTML panels in this page.' },
  { type: 'artifact', label: 'Artifacts', about: 'Documents and pages made by agents.' },
  { type: 'control', label: 'Controls', about: 'Buttons, toggles and forms that run actions.' },
];

export const templates: Partial<Record<ExtensionType, Record<string, unknown>>> = {
  command: { prompt: 'Do this: $ARGUMENTS' },
  agent: { systemPrompt: '' },
  job: { agent_id: 'assistant', prompt: '' },
  capability: { tools: ['Read', 'Glob', 'Grep'], stage: 'apprentice' },
  app: { type: 'static', path: '' },
  theme: { dark: false, colors: { background: '#ffffff', text: '#1b1f24', accent: '#0b57d0' } },
  renderer: {
    match: { language: '' },
    html: '<p id="out"></p>\n<script>\naddEventListener("gateway", (event) => {\n  document.getElementById("out").textContent = event.detail.content;\n});\n</script>',
  },
  widget: { placement: 'home', height: 200, html: '<p>Hello</p>' },
  artifact: { mime: 'text/markdown', content: '' },
  control: { controls: [{ kind: 'button', label: '', action: '' }] },
};
