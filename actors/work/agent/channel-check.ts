/**
 * Asks a channel's provider whether a routing key belongs to a connection's credentials. Its
 * consent is not enough: the key must also be unused in the whole deployment. So one letter enters
 * the route if nobody has it, and the next letter finds out whose it is.
 */
import { createHash } from 'node:crypto'
import { checkRefused, openConnection } from '#decisions/agent/channel-connections'
import { wokenReplies } from '#decisions/agent/channel-replies'
import type { ChannelConnection } from '#domain/agent/channel/channel'
import {
  markUnreached,
  nextCheck,
  proven,
  withLearned,
} from '#domain/agent/channel/connection-health'
import { canonical } from '#kernel/canonical'
import type { Failpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import type { Sealer } from '#kernel/sealer'
import type { CredentialCheck } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'
import {
  channelConnectionPart,
  channelCredentialsPart,
  deleteChallengeRoute,
  hasChannelRoute,
  insertChallengeRoute,
  insertChannelRoute,
  saveChannelConnection,
} from '#store/agent/channel-connections'
import { waitingReplies } from '#store/agent/channel-replies'
import { merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Work } from '#store/engine/work'
import type { Claimed, Claiming, Lane, LaneContext } from '../../engine/lane.ts'
import type { Decision } from '../../engine/letter.ts'
import { finishWork, requeue } from '../decisions.ts'

export interface CheckDeps {
  adapters: ChannelAdapters
  sealer: Sealer
  failpoints: Failpoints
  log: Log
}

interface Check {
  connection: ChannelConnection
  sealed: { credentials: string | null }
}

/** `challenge`: SHA-256 of a WhatsApp verify token. */
type Outcome = (CredentialCheck & { challenge?: string | null }) | { kind: 'stopped' }

const CHECK_MS = 20_000
const LEASE_MS = 3 * CHECK_MS
const TAKEN = 'another workspace has connected this channel'

/** Asking twice does no harm. */
export const channelCheckLane = (deps: CheckDeps): Lane<Check, Outcome> => ({
  kind: 'channel_check',
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: claimCheck,
  run: (check, context) => runCheck(deps, check, context),
  settle: (sql, gate, { work, job, outcome }) => settleCheck({ sql, gate, work }, job, outcome),
  crashed: () => ({ kind: 'unreachable', error: 'the channel could not be checked' }),
})

const loadCheck = (sql: Claiming['sql'], id: string) =>
  loadNow(sql, { connection: channelConnectionPart(id), sealed: channelCredentialsPart(id) })

/** The provider has agreed, so find out whose route it is. */
const decided = async (sql: Claiming['sql'], connection: ChannelConnection, now: Date) => {
  const { route, replies } = await loadNow(sql, {
    route: hasChannelRoute(connection),
    replies: waitingReplies(connection.id),
  })
  if (!route.is) return checkRefused(connection, TAKEN, now)
  return merge(
    { writes: [saveChannelConnection(proven(connection, now))] },
    wokenReplies(replies, now),
  )
}

const claimCheck = async (
  sql: Claiming['sql'],
  { now }: Claiming['gate'],
  work: Work,
): Promise<Claimed<Check>> => {
  const { connection, sealed } = await loadCheck(sql, work.ref_id)
  if (!connection) return { decision: finishWork(work) }
  if (work.payload.proven === true)
    return { decision: finishWork(work, await decided(sql, connection, now)) }
  return { job: { connection, sealed: sealed! }, decision: { reply: undefined } }
}

/** A provider's challenge identifies only a verify token. */
const challengeOf = ({ verifyToken: token }: Readonly<Record<string, string>>): string | null =>
  token === undefined ? null : createHash('sha256').update(token).digest('hex')

const runCheck = async (
  deps: CheckDeps,
  check: Check,
  { signal, tenantId }: LaneContext,
): Promise<Outcome> => {
  const { adapters, sealer, failpoints, log } = deps
  const { channel, id } = check.connection
  await failpoints('agent.channel.checking')
  const adapter = adapters[channel]
  if (!adapter)
    return { kind: 'unreachable', error: `this deployment has no adapter for ${channel}` }
  const open = openConnection(sealer, check)
  const checked = await adapter.check(
    open,
    AbortSignal.any([signal, AbortSignal.timeout(CHECK_MS)]),
  )
  if (signal.aborted) return { kind: 'stopped' }
  log.debug(
    { workspace: tenantId, connection: id, channel, said: checked.kind },
    'a channel was checked',
  )
  return checked.kind === 'proven' && channel === 'whatsapp'
    ? { ...checked, challenge: challengeOf(open.credentials) }
    : checked
}

/** Whether the connection is still the one that was asked about. */
const isSame = (a: Check, b: Check): boolean =>
  a.sealed.credentials === b.sealed.credentials &&
  canonical(a.connection.config) === canonical(b.connection.config)

const settleCheck = async (
  { sql, gate: { now }, work }: Claiming,
  check: Check,
  outcome: Outcome,
): Promise<Decision<void>> => {
  const { connection, sealed } = await loadCheck(sql, work.ref_id)
  if (!connection) return finishWork(work)
  if (outcome.kind === 'stopped' || !isSame(check, { connection, sealed: sealed! }))
    return requeue(work, now)
  if (outcome.kind === 'refused')
    return finishWork(work, checkRefused(connection, outcome.error, now))
  if (outcome.kind === 'unreachable')
    return checkAgain(work, markUnreached(connection, outcome.error, now), now)
  const { learned = {}, challenge = null } = outcome
  const challenges = challenge === null ? [] : [insertChallengeRoute(connection.id, challenge)]
  return {
    reply: undefined,
    effects: {
      first: [insertChannelRoute(connection), ...challenges],
      writes: [
        saveChannelConnection(withLearned(connection, learned, now)),
        deleteChallengeRoute(connection.id, challenge),
      ],
      requeued: [{ id: work.id, runAt: now, payload: { proven: true } }],
    },
  }
}

const checkAgain = (work: Work, connection: ChannelConnection, now: Date): Decision<void> => {
  const next = nextCheck(connection, now)
  const effects = { writes: [saveChannelConnection(connection)] }
  return next ? requeue(work, next, effects) : finishWork(work, effects)
}
