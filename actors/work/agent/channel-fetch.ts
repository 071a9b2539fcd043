/**
 * Reads what a post has left with its provider: the text of a message, and the files of a member's. Then the message is decided about as if
 * all of it had come at once. A file that cannot be read after a few tries is named in the message; its text is asked for during a day.
 */
import { ARRIVAL_TIMES, decided } from '#decisions/agent/channel-arrivals'
import { fetchedOf } from '#decisions/agent/channel-bounds'
import { openConnection } from '#decisions/agent/channel-connections'
import { keepFiles, type ReadFile } from '#decisions/agent/channel-files'
import { crowdedEffects, failedEffects, type Losing, unreadEffects } from '#decisions/agent/channel-given-up'
import type { Takes } from '#decisions/agent/paying'
import { kindsOfWork } from '#decisions/work'
import type { ChannelConnection } from '#domain/agent/channel/channel'
import {
  type ChannelMessage,
  isTooOld,
  type MessageFile,
  MOST_FILE_BYTES,
  nextFetch,
  STRANGERS_FILES,
  sorted,
} from '#domain/agent/channel/message'
import type { OnBehalf } from '#domain/agent/job/job'
import type { Models, NO_MODEL } from '#domain/agent/job/model-choice'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import type { FairLimit } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { Sealer } from '#kernel/sealer'
import { beginning, storable } from '#kernel/storable'
import type { ChannelAdapter, OpenConnection } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'
import { callerNow } from '#store/agent/callers'
import { channelConnectionPart, channelCredentialsPart } from '#store/agent/channel-connections'
import { arrivalFacts, channelMessagePart, deleteChannelMessage, memberOfSender, saveChannelMessage } from '#store/agent/channel-messages'
import type { Effects } from '#store/engine/letter'
import { merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Work } from '#store/engine/work'
import type { Claimed, Claiming, Ending, Lane, LaneContext } from '../../engine/lane.ts'
import type { Decision } from '../../engine/letter.ts'
import { finished, requeued } from '../decisions.ts'

export interface FetchDeps {
  adapters: ChannelAdapters
  sealer: Sealer
  models(): Models | typeof NO_MODEL
  desk: Takes
  /** Messages that this process reads at once, granted to tenants round-robin: each has its files in memory. */
  fetching: FairLimit
  failpoints: Failpoints
  log: Log
}

interface Job {
  message: ChannelMessage
  connection: ChannelConnection
  sealed: { credentials: string | null }
}

/** `text`: null if there is none. `missing`: what could not be read for now. */
interface Read {
  kind: 'read'
  text: string | null
  changes: Partial<Pick<ChannelMessage, 'thread' | 'reply_to'>>
  isAutomatic: boolean
  files: ReadFile[]
  missing: string | null
  /** What will not be there later, either. */
  gone: string | null
}
type Outcome = Read | { kind: 'stopped' } | { kind: 'crashed' }

const FETCH_MS = 60_000
const LEASE_MS = 3 * FETCH_MS
/** While the agent has too many open jobs. */
const FULL_MS = 30_000
/** While this process fetches too much else, or stops. */
const STOPPED_MS = 1_000
const LONGEST_ERROR = 300
const UNREAD = 'internal: it could not be read'

/** Fetching twice does no harm. */
export const channelFetchLane = (deps: FetchDeps): Ending<Lane<Job, Outcome>> => ({
  kind: 'channel_fetch',
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: claimFetch,
  run: (job, context) => inTurn(deps, job, context),
  settle: (sql, gate, { work, outcome }) => settleFetch(deps, { sql, gate, work }, outcome),
  async givenUp(sql, gate, work) {
    const { message } = await loadNow(sql, { message: channelMessagePart(work.ref_id) })
    if (message?.state !== 'fetching') return finished(work)
    // If not even its sender can be told, the message says it alone.
    if (work.failures > kindsOfWork.channel_fetch.failures) return finished(work, failedEffects(message, UNREAD, gate.now))
    return finished(work, unreadEffects(await losing({ sql, gate, work }, message), UNREAD))
  },
  crashed: () => ({ kind: 'crashed' }),
})

const claimFetch = async (sql: Claiming['sql'], { deletesAt, now }: Claiming['gate'], work: Work): Promise<Claimed<Job>> => {
  const { message } = await loadNow(sql, { message: channelMessagePart(work.ref_id) })
  if (message?.state !== 'fetching') return { decision: finished(work) }
  if (deletesAt) return { decision: finished(work, failedEffects(message, 'the workspace is about to be deleted', now)) }
  const id = message.connection_id
  const { connection, sealed } = await loadNow(sql, { connection: channelConnectionPart(id), sealed: channelCredentialsPart(id) })
  return { job: { message, connection: connection!, sealed: sealed! }, decision: { reply: undefined } }
}

/** Unless its turn does not come in time. */
const inTurn = async (deps: FetchDeps, job: Job, context: LaneContext): Promise<Outcome> => {
  let hasBegun = false
  try {
    return await deps.fetching.run(context.tenantId, () => {
      hasBegun = true
      return runFetch(deps, job, context)
    })
  } catch (cause) {
    if (!hasBegun && cause instanceof AppError) return { kind: 'stopped' }
    throw cause
  }
}

const runFetch = async (deps: FetchDeps, { message, connection, sealed }: Job, context: LaneContext): Promise<Outcome> => {
  await deps.failpoints('agent.channel.fetching')
  const adapter = deps.adapters[connection.channel]
  const open = openConnection(deps.sealer, { connection, sealed })
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(FETCH_MS)])
  const read = await readMessage(adapter, open, message, signal)
  await deps.failpoints('agent.channel.fetched')
  return context.signal.aborted ? { kind: 'stopped' } : read
}

const readMessage = async (
  adapter: ChannelAdapter | undefined,
  open: OpenConnection,
  message: ChannelMessage,
  signal: AbortSignal,
): Promise<Read> => {
  const nothing: Read = { kind: 'read', text: message.text, changes: {}, isAutomatic: false, files: [], missing: null, gone: null }
  if (message.text !== null) return withFiles(adapter, open, { ...nothing, attachments: message.attachments }, signal)
  const fetched = await adapter?.fetch?.(open, message.to_fetch ?? {}, signal)
  if (fetched?.kind === 'unreachable') return { ...nothing, missing: fetched.error }
  if (fetched?.kind !== 'fetched') return { ...nothing, gone: fetched?.error ?? 'this deployment cannot fetch messages of the channel' }
  const { text, attachments, isAutomatic, ...changes } = fetchedOf(fetched.value)
  const files = sorted(attachments, message.identity_id === null ? STRANGERS_FILES : undefined)
  return withFiles(adapter, open, { ...nothing, text, changes, isAutomatic, attachments: files }, signal)
}

const withFiles = async (
  adapter: ChannelAdapter | undefined,
  open: OpenConnection,
  { attachments, ...read }: Read & { attachments: readonly MessageFile[] },
  signal: AbortSignal,
): Promise<Read> => {
  const files: ReadFile[] = []
  let missing: string | null = null
  for (const file of attachments) {
    if (file.ref === null || read.isAutomatic) {
      files.push({ file, content: undefined })
      continue
    }
    const fetched = await adapter?.download?.(open, file.ref, signal)
    if (fetched?.kind === 'unreachable') missing = fetched.error
    const content = fetched?.kind === 'fetched' ? textOf(fetched.value) : { error: fetched?.error ?? 'it cannot be fetched' }
    files.push(
      typeof content === 'string'
        ? { file, content }
        : { file: { ...file, error: beginning(storable(content.error), LONGEST_ERROR) }, content: undefined },
    )
  }
  return { ...read, files, missing }
}

const textOf = (bytes: Uint8Array): string | { error: string } => {
  if (bytes.byteLength > MOST_FILE_BYTES) return { error: 'it is larger than 1 MiB' }
  try {
    const text = storable(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return text.trim() === '' ? { error: 'it is empty' } : text
  } catch {
    return { error: 'it is not UTF-8' }
  }
}

const CRASHED: Read = {
  ...{ kind: 'read', text: null, changes: {}, isAutomatic: false, files: [], gone: null },
  missing: UNREAD,
}

const settleFetch = async (deps: FetchDeps, at: Claiming, outcome: Outcome): Promise<Decision<void>> => {
  const { sql, gate, work } = at
  const { now } = gate
  const { message } = await loadNow(sql, { message: channelMessagePart(work.ref_id) })
  if (message?.state !== 'fetching') return finished(work)
  if (outcome.kind === 'stopped' && !isTooOld(message, now)) return requeued(work, new Date(now.getTime() + STOPPED_MS))
  const read = outcome.kind === 'read' ? outcome : { ...CRASHED, text: message.text, files: unread(message) }
  const failures = failuresOf(work) + 1
  const next = read.missing === null ? undefined : nextFetch(message, { failures, hasText: read.text !== null, now })
  if (next) return again(work, next, failures)
  if (read.text === null) {
    const error = `it could not be read: ${storable(read.gone ?? read.missing ?? '')}`
    return finished(work, unreadEffects(await losing(at, message), error))
  }
  if (read.isAutomatic) return finished(work, failedEffects(message, 'a machine wrote it', now))
  return complete(deps, at, message, read)
}

/** Fetches that failed. Other claims, which ended before or after the fetch, do not count. */
const failuresOf = ({ payload }: Work): number => Number(payload.failures ?? 0)

const again = ({ id, payload }: Work, runAt: Date, failures: number): Decision<void> => ({
  reply: undefined,
  effects: { requeued: [{ id, runAt, payload: { ...payload, failures } }] },
})

const losing = async ({ sql, gate: { now } }: Claiming, message: ChannelMessage): Promise<Losing> => {
  const { connection_id: id, sender } = message
  const { connection, identity, facts } = await loadNow(sql, {
    connection: channelConnectionPart(id),
    identity: memberOfSender(id, sender),
    facts: arrivalFacts({ source: id, events: [], sender }, ARRIVAL_TIMES),
  })
  return { connection: connection!, message, isLinked: identity !== undefined, facts, now }
}

const unread = ({ attachments }: ChannelMessage): ReadFile[] =>
  attachments.map((file) => ({ file: { ...file, error: file.error ?? 'it could not be read' }, content: undefined }))

const complete = async (deps: FetchDeps, { sql, gate, work }: Claiming, before: ChannelMessage, read: Read): Promise<Decision<void>> => {
  const { now } = gate
  const { connection_id: id, sender } = before
  const { connection, identity, facts } = await loadNow(sql, {
    connection: channelConnectionPart(id),
    identity: memberOfSender(id, sender),
    facts: arrivalFacts({ source: id, events: [], sender, before: before.created_at }, ARRIVAL_TIMES),
  })
  const author: OnBehalf = { kind: 'channel', id: identity?.id ?? id, personId: identity?.person_id ?? null }
  const { caller } = await loadNow(sql, { caller: callerNow(author) })
  const place = { connection: connection!, message: before, by: { author, role: identity ? (caller?.role ?? null) : null } }
  const kept = await keepFiles(place, read.files, { sql, gate })
  const message: ChannelMessage = {
    ...before,
    ...read.changes,
    ...{ text: read.text, attachments: kept.files, identity_id: identity?.id ?? null, to_fetch: null, updated_at: now },
  }
  // Whether strangers have room was asked when it came. Of a member's messages, only those before it count.
  const arrival = {
    connection: connection!,
    message,
    identity,
    facts: { ...facts, strangers_of_connection: 0, strangers_of_sender: 0 },
    plan: gate.plan,
    now,
  }
  const result = await decided({ models: deps.models(), desk: deps.desk, sealer: deps.sealer }, arrival, { sql })
  if (result.kind === 'later') {
    if (!isTooOld(before, now)) return requeued(work, new Date(now.getTime() + FULL_MS))
    const lost = { connection: connection!, message: before, isLinked: identity !== undefined, facts, now }
    return finished(work, crowdedEffects(lost))
  }
  const row: Effects = { writes: [result.kind === 'taken' ? saveChannelMessage(result.message) : deleteChannelMessage(message.id)] }
  return finished(work, merge(result.effects, result.kind === 'taken' ? kept.effects : {}, row))
}
