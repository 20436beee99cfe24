/** The restart of the gateway, followed until it answers again. */
import { get, post } from '../../api/client';
import { duration } from '../../base/format';
import { t } from '../../base/language';
import { tryOrToast } from '../../base/toasts.svelte';
import { confirmDanger } from '../../components/confirm.svelte';

class Restart {
  /** What is happening; empty unless the gateway is restarting. */
  state = $state('');

  /** Asks the person first. Calls `done` when the gateway answers again. */
  async ask(done: () => unknown): Promise<void> {
    const text = t(
      'Answers in progress are saved as they are. The gateway starts again by itself where it runs in a terminal or as a service; otherwise it has to be started on its computer.',
    );
    if (!(await confirmDanger(t('Restart the gateway?'), text, t('Restart')))) return;
    if (!(await tryOrToast(() => post('/daemon/restart')))) return;
    const begun = Date.now();
    this.state = t('Stopping…');
    const timer = setInterval(() => void look(), 1000);
    const look = async (): Promise<void> => {
      this.state = t('Waiting for the gateway ({duration})', { duration: duration(Date.now() - begun) });
      const { uptime } = await get<{ uptime: number }>('/health').catch(() => ({ uptime: Infinity }));
      if (uptime * 1000 > Date.now() - begun) return;
      clearInterval(timer);
      this.state = '';
      await done();
    };
  }
}

export const restart = new Restart();
