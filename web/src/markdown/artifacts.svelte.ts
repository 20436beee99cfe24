/** What agents made that can be shown beside the chat: pages, drawings and documents in code blocks. */

export type ArtifactKind = 'html' | 'svg' | 'markdown';

export interface Artifact {
  kind: ArtifactKind;
  text: string;
}

const kinds: Record<string, ArtifactKind> = {
  html: 'html',
  htm: 'html',
  svg: 'svg',
  markdown: 'markdown',
  md: 'markdown',
};

export const artifactKind = (language: string): ArtifactKind | undefined =>
  Object.hasOwn(kinds, language.toLowerCase()) ? kinds[language.toLowerCase()] : undefined;

class Artifacts {
  /** The one that is shown. */
  open = $state.raw<Artifact | null>(null);
}

export const artifacts = new Artifacts();
