/** The table of kinds of work: where each runs, what keeps its rows apart, and what becomes of them when work is stopped. */
import { type WorkKind, type WorkLane, workKinds } from '#contract/work'
import { newId } from '#kernel/ids'
import type { NewWork, SecondRow } from '#store/engine/letter'
import type { WorkTable } from '#store/engine/work'
import { defaultAccountId } from '#store/growth/connections'

/** What is decided of a kind of work. A kind that leaves any of it open does not compile. */
export interface KindOfWork {
  lane: WorkLane
  /**
   * The concurrency key of a row, made of what `newWork` is given: rows of one key run one at a time. Null: the row goes out by the
   * account that is the default when it is claimed, and runs under that account's key.
   */
  key: (row: never) => string | null
  /** What a second row of the same kind and record does. */
  second: SecondRow
  /** People wait for it: when a person asked for it, it is due whatever the clock says. */
  awaited: boolean
  /**
   * What a stop of all work does with queued rows. `held`: they stay, and no claim of an automatic one succeeds before the stop
   * ends. `cancelled`: their records fail, and quota is returned. `skipped`: their runs end as skipped. `runs`: nothing.
   */
  queued: 'held' | 'cancelled' | 'skipped' | 'runs'
  /**
   * How the letter that recalls a running row settles it. `unsent`: its attempt ends as one that was not sent. `requeued`: it is
   * due again. `cancelled`: as above. `decided`: never recalled, because it is decided within its claim.
   */
  recalled: 'unsent' | 'requeued' | 'cancelled' | 'decided'
  /** What becomes of a row whose process died. `doubt`: its attempt may have been sent. `twice`: it runs twice at most. */
  orphaned: 'doubt' | 'requeued' | 'twice'
  /** Whether the request to delete the workspace also stops what a person asked for. What is automatic it always stops. */
  deletion: 'stops' | 'continues'
}

/** The key under which rows that go out by an account run. */
export const accountKey = (externalId: string): string => `publish:${externalId}`

/** By the network's own id of the account to which the record is bound. */
const byAccount = ({ account }: { account: string | null }): string | null => (account === null ? null : accountKey(account))

const fixed = (key: string) => (): string => key

const send = {
  lane: 'publish',
  key: byAccount,
  second: 'refused',
  awaited: true,
  queued: 'held',
  recalled: 'unsent',
  orphaned: 'doubt',
  deletion: 'stops',
} as const
const read = {
  lane: 'sync',
  second: 'refused',
  awaited: false,
  queued: 'held',
  recalled: 'requeued',
  orphaned: 'requeued',
  deletion: 'continues',
} as const
const generation = {
  lane: 'generation',
  key: fixed('generation'),
  second: 'refused',
  awaited: false,
  queued: 'cancelled',
  recalled: 'cancelled',
  orphaned: 'twice',
  deletion: 'stops',
} as const
/** Decided within the claim: the row never runs beside the mailbox. */
const decided = { ...read, recalled: 'decided' } as const

const table = {
  publish: send,
  execute: send,
  // What is in doubt is looked up beside the other reads, which may take long.
  reconcile: { ...read, key: fixed('reconcile'), second: 'replaces' },
  confirm: { ...read, key: fixed('confirm') },
  batch: generation,
  article: generation,
  growth_audit: generation,
  report: generation,
  engagement: generation,
  metrics: { ...read, key: fixed('sync'), second: 'hastens' },
  watch: { ...read, key: fixed('sync') },
  rule: { ...decided, key: fixed('rule'), queued: 'skipped' },
  rule_cron: { ...decided, key: fixed('rule') },
  weekly_report: { ...decided, key: fixed('sync'), second: 'keeps' },
  // Always counts as asked for by a person: events tell what has happened and do nothing.
  delivery: { ...read, lane: 'delivery', key: fixed('delivery'), second: 'hastens', queued: 'runs' },
} as const satisfies Record<WorkKind, KindOfWork>

export const kindsOfWork: Record<WorkKind, KindOfWork> = table

/** The kinds of which the table says this: `KindWith<'recalled', 'unsent'>`. */
export type KindWith<Column extends keyof KindOfWork, Value extends KindOfWork[Column]> = {
  [Kind in WorkKind]: (typeof table)[Kind][Column] extends Value ? Kind : never
}[WorkKind]

/** The kinds of which this holds. */
export const kindsWhere = (holds: (kind: KindOfWork) => boolean): WorkKind[] => workKinds.filter((kind) => holds(kindsOfWork[kind]))

type Particulars = Pick<NewWork, 'refId' | 'origin' | 'runAt' | 'payload'>

/** What the key of the kind is made of. */
type KeyParts<K extends WorkKind> = (typeof table)[K]['key'] extends (row: infer Row) => unknown ? Row : never

/** A row to be added. */
export const newWork = <K extends WorkKind>(kind: K, row: Particulars & KeyParts<K>): NewWork & { kind: K } => {
  const { lane, second } = kindsOfWork[kind]
  const { refId, origin, runAt, payload } = row
  return { id: newId(), kind, lane, second, key: keyOf(kind, row), refId, origin, runAt, ...(payload ? { payload } : {}) }
}

/** The concurrency key of a row of the kind, for a record that has changed since the row was added. */
export const keyOf = <K extends WorkKind>(kind: K, parts: KeyParts<K>): string | null => kindsOfWork[kind].key(parts as never)

/** What the engine needs to know of the table. */
export const workTable: WorkTable = {
  awaited: kindsWhere(({ awaited }) => awaited),
  keyWhenClaimed: (sql) => sql`${accountKey('')} || coalesce(${defaultAccountId(sql)}, '')`,
}
