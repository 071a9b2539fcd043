/** Answers that are kept under Idempotency-Keys, and the keys of requests that have none yet. */
import type { Fragment, Query, Sql } from './db.ts'

export interface IdempotencyClaim {
  key: string
  operation: string
  /** SHA-256 over operation, path and canonical input. */
  fingerprint: string
  /** The key is the deployment's own, for a command that travels between processes: nobody replays it later. */
  ours?: boolean
}

/** How a body is written in its row. */
export interface Written {
  encoding: 'text' | 'zstd'
  body: string
}

export interface StoredAnswer {
  operation: string
  fingerprint: string
  state: 'pending' | 'done'
  ref_id: string | null
  status: number | null
  encoding: Written['encoding']
  body: string | null
}

/** The answer that the same Idempotency-Key will replay. `pending` names the record whose outcome will supply it. */
export type Keep = { claim: IdempotencyClaim; status: number; answer: Written } | { claim: IdempotencyClaim; pending: string }

/** Longer bodies are compressed, in bytes. */
const PLAIN_UP_TO = 4_096

export const written = (text: string): Written => {
  const plain: Written = { encoding: 'text', body: text }
  const bytes = Buffer.byteLength(text)
  if (bytes <= PLAIN_UP_TO) return plain
  const packed = Bun.zstdCompressSync(Buffer.from(text)).toString('base64')
  return packed.length < bytes ? { encoding: 'zstd', body: packed } : plain
}

/** The text as it was given, to the byte. */
export const readBack = ({ encoding, body }: Written): string =>
  encoding === 'text' ? body : Bun.zstdDecompressSync(Buffer.from(body, 'base64')).toString('utf8')

const KEPT_S = 24 * 3_600
/** Longer than any process tries to have a command run elsewhere. */
const OURS_KEPT_S = 600

/** An expired row of the same key gives way; a living one does not, and the letter is run again from the gate. */
export const remember = (sql: Sql, keep: Keep, now: Date): Fragment => {
  const { key, operation, fingerprint, ours } = keep.claim
  const [state, ref, status, answer] =
    'pending' in keep ? ['pending', keep.pending, null, undefined] : ['done', null, keep.status, keep.answer]
  return sql`insert into idempotency as i (key, operation, fingerprint, state, ref_id, status, encoding, body, created_at, expires_at)
    values (${key}, ${operation}, ${fingerprint}, ${state!}, ${ref}, ${status}, ${answer?.encoding ?? 'text'}, ${answer?.body ?? null},
            ${now}, ${now}::timestamptz + ${ours ? OURS_KEPT_S : KEPT_S} * interval '1 second')
    on conflict (tenant_id, key) do update set operation = excluded.operation, fingerprint = excluded.fingerprint, state = excluded.state,
      ref_id = excluded.ref_id, status = excluded.status, encoding = excluded.encoding, body = excluded.body,
      created_at = excluded.created_at, expires_at = excluded.expires_at
    where i.expires_at <= now()`
}

/** The stored answer of a command whose reply belonged to a later letter: written by the letter that makes it final. */
export const resolvePending =
  (refId: string, status: number, text: string): Query =>
  (sql) => {
    const { encoding, body } = written(text)
    return sql`update idempotency set state = 'done', status = ${status}, encoding = ${encoding}, body = ${body}
      where ref_id = ${refId} and state = 'pending'`
  }

/** A provable failure frees the key: the same request may run again. `since`: only keys that were first used then or later. */
export const forgetPending =
  (refId: string, since = new Date(0)): Query =>
  (sql) =>
    sql`delete from idempotency where ref_id = ${refId} and state = 'pending' and created_at >= ${since}`

export interface StoredKey {
  state: 'pending' | 'done'
  /** With `pending`: the record whose outcome will supply the answer. */
  ref_id: string | null
}

/** What is known of a key, for a request that finds it in use. */
export const keptUnder =
  (key: string): Query =>
  (sql) =>
    sql`select state, ref_id from idempotency where key = ${key} and expires_at > now()`

/** What a workspace may have kept, in bytes. */
export const MOST_STORED_BYTES = 268_435_456

/** What it has kept, by the counters of a letter's gate. */
export const bytesKept = (counters: Record<string, number>): number => counters['answers@bytes'] ?? 0

const AT_ONCE = 1_000

export interface Room {
  /** Bytes of expired answers that `removeExpired` takes away. */
  expired: number
  /** Seconds until more of them expire. */
  wait: number
}

/** Looks at the oldest answers; to be asked only where there is no room. */
export const roomSoon = async (sql: Sql): Promise<Room> => {
  const [row] = await sql<Room[]>`select coalesce(sum(size) filter (where expires_at <= now()), 0)::int as expired,
      coalesce(extract(epoch from min(expires_at) filter (where expires_at > now()) - now()), 1)::float8 as wait
    from (select size, expires_at from idempotency order by expires_at limit ${AT_ONCE}) oldest`
  return row!
}

/** Removes some of the answers that have expired, the oldest first. */
export const removeExpired: Query = (sql) =>
  sql`delete from idempotency where key = any(array(
    select key from idempotency where expires_at <= now() order by expires_at limit ${AT_ONCE}))`
