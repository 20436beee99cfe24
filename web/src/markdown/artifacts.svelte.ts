/** Content of answers that can be shown next to the chat: pages, drawings, documents, diagrams and formulas. */

export type ArtifactKind = 'html' | 'svg' | 'markdown' | 'mermaid' | 'math';

export interface Artifact {
  kind: ArtifactKind;
  text: string;
  /** The chat next to which the artifact is shown. */
  chat?: string;
}

/** An app of the gateway that is shown next to a chat. `text` is the name of the app. */
export interface ShownApp {
  kind: 'app';
  text: string;
  chat: string;
}

/** A picture that a tool returned. `text` is its id; empty for the newest picture of the chat, whichever that is. */
export interface ShownPicture {
  kind: 'picture';
  text: string;
  chat: string;
}

/** The browser that a person shares with the agents of a chat. */
export interface ShownBrowser {
  kind: 'browser';
  text: '';
  chat: string;
}

/** The key of the Svelte context that contains a chat's conversation. */
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

/** What is shown next to a chat. */
export type Shown = Artifact | ShownApp | ShownPicture | ShownBrowser;

class Artifacts {
  /** What is shown next to each chat, by the chat's id. */
  of = $state.raw<Record<string, Shown | undefined>>({});

  show(shown: Shown): void {
    this.of = { ...this.of, [shown.chat ?? '']: shown };
  }

  close(chat: string): void {
    this.of = { ...this.of, [chat]: undefined };
  }
}

export const artifacts = new Artifacts();
