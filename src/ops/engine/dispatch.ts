/** Runs a command in the process that owns its tenant, at most one hop away. */
import type { Answer } from '#actors/engine/letter'
import { isExempt, type NamedOp } from '#contract/op'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { currentTrace } from '#kernel/trace'
import { NodeUnreachable } from '#port/nodes'
import { nodeLives } from '#store/engine/nodes'
import { OwnedElsewhere } from '#store/engine/placement'
import type { Call, World } from './call.ts'

interface Dispatch {
  o: NamedOp
  input: unknown
  call: Call
}

/** The prefix of idempotency keys that the deployment adds to commands without one. */
const OWN_KEY = 'tendril-letter-'

/** How long a command waits for a new owner when the connection to its owner breaks. */
const NEW_OWNER_WITHIN_MS = 3_000
const RETRY_EVERY_MS = 100
/** How many owners may fail one after the other. */
const MAX_BREAKS = 3

/**
 * `local` runs the command in this process, or throws `OwnedElsewhere`. A forwarded command always
 * carries an idempotency key, the client's or a new one, so a second run replays the stored answer.
 * Throws `unavailable` if no owner answers.
 */
export const dispatch = async (
  world: World,
  { o, input, call }: Dispatch,
  local: (call: Call) => Promise<Answer>,
): Promise<Answer> => {
  if (call.forwarded) return local(call)
  const { idempotencyKey } = call
  const keyed =
    idempotencyKey === undefined
      ? { ...call, idempotencyKey: `${OWN_KEY}${newId()}`, ownKey: true }
      : { ...call, idempotencyKey }
  let broken: { incarnation: string; at: number } | undefined
  for (let breaks = 0; ; ) {
    try {
      return hideReplay(call, await local(broken ? keyed : call))
    } catch (cause) {
      if (!(cause instanceof OwnedElsewhere)) throw cause
      const answer = await forward(world, { o, input, call: keyed }, cause)
      if (answer) return hideReplay(call, answer)
      const { incarnation } = cause.owner
      if (broken?.incarnation !== incarnation) {
        broken = { incarnation, at: performance.now() }
        breaks++
      }
      if (breaks > MAX_BREAKS || performance.now() - broken.at > NEW_OWNER_WITHIN_MS)
        throw new AppError(
          'unavailable',
          'the process that serves this workspace cannot be reached, try again',
          { retryAfter: 2, cause },
        )
      await Bun.sleep(RETRY_EVERY_MS)
    }
  }
}

/** Hides the replay from a caller that sent no key. */
const hideReplay = ({ idempotencyKey }: Call, { replayed, ...answer }: Answer): Answer =>
  idempotencyKey === undefined || !replayed ? answer : { ...answer, replayed }

type Keyed = Dispatch & { call: { idempotencyKey: string } }

/**
 * The owner still runs the command whose connection broke. With our own key, that is not the
 * caller's error.
 */
const stillRuns = (cause: unknown, key: string): boolean =>
  key.startsWith(OWN_KEY) && cause instanceof AppError && cause.code === 'idempotency_in_flight'

/** The owner's answer; undefined if the connection broke. */
const forward = async (
  { db, nodes }: World,
  { o, input, call }: Keyed,
  { owner }: OwnedElsewhere,
): Promise<Answer | undefined> => {
  const { tenantId, principal, surface, requestId, idempotencyKey, ownKey } = call
  const remote = {
    tenantId,
    principal,
    surface,
    requestId,
    idempotencyKey,
    ownKey,
    trace: currentTrace(),
    scopes: [...call.scopes],
  }
  try {
    const how = { isAlive: () => nodeLives(db, owner.incarnation), urgent: isExempt(o, 'rates') }
    return await nodes.send(owner.url, { operation: o.id, input, call: remote }, how)
  } catch (cause) {
    if (cause instanceof NodeUnreachable || stillRuns(cause, idempotencyKey)) return undefined
    throw cause
  }
}
