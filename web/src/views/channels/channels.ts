/** Connects messengers: makes an integration of kind `channel` from the token of an account. */
import { apiPath, post, put, remove } from '../../api/client';
import type { Extension } from '../../api/types';
import { registry } from '../../state/registry.svelte';
import { freeName, isTaken } from '../models/services';
import { t } from '../../base/language';

export interface Field {
  /** The member of the definition. */
  member: string;
  label: string;
  placeholder: string;
  isRequired: boolean;
}

export interface Messenger {
  service: string;
  label: string;
  /** The messenger's name for the secret. */
  token: string;
  /** How to get the token. */
  note: string;
  fields: Field[];
  /** The form of a person's id at this messenger. */
  person: string;
}

const field = (member: string, label: string, placeholder: string, isRequired = true): Field => ({
  member,
  label,
  placeholder,
  isRequired,
});

export const messengers: Messenger[] = [
  {
    service: 'telegram',
    label: 'Telegram',
    token: t('Token of the bot'),
    note: t('In Telegram, write /newbot to @BotFather: it gives you the token.'),
    fields: [field('address', t('Server'), 'https://api.telegram.org', false)],
    person: '123456789',
  },
  {
    service: 'matrix',
    label: 'Matrix',
    token: t('Access token of the account'),
    note: t('Make an account for the agent. Element shows its token under Settings, Help & About.'),
    fields: [field('address', t('Server'), 'https://matrix.example.org')],
    person: '@ann:example.org',
  },
  {
    service: 'email',
    label: t('Mail'),
    token: t('Password of the account'),
    note: t('Make a mail account for the agent that nobody else uses.'),
    fields: [
      field('user', t('Account'), 'agent@example.org'),
      field('address', t('Server that is read (IMAP)'), 'imaps://imap.example.org'),
      field('smtp', t('Server that sends (SMTP)'), 'smtps://smtp.example.org'),
      field('authserv_id', t('Server that checks senders'), 'mx.example.org'),
    ],
    person: 'ann@example.com',
  },
  {
    service: 'xmpp',
    label: 'XMPP',
    token: t('Password of the account'),
    note: t('Make an account for the agent at your server.'),
    fields: [
      field('user', t('Account'), 'agent@example.org'),
      field('address', t('Server'), t('found by DNS, or xmpp://host:5222'), false),
    ],
    person: 'ann@example.org',
  },
];

export const notices: { kind: string; label: string }[] = [
  { kind: 'permission-requested', label: t('An agent asks for permission') },
  { kind: 'proposal.created', label: t('A proposal is waiting') },
  { kind: 'job.failed', label: t('A job has failed') },
  { kind: 'signal', label: t('Something needs attention') },
  { kind: 'finish', label: t('An answer that took over a minute is ready') },
];

export interface Wanted {
  service: string;
  token: string;
  /** Values by member of the definition. */
  fields: Record<string, string>;
  agent: string;
  allow: string;
  pairing: boolean;
  stream: string;
  notify: string[];
}

export function definitionOf(wanted: Wanted, secret: string): Record<string, unknown> {
  const messenger = messengers.find(({ service }) => service === wanted.service);
  const filled = (messenger?.fields ?? []).map(({ member }) => [member, (wanted.fields[member] ?? '').trim()]);
  const allow = wanted.allow.split(/[\s,]+/).filter(Boolean);
  return {
    kind: 'channel',
    service: wanted.service,
    token: `\${secret:${secret}}`,
    ...Object.fromEntries(filled.filter(([, value]) => value)),
    ...(wanted.agent && { agent_id: wanted.agent }),
    ...(allow.length && { allow }),
    ...(wanted.pairing && { pairing: true }),
    stream: wanted.stream,
    ...(wanted.notify.length && { notify: wanted.notify }),
  };
}

/** Stores the token as a secret, and the channel as an extension. The channel starts to read immediately. */
export async function connectChannel(wanted: Wanted): Promise<Extension> {
  const name = freeName(wanted.service, isTaken);
  const secret = `${name.toUpperCase().replaceAll('-', '_')}_TOKEN`;
  await put(apiPath`/secrets/${secret}`, { value: wanted.token.trim() });
  try {
    const label = messengers.find(({ service }) => service === wanted.service)?.label ?? wanted.service;
    return await post<Extension>('/extensions', {
      type: 'integration',
      name,
      description: t('Talks to people in {label}', { label }),
      enabled: true,
      definition: definitionOf(wanted, secret),
    });
  } catch (error) {
    await remove(apiPath`/secrets/${secret}`).catch(console.warn);
    throw error;
  } finally {
    await registry.load();
  }
}
