/**
 * Renews the credentials of an account before they end. Once the account is no longer connected, it
 * ends them at the network and forgets them. A renewal whose answer was lost is asked for again: a
 * network answers with the same successor, or refuses, which is the only end of a session.
 */
import type { Claimed, Claiming, Lane, LaneContext } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { mentionsWork } from '#decisions/growth/follow-up'
import { lostEffects } from '#decisions/growth/lost-account'
import { accountOf } from '#decisions/growth/timeline'
import type { Connection } from '#domain/growth/sending/connection'
import { renewAt, retryAt } from '#domain/growth/sending/renewal'
import type { Failpoints } from '#kernel/failpoint'
import type { NetworkSessions, SessionRenewal } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { connectionById, saveCredentials } from '#store/growth/connections'
import { finishWork, requeue } from '../decisions.ts'

export interface RenewalDeps {
  networks: Networks
  failpoints: Failpoints
}

interface Job {
  connection: Connection
  sessions: NetworkSessions
}

type Outcome = SessionRenewal | { kind: 'ended' } | { kind: 'stopped' }

const DEADLINE_MS = 20_000
/** How often a network is asked to end a session before we forget the credentials anyway. */
const MOST_GOODBYES = 5
/**
 * Posts that find the session over hasten its renewal, but not past the wait after a failure. A
 * longer wait is not kept against them: a person may have signed in again meanwhile.
 */
const LONGEST_REST_MS = 600_000

export const renewalLane = (deps: RenewalDeps): Lane<Job, Outcome> => ({
  kind: 'renewal',
  leaseMs: 3 * DEADLINE_MS,
  priority: 'background',
  claim: (sql, gate, work) => claimRenewal(deps, { sql, gate, work }),
  run: (job, context) => renew(deps, job, context),
  settle: (sql, gate, { work, job, outcome }) => settle({ sql, gate, work }, job, outcome),
  crashed: () => ({ kind: 'unanswered' }),
})

const connectionOf = async (sql: Claiming['sql'], { ref_id }: Work) =>
  (await connectionById(ref_id)(sql))[0]

const claimRenewal = async (
  { networks }: RenewalDeps,
  { sql, gate, work }: Claiming,
): Promise<Claimed<Job>> => {
  const connection = await connectionOf(sql, work)
  const sessions = connection && networks.named(connection.network)?.sessions
  if (!sessions || connection.credentials === null) return { decision: finishWork(work) }
  const until = Number(work.payload.rests_until ?? 0)
  const restMs = until - gate.now.getTime()
  // A longer one means that the clock stepped back.
  if (connection.status === 'connected' && restMs > 0 && restMs <= LONGEST_REST_MS)
    return { decision: requeue(work, new Date(until)) }
  return { job: { connection, sessions }, decision: { reply: undefined } }
}

const renew = async (
  { failpoints }: RenewalDeps,
  { connection, sessions }: Job,
  context: LaneContext,
): Promise<Outcome> => {
  await failpoints('renewal.asking')
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(DEADLINE_MS)])
  if (connection.status !== 'connected') {
    const isEnded = await sessions.end(accountOf(connection), signal)
    if (isEnded) return { kind: 'ended' }
    return context.signal.aborted ? { kind: 'stopped' } : { kind: 'unanswered' }
  }
  const renewal = await sessions.renew(accountOf(connection), signal)
  await failpoints('renewal.renewed')
  return renewal
}

const again = (work: Work, runAt: Date, payload: object = {}, effects: Effects = {}) => ({
  reply: undefined,
  effects: { ...effects, requeued: [{ id: work.id, runAt, payload: { ...payload } }] },
})

const settle = async (
  { sql, gate: { now }, work }: Claiming,
  job: Job,
  outcome: Outcome,
): Promise<Decision<void>> => {
  const connection = await connectionOf(sql, work)
  if (!connection) return finishWork(work)
  const isSame = connection.credentials === job.connection.credentials
  // Disconnected in the meantime: what is ended then is the session as it is now.
  const renewed =
    isSame && outcome.kind === 'renewed'
      ? [saveCredentials(connection.id, outcome.credentials)]
      : []
  const isOver = connection.status !== job.connection.status
  // Or connected again.
  if (!isSame || isOver || outcome.kind === 'stopped')
    return again(work, now, {}, { writes: renewed })
  const erased = () => finishWork(work, { writes: [saveCredentials(connection.id, null)] })
  switch (outcome.kind) {
    case 'renewed':
      // The row that reads what addresses it, for accounts connected before that was read.
      return again(
        work,
        renewAt(now, outcome.endsAt),
        {},
        { writes: renewed, work: [mentionsWork(connection, now)] },
      )
    case 'unanswered': {
      const failures = Number(work.payload.failures ?? 0) + 1
      if (connection.status !== 'connected' && failures > MOST_GOODBYES) return erased()
      const at = retryAt(now, failures, outcome.retryAfterMs)
      const rests_until = Math.min(at.getTime(), now.getTime() + LONGEST_REST_MS)
      return again(work, at, { failures, rests_until })
    }
    case 'ended':
      return erased()
    case 'refused': {
      const lost = { status: 'needs_reauth', reason: outcome.reason } as const
      return finishWork(work, lostEffects(connection, lost, now))
    }
    case 'suspended': {
      const { reason, credentials } = outcome
      const first = credentials ? [saveCredentials(connection.id, credentials)] : []
      const lost = lostEffects(connection, { status: 'suspended', reason }, now)
      return finishWork(work, { first, ...lost })
    }
  }
}
