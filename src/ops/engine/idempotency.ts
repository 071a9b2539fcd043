/**
 * The answers that are kept under Idempotency-Keys: which a request claims, how they are stored and
 * replayed, and how much room they take.
 */
import { createHash } from 'node:crypto'
import type { Answer } from '#actors/engine/letter'
import { keyedInput } from '#contract/keyed-input'
import { isExempt, type NamedOp } from '#contract/op'
import { canonical } from '#kernel/canonical'
import { AppError, fail } from '#kernel/errors'
import type { SealedRow } from '#kernel/sealer'
import type { Query, Sql } from '#store/engine/db'
import {
  answerRow,
  bytesStored,
  decodeBody,
  type EncodedBody,
  encodeBody,
  type IdempotencyClaim,
  MOST_STORED_BYTES,
  removeExpiredAnswers,
  roomForAnswers,
  type StoredAnswer,
} from '#store/engine/idempotency'
import type { Gate } from '#store/engine/letter'
import type { Call, World } from './call.ts'

/** A command, as far as its key and its stored answer depend on it. */
interface Keyed {
  o: NamedOp
  input: unknown
  /** The input of the request of which this is a part. */
  whole?: unknown
  call: Call
  world: Pick<World, 'sealer'>
}

/**
 * Binds an answer to its person if it contains a secret, or if the handler decided by who the
 * caller is. What the agent holds depends on who asks as well, since conversations can be private;
 * keys without a person all see the same. Other answers are replayed to any key of the workspace: a
 * program may retry with another key.
 */
const personBinding = ({ o, call: { principal } }: Keyed): string => {
  const personId = principal.member?.personId
  if (o.secret || o.scope === 'session') return `\n${personId ?? principal.id}`
  return o.also === 'workspace:use' && personId !== undefined ? `\n${personId}` : ''
}

/** A hash over operation, path (its parameters are in the input) and canonical input. */
const fingerprintOf = (command: Keyed): string => {
  const { o, whole, input } = command
  const asked = canonical(keyedInput(o, (whole ?? input) as Record<string, unknown>))
  return createHash('sha256')
    .update(`${o.id}\n${o.path}\n${asked}${personBinding(command)}`)
    .digest('hex')
}

export const claimOf = (command: Keyed): IdempotencyClaim | undefined => {
  const { idempotencyKey: key } = command.call
  if (key === undefined) return undefined
  return {
    key,
    operation: command.o.id,
    fingerprint: fingerprintOf(command),
    ours: command.call.ownKey ?? false,
  }
}

/** The row that a sealed answer is bound to. */
const rowOf = ({ call }: Keyed): SealedRow => answerRow(call.tenantId, call.idempotencyKey ?? '')

/** The original text of a stored answer. */
const readStored = (command: Keyed, { encoding, body }: EncodedBody): string =>
  decodeBody({
    encoding,
    body: command.o.secret
      ? command.world.sealer.open(Buffer.from(body, 'base64'), rowOf(command))
      : body,
  })

export const toStored = (command: Keyed, text: string): EncodedBody => {
  const { encoding, body } = encodeBody(text)
  return {
    encoding,
    body: command.o.secret
      ? command.world.sealer.seal(body, rowOf(command)).toString('base64')
      : body,
  }
}

/**
 * Throws `rate_limited:idempotency` if the workspace's stored answers are at their limit, before
 * the command runs. If some of them have expired, returns the statement that removes those first.
 * Never refuses exempt operations or the deployment's own keys.
 */
export const makeRoom = async (
  { o, call }: Keyed,
  { counters }: Pick<Gate, 'counters'>,
  sql: Sql,
): Promise<Query[]> => {
  const bytes = bytesStored(counters)
  if (bytes < MOST_STORED_BYTES || call.ownKey || isExempt(o, 'answers')) return []
  const { expired, wait } = await roomForAnswers(sql)
  if (bytes - expired >= MOST_STORED_BYTES)
    fail('rate_limited', 'idempotency', { retryAfter: wait })
  return [removeExpiredAnswers]
}

/**
 * Exempt operations may exceed the limit up to twice. Beyond that their answers are not stored,
 * except those of operations that post.
 */
export const isOverfull = ({ o }: Keyed, { counters }: Pick<Gate, 'counters'>): boolean =>
  isExempt(o, 'answers') && o.kind !== 'awaited' && bytesStored(counters) >= 2 * MOST_STORED_BYTES

/**
 * Returns the stored answer or, while the work is in flight, the current record. Nothing runs
 * twice.
 */
export const replay = async (
  command: Keyed,
  seen: StoredAnswer,
  {
    claim,
    decide,
    late,
  }: { claim: IdempotencyClaim; decide(): Promise<unknown>; late(): Promise<Answer> },
): Promise<Answer> => {
  if (seen.fingerprint !== claim.fingerprint) {
    // An unknown id is 404 even with a reused key. A trial decision finds that out: it changes
    // nothing, because it is not applied.
    await decide().catch((cause) => {
      if (!(cause instanceof AppError) || cause.code === 'not_found') throw cause
    })
    fail('idempotency_key_reused')
  }
  if (seen.state === 'done')
    return {
      status: seen.status!,
      body: readStored(command, { encoding: seen.encoding, body: seen.body! }),
      replayed: true,
    }
  return late()
}
