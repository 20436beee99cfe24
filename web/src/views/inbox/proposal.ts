/** Calls of the API of proposals. */
import { apiPath, get, post } from '../../api/client';
import type { Proposal, ProposalEntry } from '../../api/types';

type Address = Pick<ProposalEntry, 'agent' | 'date' | 'name'>;

export const keyOf = ({ agent, date, name }: Address): string => [agent, date, name].filter(Boolean).join('/');

const pathOf = ({ agent, date, name }: Address): string =>
  name ? apiPath`/proposals/${agent}/${date}/${name}` : apiPath`/proposals/${agent}/${date}`;

export const readProposal = (address: Address): Promise<Proposal> => get(pathOf(address));

export const applyProposal = (address: Address, content?: string): Promise<unknown> =>
  post(`${pathOf(address)}/apply`, content === undefined ? {} : { content });

export const rejectProposal = (address: Address, reason: string): Promise<unknown> =>
  post(`${pathOf(address)}/reject`, reason ? { reason } : {});
