/**
 * Reads what a post has left with its provider: the text of a message, and the files of a member's. Then the message is decided about as if
 * all of it had come at once. What cannot be read after a few tries is named in the message; without any text nothing is decided.
 */
import { ARRIVAL_TIMES, decided } from '#decisions/agent/channel-arrivals'
import { fetchedOf } from '#decisions/agent/channel-bounds'
import { openConnection } from '#decisions/agent/channel-connections'
import { keepFiles, type ReadFile } from '#decisions/agent/channel-files'
import type { ChannelConnection } from '#domain/agent/channel'
import { type ChannelMessage, type MessageFile, MOST_FILE_BYTES, STRANGERS_FILES, sorted } from '#domain/agent/channel-message'
import type { OnBehalf } from '#domain/agent/job'
import type { Models, NO_MODEL } from '#domain/agent/model-choice'
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
import type { Claimed, Claiming, Lane, LaneContext } from '../../engine/lane.ts'
import type { Decision } from '../../engine/letter.ts'
import { finished, requeued } from '../decisions.ts'

export interface FetchDeps {
  adapters: ChannelAdapters
  sealer: Sealer
  models(): Models | typeof NO_MODEL
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
/** Before it is tried again, after as many tries. */
const PAUSES_MS = [2_000, 10_000, 60_000, 300_000]
/** While the agent has too many open jobs. */
const FULL_MS = 30_000
const MOST_CLAIMS = 50
const LONGEST_ERROR = 300

/** Fetching twice does no harm. */
export const channelFetchLane = (deps: FetchDeps): Lane<Job, Outcome> => ({
  kind: 'channel_fetch',
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: claimFetch,
  run: (job, context) => deps.fetching.run(context.tenantId, () => runFetch(deps, job, context)),
  settle: (sql, gate, { work, outcome }) => settleFetch(deps, { sql, gate, work }, outcome),
  crashed: () => ({ kind: 'crashed' }),
})

const claimFetch = async (sql: Claiming['sql'], { deletesAt, now }: Claiming['gate'], work: Work): Promise<Claimed<Job>> => {
  const { message } = await loadNow(sql, { message: channelMessagePart(work.ref_id) })
  if (message?.state !== 'fetching') return { decision: finished(work) }
  if (deletesAt) return { decision: given(work, message, 'the workspace is about to be deleted', now) }
  const id = message.connection_id
  const { connection, sealed } = await loadNow(sql, { connection: channelConnectionPart(id), sealed: channelCredentialsPart(id) })
  return { job: { message, connection: connection!, sealed: sealed! }, decision: { reply: undefined } }
}

/** Nothing comes of it. */
const given = (work: Work, message: ChannelMessage, error: string, now: Date): Decision<void> => {
  const attachments = message.attachments.map((file) => ({ ...file, ref: null }))
  const failed: ChannelMessage = {
    ...message,
    attachments,
    state: 'failed',
    error: beginning(error, LONGEST_ERROR),
    to_fetch: null,
    updated_at: now,
  }
  return finished(work, { writes: [saveChannelMessage(failed)] })
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
  missing: 'internal: it could not be read',
}

const settleFetch = async (deps: FetchDeps, at: Claiming, outcome: Outcome): Promise<Decision<void>> => {
  const { sql, gate, work } = at
  const { now } = gate
  const { message } = await loadNow(sql, { message: channelMessagePart(work.ref_id) })
  if (message?.state !== 'fetching') return finished(work)
  if (outcome.kind === 'stopped') return requeued(work, now)
  const read = outcome.kind === 'crashed' ? { ...CRASHED, text: message.text, files: unread(message) } : outcome
  const pause = PAUSES_MS[work.attempt - 1]
  if (read.missing !== null && pause !== undefined) return requeued(work, new Date(now.getTime() + pause))
  if (read.text === null) return given(work, message, `it could not be read: ${read.gone ?? read.missing}`, now)
  if (read.isAutomatic) return given(work, message, 'a machine wrote it', now)
  return complete(deps, at, message, read)
}

const unread = ({ attachments }: ChannelMessage): ReadFile[] =>
  attachments.map((file) => ({ file: { ...file, error: file.error ?? 'it could not be read' }, content: undefined }))

const complete = async (deps: FetchDeps, { sql, gate, work }: Claiming, before: ChannelMessage, read: Read): Promise<Decision<void>> => {
  const { now } = gate
  const { connection_id: id, sender } = before
  const { connection, identity, facts } = await loadNow(sql, {
    connection: channelConnectionPart(id),
    identity: memberOfSender(id, sender),
    facts: arrivalFacts({ source: id, events: [], sender }, ARRIVAL_TIMES),
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
  // Whether strangers have room was asked when it came.
  const arrival = {
    connection: connection!,
    message,
    identity,
    facts: { ...facts, strangers_of_connection: 0, strangers_of_sender: 0 },
    now,
  }
  const result = await decided(deps.models(), arrival, { sql })
  if (result.kind === 'later')
    return work.attempt < MOST_CLAIMS
      ? requeued(work, new Date(now.getTime() + FULL_MS))
      : given(work, before, 'the agent had too many open jobs for too long', now)
  const row: Effects = { writes: [result.kind === 'taken' ? saveChannelMessage(result.message) : deleteChannelMessage(message.id)] }
  return finished(work, merge(result.effects, kept.effects, row))
}
