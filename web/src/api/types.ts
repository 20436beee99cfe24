/** The gateway's nouns, from its OpenAPI document. */
import type { components } from './openapi';

type Schemas = components['schemas'];

export type Extension = Schemas['Extension'];
export type ExtensionType = Extension['type'];
export type Thread = Schemas['Thread'];
export type Turn = Schemas['Turn'];
export type FoundTurn = Schemas['FoundTurn'];
export type ModelInfo = Schemas['ModelInfo'];
export type JobSummary = Schemas['JobSummary'];
export type JobRun = Schemas['JobRun'];
export type CostReport = Schemas['CostReport'];
export type Project = Schemas['Project'];
export type Signal = Schemas['Signal'];
export type AgentStage = Schemas['AgentStage'];
export type AgentPrompt = Schemas['AgentPrompt'];
export type Attachment = Schemas['Attachment'];
export type ModeName = Thread['mode'];

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
}

/** What the gateway writes into the metadata of an assistant's turn. */
export interface AnswerData {
  run_id?: string;
  model?: string;
  usage?: Usage;
  cost_usd?: number;
  finish_reason?: string;
  duration_ms?: number;
  in_reply_to?: string;
  partial?: boolean;
  superseded?: boolean;
  /** Where the calls stood in the text, in code points. */
  steps?: { text_end: number; tool_call_ids: string[] }[];
}

/** What the gateway writes into the metadata of a tool's turn. */
export interface ToolData {
  run_id?: string;
  tool_call_id?: string;
  tool_name?: string;
  input?: unknown;
  is_error?: boolean;
  duration_ms?: number;
  superseded?: boolean;
}
