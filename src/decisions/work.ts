/**
 * The table of kinds of work: where each runs, what keeps its rows apart, and what happens to them
 * when work is stopped.
 */
import { type WorkKind, workKinds } from '#contract/work'
import type { SendableKind } from '#domain/growth/sending/sendable'
import type { WorkTable } from '#store/engine/work'
import { defaultAccountId } from '#store/growth/connections'
import { boundsOf, type KindOfWork, rowsOf, useKey } from './kind-of-work.ts'

/** The key of rows that an account sends. */
export const accountKey = (externalId: string): string => `publish:${externalId}`

/** `account` is the network's id of the account that the record is bound to. */
const byAccount = ({ account }: { account: string | null }): string | null =>
  account === null ? null : accountKey(account)

const send = {
  lane: 'publish',
  key: byAccount,
  second: 'refused',
  awaited: true,
  queued: 'held',
  recalled: 'unsent',
  orphaned: 'doubt',
  whileHeld: 'runs',
  deletion: 'stops',
  failures: 3,
  inVain: 'ends',
} as const
const read = {
  lane: 'sync',
  second: 'refused',
  awaited: false,
  queued: 'held',
  recalled: 'requeued',
  orphaned: 'requeued',
  whileHeld: 'waits',
  deletion: 'continues',
  failures: 3,
  inVain: 'rests',
} as const
const generation = {
  lane: 'generation',
  key: useKey('generation'),
  second: 'refused',
  awaited: false,
  queued: 'cancelled',
  recalled: 'cancelled',
  orphaned: 'twice',
  whileHeld: 'runs',
  deletion: 'stops',
  failures: 3,
  inVain: 'ends',
} as const
/** Decided within the claim. The row never runs beside the mailbox. */
const decided = { ...read, recalled: 'decided' } as const

const table = {
  send,
  // Doubts are resolved beside the other reads, which can take long.
  reconcile: {
    ...read,
    key: ({ sendable }: { sendable: SendableKind }): string => `reconcile:${sendable}`,
    second: 'replaces',
    whileHeld: 'runs',
    // A person must settle a doubt whose timeline cannot be read.
    inVain: 'ends',
  },
  batch: generation,
  article: generation,
  growth_audit: generation,
  report: generation,
  redraft: generation,
  engagement: generation,
  metrics: { ...read, key: useKey('sync'), second: 'hastens', whileHeld: 'runs' },
  watch: { ...read, key: useKey('sync') },
  mentions: { ...read, key: useKey('sync'), second: 'keeps' },
  posted_read: {
    ...read,
    key: useKey('sync'),
    second: 'hastens',
    whileHeld: 'runs',
    inVain: 'ends',
  },
  // Renews what an account is used with, and ends it once the account is disconnected. It changes
  // nothing that others see, so a pause does not let the credentials run out.
  renewal: {
    ...read,
    key: ({ refId }: { refId: string }): string => `renewal:${refId}`,
    second: 'hastens',
    queued: 'runs',
    deletion: 'stops',
  },
  // Looks up what a text needs beside it. It changes nothing that others see, and somebody has just
  // written the text. A second row is of a later text.
  marks: {
    ...read,
    lane: 'ingest',
    key: useKey('marks'),
    second: 'replaces',
    queued: 'runs',
    whileHeld: 'runs',
    deletion: 'stops',
    inVain: 'ends',
  },
  // One run of a rule. If the run ends in vain, the rule goes on without it.
  rule: { ...decided, key: useKey('rule'), queued: 'skipped', inVain: 'ends' },
  rule_cron: { ...decided, key: useKey('rule') },
  weekly_report: { ...decided, key: useKey('sync'), second: 'keeps' },
  // Each claim does one thing of a job. What was begun but not settled is begun again, unless the
  // job's own steps show that it must not be repeated.
  agent: {
    ...read,
    lane: 'agent',
    key: ({ root }: { root: string }): string => `agent:${root}`,
    atOnce: { manual: 4, automatic: 1 },
    // One place stays free for others, however much one person asks for.
    share: { manual: 3, automatic: 1 },
    // Typed commands and direct tool calls do not wait for models. Those that only this database
    // answers, such as the kill switch, do not wait for networks either.
    places: { typed: { manual: 4, automatic: 1 }, brief: { manual: 4, automatic: 1 } },
    second: 'hastens',
    // A step that was begun is not dropped: the lane's outcome says what is known about it.
    recalled: 'returned',
    whileHeld: 'runs',
    inVain: 'ends',
  },
  agent_schedule: { ...decided, lane: 'agent', key: useKey('schedule') },
  // One document at a time. A second row for a document starts its current phase anew.
  ingest: {
    ...read,
    lane: 'ingest',
    key: useKey('ingest'),
    second: 'replaces',
    whileHeld: 'runs',
    inVain: 'ends',
  },
  mcp_look: {
    ...read,
    lane: 'ingest',
    key: ({ refId }: { refId: string }): string => `mcp:${refId}`,
    second: 'hastens',
    whileHeld: 'runs',
  },
  channel_check: {
    ...read,
    key: ({ refId }: { refId: string }): string => `channel:${refId}`,
    second: 'hastens',
    whileHeld: 'runs',
  },
  // Fetches the parts of a message that its provider still has. Somebody waits for the answer, and
  // fetching twice does no harm.
  channel_fetch: {
    ...read,
    lane: 'ingest',
    key: ({ refId }: { refId: string }): string => `fetch:${refId}`,
    atOnce: { manual: 4, automatic: 1 },
    inVain: 'ends',
  },
  // A connection sends one message at a time. If its process died, a reply is due again; its parts
  // tell what may have been sent.
  channel_reply: {
    ...read,
    lane: 'delivery',
    key: ({ connection }: { connection: string }): string => `reply:${connection}`,
    second: 'hastens',
    recalled: 'returned',
    deletion: 'stops',
    inVain: 'ends',
  },
  // Always counts as manual: events report what happened and change nothing.
  delivery: {
    ...read,
    lane: 'delivery',
    key: useKey('delivery'),
    second: 'hastens',
    queued: 'runs',
  },
} as const satisfies Record<WorkKind, KindOfWork>

export const kindsOfWork: Record<WorkKind, KindOfWork> = table

/** The kinds with this value in the table: `KindWith<'recalled', 'unsent'>`. */
export type KindWith<
  Column extends Exclude<keyof KindOfWork, 'atOnce' | 'share' | 'places'>,
  Value extends KindOfWork[Column],
> = {
  [Kind in WorkKind]: (typeof table)[Kind][Column] extends Value ? Kind : never
}[WorkKind]

export const kindsWhere = (holds: (kind: KindOfWork) => boolean): WorkKind[] =>
  workKinds.filter((kind) => holds(kindsOfWork[kind]))

export const { newWork, keyOf } = rowsOf(table)

/** The part of the table that the engine needs. */
export const workTable: WorkTable = {
  ...boundsOf(table),
  keyWhenClaimed: (sql) => sql`${accountKey('')} || coalesce(${defaultAccountId(sql)}, '')`,
}
