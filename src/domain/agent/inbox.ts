/**
 * What waits for a person: which records, in which states, and in what order. Every declared record
 * has a row here, and each state of those that people decide about.
 */
import type { inboxKinds, inboxRecords } from '#contract/agent/inbox'
import type { versionStates } from '#contract/records/agent/playbook'
import type { RecordTable } from '#contract/records/all'
import { isUuid } from '#kernel/ids'
import type { EngagementStatus } from '../growth/drafting/engagement.ts'
import type { ItemStatus } from '../growth/drafting/item.ts'
import type { ReplyStatus } from './channel/reply.ts'
import type { Approval } from './job/approval.ts'
import type { mcpToolViews } from './mcp/tool.ts'

export type InboxKind = (typeof inboxKinds)[number]
export type InboxRecord = (typeof inboxRecords)[number]

/** The kinds of entries that records of a state make; null: it does not wait. */
type Waits<State extends string> = Record<State, readonly InboxKind[] | null>

/** An item in doubt waits only once it is in review; an approved one only where it is marked. */
const item = {
  drafted: ['draft', 'article'],
  approved: ['restored'],
  publishing: null,
  posted: null,
  rejected: null,
  publish_failed: ['refused'],
  publish_unconfirmed: ['doubt'],
} as const satisfies Waits<ItemStatus>

const engagement = {
  queued: null,
  generating: null,
  failed: null,
  drafted: ['engagement'],
  approved: ['restored'],
  executing: null,
  executed: null,
  rejected: null,
  execute_failed: ['refused'],
  execute_unconfirmed: ['doubt'],
} as const satisfies Waits<EngagementStatus>

const agent_approval = {
  pending: ['call'],
  approved: null,
  rejected: null,
} as const satisfies Waits<Approval['status']>

/** A failed reply is tried again by whoever looks for it; nothing depends on that. */
const channel_reply = {
  held: ['reply'],
  queued: null,
  sending: null,
  sent: null,
  failed: null,
  unknown: ['reply'],
  discarded: null,
} as const satisfies Waits<ReplyStatus>

const playbook_version = {
  draft: ['playbook'],
  active: null,
  retired: null,
  rejected: null,
} as const satisfies Waits<(typeof versionStates)[number]>

/** A new tool is offered to nobody and missed by nobody. A changed one is no longer offered. */
const mcp_tool = {
  new: null,
  ruled: null,
  changed: ['tool_change'],
} as const satisfies Waits<ReturnType<typeof mcpToolViews>[number]['state']>

/** By table. Null: no record of it ever waits for a decision of a person. */
const waitsByTable = {
  item,
  engagement,
  agent_approval,
  channel_reply,
  playbook_version,
  mcp_tool,
  agent_conversation: null,
  agent_feedback: null,
  agent_job: null,
  agent_memory: null,
  agent_message: null,
  agent_schedule: null,
  agent_step: null,
  agent_tool_rule: null,
  webhook_rule: null,
  api_key: null,
  article: null,
  artifact: null,
  artifact_share: null,
  attempt: null,
  batch: null,
  channel_connection: null,
  channel_identity: null,
  channel_message: null,
  comment: null,
  connection: null,
  document: null,
  document_passage: null,
  experiment: null,
  growth_audit: null,
  growth_channel: null,
  invitation: null,
  item_metric: null,
  learning: null,
  mcp_server: null,
  playbook: null,
  product: null,
  profile: null,
  profile_revision: null,
  report: null,
  revision: null,
  rule: null,
  rule_run: null,
  // Answering one is a choice; nothing waits for it.
  signal: null,
  target: null,
} as const satisfies Record<RecordTable, Waits<string> | null>

type WaitingStates<Table, States> = {
  [State in keyof States & string]: States[State] extends null
    ? never
    : `${Table & string}.${State}`
}[keyof States & string]

/** Every state that waits, such as `item.drafted`. */
export type WaitingState = {
  [Table in keyof typeof waitsByTable]: (typeof waitsByTable)[Table] extends null
    ? never
    : WaitingStates<Table, (typeof waitsByTable)[Table]>
}[keyof typeof waitsByTable]

/** The place of each kind among the others. Kinds with one place are mixed. */
export const inboxPlaces: Record<InboxKind, number> = {
  restored: 0,
  doubt: 1,
  refused: 2,
  call: 3,
  reply: 4,
  playbook: 5,
  tool_change: 5,
  draft: 6,
  article: 6,
  engagement: 6,
}

/**
 * The place of an entry in the list: that of its kind, that of its source, the key by which those
 * are sorted, and its id. None of it changes while the record waits, so that pages neither skip nor
 * repeat an entry.
 */
export interface InboxPlace {
  kind: number
  source: number
  /** Text in the order of its bytes: a uuid, or microseconds with leading zeros. May be empty. */
  key: string
  id: string
}

const CURSOR = /^([0-6]) (\d) (\S*) (\S+)$/

/** The forms of keys, by the places of kinds; elsewhere there is none. */
const keyForms: Partial<Record<number, (key: string) => boolean>> = {
  [inboxPlaces.call]: (key) => /^\d{17}$/.test(key),
  [inboxPlaces.draft]: isUuid,
}

/** The place as a cursor holds it. */
export const writePlace = ({ kind, source, key, id }: InboxPlace): string =>
  `${kind} ${source} ${key} ${id}`

/** Undefined for text that no place has. */
export const readPlace = (text: string): InboxPlace | undefined => {
  const [, kind = '', source = '', key = '', id = ''] = CURSOR.exec(text) ?? []
  const isKey = keyForms[Number(kind)] ?? ((text: string) => text === '')
  return isUuid(id) && isKey(key)
    ? { kind: Number(kind), source: Number(source), key, id }
    : undefined
}

/**
 * The operations by which calls of the agent decide about one draft. Such a call stands in the
 * entry of its draft.
 */
export const decidingTools = [
  'growth_approve_item',
  'growth_reject_item',
  'growth_approve_engagement',
  'growth_reject_engagement',
] as const
