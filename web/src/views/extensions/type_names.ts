/** The name of a single extension of each type. */
import type { ExtensionType } from '../../api/types';
import { t } from '../../base/language';

export const typeNames: Record<ExtensionType, string> = {
  command: t('command'),
  agent: t('agent'),
  job: t('job'),
  action: t('action'),
  integration: t('integration'),
  capability: t('capability'),
  app: t('app'),
  theme: t('theme'),
  renderer: t('renderer'),
  widget: t('widget'),
  artifact: t('artifact'),
  control: t('control'),
};
