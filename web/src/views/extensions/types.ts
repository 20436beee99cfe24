/** The extension types with descriptions and initial definitions. */
import type { ExtensionType } from '../../api/types';
import { t } from '../../base/language';

export const types: { type: ExtensionType; label: string; about: string }[] = [
  { type: 'command', label: t('Commands'), about: t('Prompts that you run by typing a slash and their name.') },
  { type: 'agent', label: t('Agents'), about: t('Whom you chat with: a prompt, a model and the tools it may use.') },
  { type: 'job', label: t('Jobs'), about: t('Work that an agent does on its own.') },
  { type: 'action', label: t('Actions'), about: t('Single operations for agents: a request, a command or a prompt.') },
  { type: 'integration', label: t('Integrations'), about: t('Connections to other services and their tools.') },
  { type: 'capability', label: t('Capabilities'), about: t('Sets of tools that limit the agents that name them.') },
  { type: 'app', label: t('Apps'), about: t('Projects that the gateway serves.') },
  { type: 'theme', label: t('Themes'), about: t('Colours for this page.') },
  { type: 'renderer', label: t('Renderers'), about: t('Custom ways to show blocks of answers.') },
  { type: 'widget', label: t('Widgets'), about: t('Small HTML panels in this page.') },
  { type: 'artifact', label: t('Artifacts'), about: t('Documents and pages made by agents.') },
  { type: 'control', label: t('Controls'), about: t('Buttons, toggles and forms that run actions.') },
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
