/** Permission requests and questions of agents, in all chats, that wait for a person. */
import { get } from '../api/client';
import type { GatewayEvent } from '../api/events';
import { socket } from '../api/socket.svelte';
import type { PermissionRequest } from '../api/types';
import { announcer } from '../base/announce.svelte';
import { router } from '../base/router.svelte';
import { t } from '../base/language';

class Approvals {
  /** Oldest first. Requests decided elsewhere stay, with the decision, until their run ends. */
  all = $state.raw<PermissionRequest[]>([]);
  /** The chats with undecided requests. */
  threads = $derived(new Set(this.all.filter(({ decision }) => !decision).map(({ thread_id: id }) => id)));
  /** Requests from events since the latest read began. */
  #arrived = new Set<string>();
  #decided = new Map<string, Partial<PermissionRequest>>();
  #asked = 0;

  constructor() {
    socket.listen((event) => this.#take(event));
  }

  /** Reads the requests, because no events arrive for those made before this page was open or connected. */
  load = async (): Promise<void> => {
    const asked = ++this.#asked;
    this.#arrived.clear();
    try {
      const read = await get<PermissionRequest[]>('/permissions');
      if (asked !== this.#asked) return;
      const isRead = new Set(read.map(({ id }) => id));
      const kept = this.all.filter(({ id, decision }) => !isRead.has(id) && (decision || this.#arrived.has(id)));
      this.all = [...read.map((one) => ({ ...one, ...this.#decided.get(one.id) })), ...kept];
    } catch (error) {
      console.warn('approvals could not be read:', error);
    }
  };

  /** Removes a request that was decided on this page. */
  drop(id: string): void {
    this.all = this.all.filter((request) => request.id !== id);
  }

  #take(event: GatewayEvent): void {
    if (event.type === 'permission-requested') this.#add(event.request);
    else if (event.type === 'permission-decided') this.#close(event);
    else if (event.type === 'finish' || event.type === 'stopped') this.#end(event.runId);
    else if (event.type === 'subscribed' && event.runs?.length) void this.load();
    else if (event.type === 'reconnected') {
      // Meanwhile, the runs of decided requests may have ended.
      this.all = this.all.filter(({ decision }) => !decision);
      void this.load();
    }
  }

  #add(request: PermissionRequest): void {
    this.#arrived.add(request.id);
    if (this.#decided.has(request.id) || this.all.some(({ id }) => id === request.id)) return;
    this.all = [...this.all, request];
    // In its own chat, the request is already shown as an alert.
    if (router.route.path[1] !== request.thread_id)
      announcer.say(
        request.kind === 'question'
          ? t('{agent} asks you in another chat.', { agent: request.agent })
          : t('{agent} asks for permission in another chat.', { agent: request.agent }),
      );
  }

  #close({ requestId, decision, scope, by }: GatewayEvent & { type: 'permission-decided' }): void {
    const outcome = { decision, scope, by };
    this.#decided.set(requestId, outcome);
    this.all = this.all.map((request) => (request.id === requestId ? { ...request, ...outcome } : request));
  }

  #end(runId: string): void {
    if (this.all.some(({ run_id: id }) => id === runId)) this.all = this.all.filter(({ run_id: id }) => id !== runId);
  }
}

export const approvals = new Approvals();
