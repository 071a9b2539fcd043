/**
 * Reads the network for a record that may have gone out elsewhere, because a person wants to decide
 * on it. The reads are taken from the day's budget before, and what they did not cost is given back
 * after, in letters of their own. If the process dies in between they stay spent, because the
 * network may have billed them. Nothing else is kept, and nothing is decided.
 */
import type { itemReading } from '#contract/growth/item-reading'
import { MOST_SHOWN } from '#contract/records/growth/look'
import { evidenceOf } from '#decisions/growth/evidence'
import { identify, type Try } from '#decisions/growth/identify'
import { notConnected } from '#decisions/growth/not-connected'
import { sendables } from '#decisions/growth/sendables'
import { accountOf, type ReadResult, resourcesOf } from '#decisions/growth/timeline'
import {
  affordable,
  balanceReads,
  costOf,
  type ReadKind,
  readBudgetOf,
  takeReads,
} from '#domain/app/read-budget'
import type { Connection } from '#domain/growth/sending/connection'
import { type ElsewhereLook, elsewhereSince, lookOf } from '#domain/growth/sending/elsewhere'
import { readSince } from '#domain/growth/sending/reconcile'
import type { Sendable } from '#domain/growth/sending/sendable'
import { AppError, fail, found } from '#kernel/errors'
import { FairLimit } from '#kernel/fair-limit'
import type { Spend } from '#kernel/spend'
import type { Network } from '#port/network/network'
import type { Sql } from '#store/engine/db'
import type { Effects, Gate } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { accountOfRecord, doubtfulSince, type SendableRef } from '#store/growth/attempts'
import type { Handlers, World } from '../../engine/call.ts'
import { unreadError } from './reading-post.ts'

const READ_DEADLINE_MS = 10_000

/** One of a workspace at a time; each holds a request for as long as the network takes. */
const LIMITS = { name: 'looks', share: 1, total: 32 }

type Reach = Pick<World, 'ask' | 'networks'>

interface Reserved {
  record: Sendable
  /** The try that may have been made elsewhere. */
  attempt: Try
  connection: Connection
  network: Network
  reads: { kind: ReadKind; taken: Spend }
}

interface Letter {
  sql: Sql
  gate: Gate
}

const requireMarked = ({ restored_as_of }: Sendable, noun: string): Date =>
  restored_as_of ??
  fail(
    'conflict',
    `nothing to look for: the ${noun} does not wait for a decision about what became of it elsewhere`,
    { reason: 'wrong_state' },
  )

/** Throws if there is nothing to look for, no account to look with, or no read left today. */
const reserve = async (
  { networks }: Reach,
  of: SendableRef,
  { sql, gate }: Letter,
): Promise<{ reply: Reserved; effects: Effects }> => {
  const { moves, part } = sendables[of.sendable]
  const loaded = await loadNow(sql, { record: part(of.record_id), account: accountOfRecord(of) })
  const record = found(loaded.record, `no such ${moves.noun}`)
  const since = elsewhereSince(requireMarked(record, moves.noun))
  const bound = moves.networkOf(record)
  const network = loaded.account && networks.named(loaded.account.network)
  if (!network || (bound !== null && bound !== network.name))
    throw await notConnected(sql, { about: { moves, record } })
  const { has_open_posts: _, ...connection } = loaded.account!
  const attempt = { ...of, sent_text: moves.textOf(record), intent_at: since, doubt_at: null }
  const reads = takenFor(gate, {
    network,
    isTimeline: evidenceOf[of.sendable].isOnTimeline(record),
  })
  return {
    reply: {
      record,
      attempt: { ...attempt, intent_at: await doubtfulSince(sql, attempt) },
      connection,
      network,
      reads,
    },
    effects: { spend: [reads.taken] },
  }
}

/** As many reads as a look shows posts, or as there are left. */
const takenFor = (
  gate: Gate,
  { network, isTimeline }: { network: Network; isTimeline: boolean },
): Reserved['reads'] => {
  const { tier } = network.limits
  const budget = readBudgetOf(gate, tier)
  const kind = isTimeline ? 'own_post' : 'post'
  const wanted = isTimeline ? Math.min(MOST_SHOWN, affordable(budget, kind)) : 1
  return { kind, taken: takeReads(budget, costOf(tier, kind, Math.max(1, wanted)), gate.now) }
}

const settle = async (
  { record, attempt, connection, network, reads }: Reserved,
  result: ReadResult,
  { sql, gate: { now } }: Letter,
): Promise<{ reply: ElsewhereLook | AppError; effects: Effects }> => {
  const cost = costOf(network.limits.tier, reads.kind, resourcesOf(result))
  const effects = { spend: [balanceReads(reads.taken, cost)] }
  if (result.kind === 'unread' && (result.why || result.resources === undefined)) {
    const { why: reason = 'bad_answer', retryAfterMs } = result
    return { reply: unreadError({ reason, retryAfterMs }), effects }
  }
  const posts = result.kind === 'state' ? [] : (result.posts ?? [])
  const seen = result.kind === 'state' ? result : ({ kind: 'read', posts } as const)
  const identified = await identify(sql, { record, attempt, connection }, seen)
  const complete = result.kind !== 'unread'
  const since = readSince(attempt)
  return { reply: lookOf({ posts, since, now, complete, identified }), effects }
}

const read = ({ record, attempt, connection, network }: Reserved): Promise<ReadResult> =>
  evidenceOf[attempt.sendable].read(
    network,
    record,
    { account: accountOf(connection), since: readSince(attempt) },
    AbortSignal.timeout(READ_DEADLINE_MS),
  )

const look = async (
  reach: Reach,
  tenantId: string,
  of: SendableRef,
): Promise<ElsewhereLook | AppError> => {
  const letter = {
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'look' }, surface: 'rest' },
  } as const
  const reserved = await reach.ask<Reserved>(tenantId, {
    ...letter,
    name: 'looks.reserve',
    decide: (sql, gate) => reserve(reach, of, { sql, gate }),
  })
  const result = await read(reserved)
  return reach.ask<ElsewhereLook | AppError>(tenantId, {
    ...letter,
    name: 'looks.settle',
    // What was taken is given back whatever has happened to the workspace meanwhile.
    exempt: true,
    decide: (sql, gate) => settle(reserved, result, { sql, gate }),
  })
}

/** The handler of a look at the records of a kind. */
type Looking = (sendable: SendableRef['sendable']) => Handlers<typeof itemReading>['look']

/**
 * Whoever asks for the same look while it is made gets it too. Refusals come from the command's own
 * letter, unless that is a replay.
 */
export const lookingBy = (reach: Reach): Looking => {
  const slots = new FairLimit(LIMITS)
  const running = new Map<string, Promise<ElsewhereLook | AppError>>()
  const begin = async (tenantId: string, of: SendableRef): Promise<ElsewhereLook | AppError> => {
    try {
      const free = slots.take({ party: tenantId })
      return await look(reach, tenantId, of).finally(free)
    } catch (cause) {
      if (cause instanceof AppError) return cause
      throw cause
    }
  }
  const join = async (tenantId: string, of: SendableRef): Promise<ElsewhereLook | AppError> => {
    const name = `${of.sendable} ${tenantId} ${of.record_id}`
    const others = running.get(name)
    if (others) return others
    const own = begin(tenantId, of)
    running.set(name, own)
    try {
      return await own
    } finally {
      running.delete(name)
    }
  }
  return (sendable) => ({
    async prepare({ id }, { tenantId }) {
      const seen = await join(tenantId, { sendable, record_id: id })
      return async () => {
        if (seen instanceof AppError) throw seen
        return { reply: { look: seen } }
      }
    },
  })
}
