/** Works of agents that can be shown next to the chat: pages, drawings, documents, diagrams and formulas. */

export type ArtifactKind = 'html' | 'svg' | 'markdown' | 'mermaid' | 'math';

export interface Artifact {
  kind: ArtifactKind;
  text: string;
  /** The chat beside which it is shown. */
  chat?: string;
}

/** An app of the gateway that is shown beside a chat, by its name. */
export interface ShownApp {
  kind: 'app';
  text: string;
  chat: string;
}

/** The context of a chat: its conversation. */
export const chatContext = 'chat';

const kinds: Record<string, ArtifactKind> = {
  html: 'html',
  htm: 'html',
  svg: 'svg',
  markdown: 'markdown',
  md: 'markdown',
  mermaid: 'mermaid',
  math: 'math',
};

export const artifactKind = (language: string): ArtifactKind | undefined =>
  Object.hasOwn(kinds, language.toLowerCase()) ? kinds[language.toLowerCase()] : undefined;

class Artifacts {
  /** The one that is shown. */
  open = $state.raw<Artifact | ShownApp | null>(null);
}

export const artifacts = new Artifacts();
