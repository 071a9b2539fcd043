/**
 * The hold of a deployment: while it lasts, nothing goes out by itself. It is one row, which the
 * gate of every letter reads, so no workspace is woken or written for it. Beside it stands the
 * identity by which the deployment knows that its database was not copied.
 */
import type { Fragment, Sql } from './sql.ts'

/** `asked`: the operator started the server held. */
export type HoldCause = 'copied' | 'restored' | 'asked'

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
  /** Records were waiting for a decision already as the hold began. */
  had_marks: boolean
  /** The identity of the servers that are held. */
  held_identity: DeploymentIdentity | null
  /** Objects in S3 may be those of another deployment. */
  keeps_objects: boolean
}

/** Since when the deployment is held; null while it is not. */
export const heldSince = (sql: Sql): Fragment => sql`(select h.since from hold h)`

/** For the role that owns the tables, as is all that follows. */
export const readStanding = async (sql: Sql): Promise<HoldStanding> =>
  (
    await sql<HoldStanding>`select d.identity, h.since, h.cause, h.as_of, h.had_marks, h.identity as held_identity,
        h.keeps_objects
      from hold h left join deployment d on true`
  )[0]!

/** Any constant will do. */
const HOLD_LOCK = 7_164_017

/** Serialises those who begin or end a hold, until the transaction ends. */
export const lockStanding = async (sql: Sql): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${HOLD_LOCK})`
}

export const setIdentity = async (sql: Sql, identity: DeploymentIdentity): Promise<void> => {
  await sql`update deployment set identity = ${sql.json(identity)}`
}

interface NewHold {
  cause: HoldCause
  identity: DeploymentIdentity
  asOf: Date | null
  hadMarks: boolean
}

/** A hold that has begun goes on; only the identity of its servers changes. */
export const beginHold = async (
  sql: Sql,
  { cause, identity, asOf, hadMarks }: NewHold,
): Promise<void> => {
  await sql`update hold set since = coalesce(since, clock_timestamp()), cause = coalesce(cause,
      ${cause}), as_of = least(as_of, ${asOf}), had_marks = had_marks or ${hadMarks},
      identity = ${sql.json(identity)},
      keeps_objects = keeps_objects or ${cause !== 'asked'}`
}

export const endHold = async (sql: Sql, removesObjects: boolean): Promise<void> => {
  await sql`update hold set since = null, cause = null, as_of = null, had_marks = false, identity = null,
    keeps_objects = keeps_objects and not ${removesObjects}`
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
