/**
 * Fetches what a post has left with its provider: the text of a message, and the files of a
 * member's message. Then the message is decided as if all of it had arrived at once. If a file
 * cannot be read after a few tries, the message only names it; a missing text is requested for a
 * day.
 */
import { ARRIVAL_TIMES, type Arrival, decideMessage } from '#decisions/agent/channel-arrivals'
import { keepFiles, type ReadFile } from '#decisions/agent/channel-files'
import {
  crowdedEffects,
  failedEffects,
  type Losing,
  unreadEffects,
} from '#decisions/agent/channel-given-up'
import type { Takes } from '#decisions/agent/paying'
import { kindsOfWork } from '#decisions/work'
import { type ChannelMessage, isTooOld, nextFetch } from '#domain/agent/channel/message'
import type { OnBehalf } from '#domain/agent/job/job'
import type { Models, NO_MODEL } from '#domain/agent/job/model-choice'
import { AppError } from '#kernel/errors'
import type { FairLimit } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import { storable } from '#kernel/storable'
import { callerNow } from '#store/agent/callers'
import { channelConnectionPart, channelCredentialsPart } from '#store/agent/channel-connections'
import {
  arrivalFacts,
  channelMessagePart,
  deleteChannelMessage,
  memberOfSender,
  saveChannelMessage,
} from '#store/agent/channel-messages'
import { merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Work } from '#store/engine/work'
import type { Claimed, Claiming, Ending, Lane, LaneContext } from '../../engine/lane.ts'
import type { Decision } from '../../engine/letter.ts'
import { finishWork, requeue } from '../decisions.ts'
import {
  FETCH_MS,
  type Fetching,
  type ReadingDeps,
  type ReadMessage,
  readLeft,
} from './channel-reading.ts'

export interface FetchDeps extends ReadingDeps {
  models(): Models | typeof NO_MODEL
  desk: Takes
  /**
   * How many messages this process fetches at once, granted to tenants round-robin: the files of
   * each are in memory.
   */
  fetching: FairLimit
  log: Log
}

type Outcome = ReadMessage | { kind: 'stopped' } | { kind: 'crashed' }

const LEASE_MS = 3 * FETCH_MS
/** The pause while the agent has too many open jobs. */
const FULL_MS = 30_000
/** The pause while this process fetches too many others, or is stopping. */
const STOPPED_MS = 1_000
const UNREAD = 'internal: it could not be read'

/** Fetching twice does no harm. */
export const channelFetchLane = (deps: FetchDeps): Ending<Lane<Fetching, Outcome>> => ({
  kind: 'channel_fetch',
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: claimFetch,
  run: (job, context) => inTurn(deps, job, context),
  settle: (sql, gate, { work, outcome }) => settleFetch(deps, { sql, gate, work }, outcome),
  async givenUp(sql, gate, work) {
    const { message } = await loadNow(sql, { message: channelMessagePart(work.ref_id) })
    if (message?.state !== 'fetching') return finishWork(work)
    // If not even its sender can be told, only the message shows the failure.
    if (work.failures > kindsOfWork.channel_fetch.failures)
      return finishWork(work, failedEffects(message, UNREAD, gate.now))
    return finishWork(work, unreadEffects(await losing({ sql, gate, work }, message), UNREAD))
  },
  crashed: () => ({ kind: 'crashed' }),
})

const claimFetch = async (
  sql: Claiming['sql'],
  { deletesAt, now }: Claiming['gate'],
  work: Work,
): Promise<Claimed<Fetching>> => {
  const { message } = await loadNow(sql, { message: channelMessagePart(work.ref_id) })
  if (message?.state !== 'fetching') return { decision: finishWork(work) }
  if (deletesAt)
    return {
      decision: finishWork(
        work,
        failedEffects(message, 'the workspace is about to be deleted', now),
      ),
    }
  const id = message.connection_id
  const { connection, sealed } = await loadNow(sql, {
    connection: channelConnectionPart(id),
    sealed: channelCredentialsPart(id),
  })
  return {
    job: { message, connection: connection!, sealed: sealed! },
    decision: { reply: undefined },
  }
}

/** Fetches, unless its turn does not come in time. */
const inTurn = async (deps: FetchDeps, job: Fetching, context: LaneContext): Promise<Outcome> => {
  let hasBegun = false
  try {
    return await deps.fetching.run(context.tenantId, () => {
      hasBegun = true
      return readLeft(deps, job, context)
    })
  } catch (cause) {
    if (!hasBegun && cause instanceof AppError) return { kind: 'stopped' }
    throw cause
  }
}

const CRASHED: ReadMessage = {
  kind: 'read',
  text: null,
  changes: {},
  isAutomatic: false,
  files: [],
  gone: null,
  missing: UNREAD,
}

const settleFetch = async (
  deps: FetchDeps,
  at: Claiming,
  outcome: Outcome,
): Promise<Decision<void>> => {
  const { sql, gate, work } = at
  const { now } = gate
  const { message } = await loadNow(sql, { message: channelMessagePart(work.ref_id) })
  if (message?.state !== 'fetching') return finishWork(work)
  if (outcome.kind === 'stopped' && !isTooOld(message, now))
    return requeue(work, new Date(now.getTime() + STOPPED_MS))
  const read =
    outcome.kind === 'read' ? outcome : { ...CRASHED, text: message.text, files: unread(message) }
  const failures = failuresOf(work) + 1
  const next =
    read.missing === null
      ? undefined
      : nextFetch(message, { failures, hasText: read.text !== null, now })
  if (next) return fetchAgain(work, next, failures)
  if (read.text === null) {
    const error = `it could not be read: ${storable(read.gone ?? read.missing ?? '')}`
    return finishWork(work, unreadEffects(await losing(at, message), error))
  }
  if (read.isAutomatic) return finishWork(work, failedEffects(message, 'a machine wrote it', now))
  return complete(deps, at, message, read)
}

/** How many fetches failed. Other claims, which ended before or after the fetch, do not count. */
const failuresOf = ({ payload }: Work): number => Number(payload.failures ?? 0)

const fetchAgain = ({ id, payload }: Work, runAt: Date, failures: number): Decision<void> => ({
  reply: undefined,
  effects: { requeued: [{ id, runAt, payload: { ...payload, failures } }] },
})

/**
 * Its present sender, and the jobs that they have begun. `before`: when the message arrived, so
 * that only earlier ones count.
 */
const senderParts = ({ connection_id: id, sender }: ChannelMessage, before?: Date) => ({
  connection: channelConnectionPart(id),
  identity: memberOfSender(id, sender),
  facts: arrivalFacts({ source: id, events: [], sender, ...(before && { before }) }, ARRIVAL_TIMES),
})

const losing = async (
  { sql, gate: { now } }: Claiming,
  message: ChannelMessage,
): Promise<Losing> => {
  const { connection, identity, facts } = await loadNow(sql, senderParts(message))
  return { connection: connection!, message, isLinked: identity !== undefined, facts, now }
}

const unread = ({ attachments }: ChannelMessage): ReadFile[] =>
  attachments.map((file) => ({
    file: { ...file, error: file.error ?? 'it could not be read' },
    content: undefined,
  }))

/** In the sender's name, with their present role. */
const keepTheirs = async (
  { sql, gate }: Claiming,
  { files }: ReadMessage,
  { connection, message, identity }: Pick<Arrival, 'connection' | 'message' | 'identity'>,
) => {
  const author: OnBehalf = {
    kind: 'channel',
    id: identity?.id ?? connection.id,
    personId: identity?.person_id ?? null,
  }
  const { caller } = await loadNow(sql, { caller: callerNow(author) })
  const by = { author, role: identity ? (caller?.role ?? null) : null }
  return keepFiles({ connection, message, by }, files, { sql, gate })
}

/** The message with what its provider had of it. */
const completed = (
  before: ChannelMessage,
  { text, changes }: ReadMessage,
  known: Pick<ChannelMessage, 'attachments' | 'identity_id' | 'updated_at'>,
): ChannelMessage => ({ ...before, ...changes, text, to_fetch: null, ...known })

const complete = async (
  deps: FetchDeps,
  at: Claiming,
  before: ChannelMessage,
  read: ReadMessage,
): Promise<Decision<void>> => {
  const { sql, gate, work } = at
  const { now, plan } = gate
  const { connection, identity, facts } = await loadNow(sql, senderParts(before, before.created_at))
  const place = { connection: connection!, message: before, identity }
  const kept = await keepTheirs(at, read, place)
  const message = completed(before, read, {
    attachments: kept.files,
    identity_id: identity?.id ?? null,
    updated_at: now,
  })
  // Whether strangers have room was decided when it arrived. For a member's message, only earlier
  // messages count.
  const counted = { ...facts, strangers_of_connection: 0, strangers_of_sender: 0 }
  const result = await decideMessage(
    { models: deps.models(), desk: deps.desk, sealer: deps.sealer },
    { ...place, message, facts: counted, plan, now },
    { sql },
  )
  if (result.kind === 'later')
    return isTooOld(before, now)
      ? finishWork(work, crowdedEffects({ ...place, isLinked: identity !== undefined, facts, now }))
      : requeue(work, new Date(now.getTime() + FULL_MS))
  if (result.kind === 'taken')
    return finishWork(
      work,
      merge(result.effects, kept.effects, { writes: [saveChannelMessage(result.message)] }),
    )
  return finishWork(work, merge(result.effects, { writes: [deleteChannelMessage(message.id)] }))
}
