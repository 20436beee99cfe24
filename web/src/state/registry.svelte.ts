/** The gateway's extensions and models, which most views show or offer for selection. */
import { get } from '../api/client';
import type { Extension, ExtensionType, GatewaySettings, ModelInfo } from '../api/types';
import { socket } from '../api/socket.svelte';

class Registry {
  extensions = $state.raw<Extension[]>([]);
  models = $state.raw<ModelInfo[]>([]);
  /** null until `loadSettings` has succeeded. */
  settings = $state.raw<GatewaySettings | null>(null);
  loaded = $state(false);
  /** Why reading failed. */
  error = $state.raw<Error | null>(null);
  /** All extensions were requested, successfully or not. */
  #wanted = false;
  #again = false;
  #loading: Promise<void> | null = null;

  constructor() {
    socket.listen((event) => {
      if (event.type === 'extension-changed') void this.load();
      if (event.type === 'reconnected') this.#readAgain();
    });
  }

  #readAgain(): void {
    if (this.#wanted) void this.load();
    else if (this.extensions.length === 0) this.loadAgents().catch(() => {});
  }

  /** Loads agents only: a chat shows who answers. The rest is larger and needed later. */
  async loadAgents(): Promise<void> {
    const agents = await get<Extension[]>('/extensions', { type: 'agent' });
    if (!this.loaded) this.extensions = agents;
  }

  /** Loads all extensions unless that has been done. */
  async need(): Promise<void> {
    if (!this.loaded) await this.load();
  }

  /** Loads all extensions. If called again while loading, loads once more afterwards. */
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
      this.error = error as Error;
    }
  }

  /** Reads the models; called by views that show them. `refresh`: the gateway queries the services first. */
  async readModels(refresh = false): Promise<void> {
    this.models = await get<ModelInfo[]>('/models', { refresh: refresh || undefined });
  }

  loadSettings = async (): Promise<GatewaySettings> => (this.settings = await get<GatewaySettings>('/settings'));

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
