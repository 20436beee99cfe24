/** The extensions and the models that the gateway has: what every view names and chooses from. */
import { get } from '../api/client';
import type { Extension, ExtensionType, ModelInfo } from '../api/types';
import { line } from '../api/line.svelte';

class Registry {
  extensions = $state.raw<Extension[]>([]);
  models = $state.raw<ModelInfo[]>([]);
  windows = $state.raw<Record<string, number>>({});
  loaded = $state(false);
  /** Why they could not be read. */
  error = $state.raw<Error | null>(null);
  /** Somebody asked for all, whether or not it could be read. */
  #wanted = false;
  #again = false;
  #loading: Promise<void> | null = null;

  constructor() {
    line.listen((event) => {
      if (event.type === 'extension-changed') void this.load();
      if (event.type === 'reconnected') this.#readAgain();
    });
  }

  #readAgain(): void {
    if (this.#wanted) void this.load();
    else if (this.extensions.length === 0) this.loadAgents().catch(() => {});
  }

  /** What a chat shows of extensions at once: who answers. The others weigh more and are wanted later. */
  async loadAgents(): Promise<void> {
    const agents = await get<Extension[]>('/extensions', { type: 'agent' });
    if (!this.loaded) this.extensions = agents;
  }

  /** Loads all, where that has not been done. */
  async need(): Promise<void> {
    if (!this.loaded) await this.load();
  }

  /** Loads what there is. Asked again meanwhile, it loads once more behind. */
  load(): Promise<void> {
    this.#wanted = true;
    if (this.#loading) this.#again = true;
    this.#loading ??= this.#fetch().finally(() => {
      this.#loading = null;
      if (!this.#again) return;
      this.#again = false;
      void this.load();
    });
    return this.#loading;
  }

  async #fetch(): Promise<void> {
    try {
      this.extensions = await get<Extension[]>('/extensions');
      this.loaded = true;
      this.error = null;
    } catch (error) {
      this.error = error instanceof Error ? error : new Error(String(error));
    }
  }

  /** The models are asked for when somebody wants to choose one. */
  async loadModels(): Promise<void> {
    if (this.models.length === 0) this.models = await get<ModelInfo[]>('/models');
  }

  /** How much each model reads at once, by its id; empty until it was asked for. */
  async loadWindows(): Promise<void> {
    if (Object.keys(this.windows).length > 0) return;
    const models = await get<ModelInfo[]>('/models');
    this.windows = Object.fromEntries(models.map(({ id, context_window: size }) => [id, size ?? 0]));
  }

  of(type: ExtensionType): Extension[] {
    return this.extensions.filter((extension) => extension.type === type);
  }

  enabled(type: ExtensionType): Extension[] {
    return this.of(type).filter((extension) => extension.enabled);
  }

  find(id: string | null | undefined): Extension | undefined {
    return this.extensions.find((extension) => extension.id === id || extension.name === id);
  }

  nameOf(id: string | null | undefined): string {
    return this.find(id)?.name ?? id ?? '';
  }
}

export const registry = new Registry();
