/**
 * Sends replies to channels: the parts of a reply in order, one request each, one at a time for a
 * connection. The claim records that a part is being sent. If a claim finds such a part, its
 * process has died, and the part may have been sent.
 */
import { sendingRefused } from '#decisions/agent/channel-connections'
import type { ChannelConnection } from '#domain/agent/channel/channel'
import { type MessageParts, plainPartsOf } from '#domain/agent/channel/forms/parts'
import { type ChannelReply, formParts, isReplyDone } from '#domain/agent/channel/reply'
import { leftOnTheWire } from '#domain/agent/channel/reply-decisions'
import {
  afterSend,
  beginReply,
  type Going,
  givenUpWhole,
  type PartOutcome,
  resumeReply,
  waiting,
  withdrawn,
} from '#domain/agent/channel/reply-sending'
import type { ChannelAdapter } from '#port/channel/channel'
import { channelConnectionPart, channelCredentialsPart } from '#store/agent/channel-connections'
import {
  isSenderGone,
  outgoingPart,
  replyPart,
  saveFormed,
  saveOutgoing,
  saveReply,
  unshownPart,
} from '#store/agent/channel-replies'
import { type Effects, merge } from '#store/engine/letter'
import { loadNow, when } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import type { Claimed, Claiming, Ending, Lane } from '../../engine/lane.ts'
import type { Decision } from '../../engine/letter.ts'
import { finishWork, requeue } from '../decisions.ts'
import {
  type Forming,
  form,
  LEASE_MS,
  type ReplyDeps,
  type Sending,
  sendPart,
} from './channel-send.ts'

/**
 * The connection sends no faster than its provider accepts messages. Nothing is recorded before its
 * turn.
 */
type Job = Sending | Forming | { kind: 'wait'; ms: number }
type Outcome = PartOutcome | { kind: 'waited' } | { kind: 'formed'; parts: MessageParts }

/** Longer pauses are spent in the queue, so that other work of the workspace can run. */
const LONGEST_SPACING_MS = 5_000
const LONGEST_PAUSE_MS = 3_600_000

export const channelReplyLane = (deps: ReplyDeps): Ending<Lane<Job, Outcome>> => ({
  kind: 'channel_reply',
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: (sql, gate, work) => claimReply(deps, { sql, gate, work }),
  logFields: (job) => (job.kind !== 'wait' && job.reply.job_id ? { job: job.reply.job_id } : {}),
  run: (job, context) => {
    if (job.kind === 'wait') return waited(job.ms, context.signal)
    return job.kind === 'form' ? form(deps, job, context) : sendPart(deps, job, context)
  },
  settle: (sql, gate, { work, job, outcome }) => settleReply({ sql, gate, work }, job, outcome),
  async givenUp(sql, gate, work) {
    const { reply } = await loadNow(sql, { reply: replyPart(work.ref_id) })
    return reply ? settled(work, givenUpWhole(reply, IN_VAIN, gate.now)) : finishWork(work)
  },
  crashed: () => ({ kind: 'unknown', error: 'internal error' }),
})

/** Judged by the configuration, because the credentials stay sealed in letters. */
const termsOf = (
  adapter: ChannelAdapter | undefined,
  { id, routing_key: routingKey, config }: ChannelConnection,
  now: Date,
) => ({
  now,
  repeatableForMs: adapter?.repeatableForMs?.({ id, routingKey, config, credentials: {} }) ?? 0,
})

/** Why nothing can be sent now. */
const blockOf = (
  adapter: ChannelAdapter | undefined,
  connection: ChannelConnection,
  { gate }: Claiming,
): string | undefined => {
  if (!adapter) return 'this server cannot send to the channel'
  if (gate.deletesAt) return 'the workspace is scheduled for deletion'
  return connection.status === 'active'
    ? undefined
    : `the connection is ${connection.status}: ${connection.last_error ?? 'not checked yet'}`
}

const IN_VAIN = 'internal: it could not be sent; tell the operator'

interface Found {
  adapter: ChannelAdapter | undefined
  connection: ChannelConnection
  /** Whether the sender whom it answers is no longer linked. */
  isGone: boolean | undefined
  outgoing: { next_out_at: Date | null } | undefined
}

/**
 * What a claim does with a reply of which nothing can be sent yet, or ever. Undefined if its next
 * part can be sent.
 */
const insteadOfSending = (
  { before, reply }: Pick<Early, 'before' | 'reply'>,
  { adapter, connection, isGone, outgoing }: Found,
  claiming: Claiming,
): Claimed<Job> | undefined => {
  const { work, gate } = claiming
  const { now } = gate
  if (isGone) return { decision: settled(work, { reply: withdrawn(reply, now), runAt: null }) }
  const block = blockOf(adapter, connection, claiming)
  if (block !== undefined) return { decision: settled(work, waiting(reply, block, now)) }
  if (reply.parts.length === 0)
    return {
      job: { kind: 'form', reply, channel: connection.channel },
      decision: { reply: undefined, effects: {} },
    }
  const next = outgoing?.next_out_at ?? now
  return next > now
    ? laterFor(work, { before, reply, ms: next.getTime() - now.getTime(), next })
    : undefined
}

const claimReply = async (deps: ReplyDeps, claiming: Claiming): Promise<Claimed<Job>> => {
  const { sql, gate, work } = claiming
  const { reply: before } = await loadNow(sql, { reply: replyPart(work.ref_id) })
  if (!before || isReplyDone(before)) return { decision: finishWork(work) }
  const id = before.connection_id
  if (id === null)
    return { decision: settled(work, { reply: leftOnTheWire(before, gate.now), runAt: null }) }
  const { connection, sealed, outgoing, isGone, unshown } = await loadNow(sql, {
    connection: channelConnectionPart(id),
    sealed: channelCredentialsPart(id),
    outgoing: outgoingPart(id),
    unshown: unshownPart(before.id),
    isGone: when(before.message_id !== null, isSenderGone(before.message_id)),
  })
  if (!connection) return { decision: finishWork(work) }
  const adapter = deps.adapters[connection.channel]
  const terms = termsOf(adapter, connection, gate.now)
  const reply = resumeReply(before, terms)
  const other = isReplyDone(reply)
    ? undefined
    : insteadOfSending({ before, reply }, { adapter, connection, isGone, outgoing }, claiming)
  if (other) return other
  await deps.failpoints('channel.reply.claiming')
  const { part, ...going } = beginReply(reply, terms)
  if (part === null) return { decision: settled(work, { ...going, runAt: null }) }
  const job: Sending = {
    kind: 'send',
    reply: going.reply,
    part,
    adapter: adapter!,
    connection,
    sealed: sealed!,
    unshown: unshown!,
  }
  return { job, decision: { reply: undefined, effects: { writes: [saveReply(going.reply)] } } }
}

interface Early {
  before: ChannelReply
  reply: ChannelReply
  ms: number
  next: Date
}

/** Its connection has just sent something, or its provider asked for a pause. */
const laterFor = (work: Work, { before, reply, ms, next }: Early): Claimed<Job> => {
  const writes = reply === before ? [] : [saveReply(reply)]
  if (ms > LONGEST_SPACING_MS) return { decision: requeue(work, next, { writes }) }
  return { job: { kind: 'wait', ms }, decision: { reply: undefined, effects: { writes } } }
}

const waited = (ms: number, signal: AbortSignal): Promise<Outcome> =>
  new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve({ kind: 'waited' })
    }
    if (signal.aborted) done()
    else signal.addEventListener('abort', done)
  })

const settleReply = async (
  { sql, gate: { now }, work }: Claiming,
  job: Job,
  outcome: Outcome,
): Promise<Decision<void>> => {
  if (outcome.kind === 'waited' || job.kind === 'wait') return requeue(work, work.run_at)
  const { reply: before } = await loadNow(sql, { reply: replyPart(work.ref_id) })
  if (!before || isReplyDone(before)) return finishWork(work)
  if (outcome.kind === 'formed' || job.kind === 'form')
    return settledForm(work, before, { job, outcome, now })
  const isRefused = outcome.kind === 'refused' && outcome.of === 'connection'
  const id = before.connection_id
  const { connection, check } = await loadNow(sql, {
    connection: when(isRefused && id !== null, channelConnectionPart(id ?? '')),
    check: when(isRefused && id !== null, workFor('channel_check', id ?? '')),
  })
  const going = afterSend(before, outcome, termsOf(job.adapter, job.connection, now))
  if (connection && isRefused)
    return settled(work, going, sendingRefused(connection, outcome.error, check, now))
  return settled(work, going, { writes: pauseAfter(job, outcome, now) })
}

/**
 * Its parts are saved, and it is the next reply of its connection. If the server stops first, the
 * parts are formed again.
 */
const settledForm = (
  work: Work,
  before: ChannelReply,
  { job, outcome, now }: { job: Job; outcome: Outcome; now: Date },
): Decision<void> => {
  if (before.parts.length > 0 || outcome.kind === 'stopped' || job.kind !== 'form')
    return requeue(work, work.run_at)
  const { texts, html } =
    outcome.kind === 'formed' ? outcome.parts : plainPartsOf(job.channel, before.text)
  const reply = { ...formParts(before, texts), updated_at: now }
  return requeue(work, work.run_at, { writes: [saveFormed(reply, html)] })
}

/** When the connection may send its next message. */
const pauseAfter = ({ adapter, connection: { id } }: Sending, outcome: PartOutcome, now: Date) => {
  if (outcome.kind === 'stopped') return []
  const asked =
    outcome.kind === 'unsent' ? Math.min(LONGEST_PAUSE_MS, outcome.retryAfterMs ?? 0) : 0
  const nextOutAt = new Date(now.getTime() + Math.max(adapter.spacingMs, asked))
  return [saveOutgoing(id, { nextOutAt, isSent: outcome.kind === 'sent', now })]
}

/** Goes before replies that came later, if it can continue at once. */
const settled = (work: Work, { reply, runAt }: Going, effects: Effects = {}): Decision<void> => {
  const all = merge({ writes: [saveReply(reply)] }, effects)
  if (runAt !== null) return requeue(work, runAt > reply.updated_at ? runAt : work.run_at, all)
  const detail = {
    connection_id: reply.connection_id,
    job_id: reply.job_id,
    parts: reply.parts.length,
  }
  return finishWork(work, {
    ...all,
    audit: { operation: `channel.reply.${reply.status}`, refId: reply.id, detail },
  })
}
