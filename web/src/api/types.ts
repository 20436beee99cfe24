/** The gateway's types, from its OpenAPI document. */
import type { components } from './openapi';

type Schemas = components['schemas'];

export type Extension = Schemas['Extension'];
export type ExtensionType = Extension['type'];
export type Thread = Schemas['Thread'];
export type ThreadDetail = Schemas['ThreadDetail'];
export type ThreadTask = NonNullable<ThreadDetail['tasks']>[number];
export type Turn = Schemas['Turn'];
export type FoundTurn = Schemas['FoundTurn'];
export type ModelInfo = Schemas['ModelInfo'];
export type ModelServicePreset = Schemas['ModelServicePreset'];
export type CheckedService = Schemas['CheckedService'];
export type DetectedService = Schemas['DetectedService'];
export type ChannelStatus = Schemas['ChannelStatus'];
export type ConfirmedSender = Schemas['ConfirmedSender'];
export type FoundProgram = Schemas['FoundProgram'];
export type GatewaySettings = Schemas['GatewaySettings'];
export type ConfigurationReport = Schemas['ConfigurationReport'];
export type Setting = ConfigurationReport['settings'][number];
export type JobSummary = Schemas['JobSummary'];
export type JobRun = Schemas['JobRun'];
export type CostReport = Schemas['CostReport'];
export type Project = Schemas['Project'];
export type ProjectDirectory = Schemas['ProjectDirectory'];
export type ProjectEntry = ProjectDirectory['entries'][number];
export type ProjectFile = Schemas['ProjectFile'];
export type SharedLink = Schemas['SharedLink'];
export type Signal = Schemas['Signal'];
export type PushSubscription = Schemas['PushSubscription'];
export type PushTest = Schemas['PushTest'];
export type AgentStage = Schemas['AgentStage'];
export type AgentPrompt = Schemas['AgentPrompt'];
export type Attachment = Schemas['Attachment'];
export type AppState = Schemas['App'];
export type AppLogLine = Schemas['AppLogLine'];
export type ProposalEntry = Schemas['ProposalEntry'];
export type Proposal = Schemas['Proposal'];
export type Experiment = Schemas['Experiment'];
export type Confidence = Schemas['DomainConfidence'];
export type KnowledgeOverview = Schemas['KnowledgeOverview'];
export type KnowledgeHit = Schemas['KnowledgeHit'];
export type KnowledgeLink = Schemas['KnowledgeLink'];
export type KnowledgePage = Schemas['KnowledgePage'];
export type KnowledgeStats = Schemas['KnowledgeStats'];
export type KnowledgeHealth = Schemas['KnowledgeHealth'];
export type KnowledgeEvent = Schemas['KnowledgeEvent'];
export type Article = Schemas['Article'];
export type Entity = Schemas['Entity'];
export type Briefing = Schemas['Briefing'];
export type Pulse = Schemas['Pulse'];
export type ActivityRow = Schemas['ActivityRow'];
export type PermissionRequest = Schemas['PermissionRequest'];
/** How to answer a question again: with edited content, or by another model. */
export interface AnswerAgain {
  content?: string;
  model?: string;
}
export type RunChanges = Schemas['RunChanges'];
export type UndoneFiles = Schemas['UndoneFiles'];
export type Grant = Schemas['Grant'];
export type IntegrationState = Schemas['IntegrationState'];
export type ListedSkill = Schemas['ListedSkill'];
export type ModeName = Thread['mode'];

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
}

/** The metadata that the gateway stores with an assistant's turn. */
export interface AnswerData {
  run_id?: string;
  model?: string;
  usage?: Usage;
  cost_usd?: number;
  finish_reason?: string;
  /** Why the answer failed. */
  error?: string;
  duration_ms?: number;
  /** The models' reasoning, as far as the gateway stores it. */
  reasoning?: string;
  reasoning_ms?: number;
  in_reply_to?: string;
  partial?: boolean;
  superseded?: boolean;
  /** Messages that the librarian suggests to send next. */
  suggestions?: string[];
  /** Where each step ends in the text, in code points, and its tool calls. */
  steps?: { text_end: number; tool_call_ids: string[] }[];
  model_calls?: ModelCall[];
}

/** A model call of a run. `at_ms` counts from the start of the run. */
export interface ModelCall extends Usage {
  model: string;
  at_ms: number;
  duration_ms: number;
  cost_usd: number;
}

/** The metadata that the gateway stores with a tool's turn. */
export interface ToolData {
  run_id?: string;
  tool_call_id?: string;
  tool_name?: string;
  input?: unknown;
  is_error?: boolean;
  duration_ms?: number;
  /** When the tool was called, counted from the start of the run. */
  at_ms?: number;
  /** The part of `duration_ms` spent waiting for a person's decision. */
  waited_ms?: number;
  superseded?: boolean;
  /** Pictures that the tool returned. */
  pictures?: Attachment[];
}
