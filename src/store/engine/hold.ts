/**
 * The hold of a deployment: while it lasts, nothing goes out by itself. It is one row, which the
 * gate of every letter reads, so no workspace is woken or written for it. Beside it stands the
 * identity by which the deployment knows that its database was not copied.
 */
import type { Fragment, Sql } from './sql.ts'

/** `asked`: the operator started the server held. Each is more than the one before it. */
const causes = ['asked', 'copied', 'restored'] as const
export type HoldCause = (typeof causes)[number]

/** What a copy of the database does not bring along: a file, or an address. Names and values. */
export type DeploymentIdentity = Readonly<Record<string, string>>

export interface HoldStanding {
  /** Null before the first start. */
  identity: DeploymentIdentity | null
  /** Null while nothing is held, as are the cause and the next time. */
  since: Date | null
  cause: HoldCause | null
  /** The time of the backup or copy. Null also if nobody knows it. */
  as_of: Date | null
  /** The workspaces in which records were waiting for a decision already as the hold began. */
  marked_before: string[]
  /** The identity of the servers that are held. */
  held_identity: DeploymentIdentity | null
  /** The latest restore for which a hold has begun. */
  restored: string | null
  /** An operator has said that nothing else ran since, and the marks are being taken back. */
  vouched: boolean
  /** Objects in S3 may be those of another deployment. */
  keeps_objects: boolean
}

/** Since when the deployment is held; null while it is not. */
export const heldSince = (sql: Sql): Fragment => sql`(select h.since from hold h)`

/** For the role that owns the tables, as is all that follows. */
export const readStanding = async (sql: Sql): Promise<HoldStanding> =>
  (
    await sql<HoldStanding>`select d.identity, h.since, h.cause, h.as_of, h.marked_before,
      h.identity as held_identity, h.restored, h.vouched, h.keeps_objects
      from hold h left join deployment d on true`
  )[0]!

/** Any constant will do. */
const HOLD_LOCK = 7_164_017

/** Serialises those who begin or end a hold, until the transaction ends. */
export const lockStanding = async (sql: Sql): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${HOLD_LOCK})`
}

/** Of a deployment there is one row. If a policy hid it, nothing would be held, without a word. */
const writeOne = async (update: Fragment): Promise<void> => {
  const { length } = await update
  if (length !== 1)
    throw new Error(`the hold cannot be written: ${length} rows, where there must be one`)
}

export const setIdentity = (sql: Sql, identity: DeploymentIdentity): Promise<void> =>
  writeOne(sql`update deployment set identity = ${sql.json(identity)} returning 1`)

interface NewHold {
  cause: HoldCause
  identity: DeploymentIdentity
  asOf: Date | null
  markedBefore: readonly string[]
  /** The restore that is its cause. */
  restored: string | null
}

const stronger = (one: HoldCause, other: HoldCause | null): HoldCause =>
  other !== null && causes.indexOf(other) > causes.indexOf(one) ? other : one

/**
 * A deployment that is held already is held anew: what people have asked for until now may have
 * run elsewhere. What waited before the first of the holds is what waited before them all.
 */
export const beginHold = (
  sql: Sql,
  before: HoldStanding,
  { cause, identity, asOf, markedBefore, restored }: NewHold,
): Promise<void> =>
  writeOne(sql`update hold set since = clock_timestamp(), cause = ${stronger(cause, before.cause)},
    as_of = least(as_of, ${asOf}::timestamptz),
    marked_before = ${[...(before.since ? before.marked_before : markedBefore)]}::uuid[],
    identity = ${sql.json(identity)}, restored = coalesce(${restored}::text, restored),
    vouched = false, keeps_objects = keeps_objects or ${cause !== 'asked'} returning 1`)

/**
 * Whether the hold still is the one that began then. If so, it goes on at least until this
 * transaction ends.
 */
export const stillHeld = async (sql: Sql, since: Date): Promise<HoldStanding | undefined> => {
  await lockStanding(sql)
  const standing = await readStanding(sql)
  return standing.since?.getTime() === since.getTime() ? standing : undefined
}

/** From here on, nobody ends the hold otherwise than by taking back its marks. */
export const vouch = (sql: Sql): Promise<void> =>
  writeOne(sql`update hold set vouched = true returning 1`)

export const endHold = (sql: Sql, removesObjects: boolean): Promise<void> =>
  writeOne(sql`update hold set since = null, cause = null, as_of = null, marked_before = '{}',
    identity = null, vouched = false,
    keeps_objects = keeps_objects and not ${removesObjects} returning 1`)

/** Objects may be removed again, unless a hold has begun since. Returns whether they are kept. */
export const releaseObjects = async (sql: Sql): Promise<boolean> => {
  await lockStanding(sql)
  await sql`update hold set keeps_objects = false where since is null`
  return (await readStanding(sql)).keeps_objects
}

/**
 * The last time at which a server used this database, if one was using it as it was copied: all
 * that the original did until then is in it. Undefined after an orderly stop.
 */
export const lastBeat = async (sql: Sql): Promise<Date | undefined> => {
  const [row] = await sql<{ at: Date | null }>`select least(clock_timestamp(),
    max(expires_at) - interval '6 seconds') as at from node having count(*) > 0`
  return row?.at ?? undefined
}
