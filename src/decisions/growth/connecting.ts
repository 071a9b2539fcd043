/** Connecting and disconnecting accounts, from any caller. */

import { connectionRecord } from '#contract/records/growth/connection'
import { viewOf } from '#contract/records/view'
import type { PlanUsage } from '#domain/app/plan'
import { readPrices, readsView } from '#domain/app/read-budget'
import { type AccountRules, type Unfit, unfitFor } from '#domain/growth/sending/account-fit'
import type { Attempt } from '#domain/growth/sending/attempt'
import { type Connection, mostConnected } from '#domain/growth/sending/connection'
import { CHOOSING, type Choice, MOST_NAMED } from '#domain/growth/sending/not-connected'
import { renewAt } from '#domain/growth/sending/renewal'
import { refuseNaming } from '#domain/growth/way-on'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { appliesWithin } from '#port/network/applying'
import { type Network, NetworkError } from '#port/network/network'
import { type Networks, networkFor } from '#port/network/registry'
import type { Query, Sql } from '#store/engine/db'
import { forgetPending } from '#store/engine/idempotency'
import { type Effects, merge, type NewWork } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { columnOf } from '#store/growth/attempts'
import {
  accountNamed,
  countConnected,
  currentDefault,
  disconnect,
  makeDefault,
  saveCredentials,
  upsertConnection,
} from '#store/growth/connections'
import { newestDrafts } from '#store/growth/items'
import { hasReadable } from '#store/growth/metrics'
import { watchesWithoutAccount } from '#store/growth/targets'
import type { Deciding } from '../deciding.ts'
import { accountKey } from '../work.ts'
import { mentionsWork, metricsWork } from './follow-up.ts'
import { renewalWork } from './lost-account.ts'
import { goOverDrafts } from './marks-work.ts'
import { notConnected } from './not-connected.ts'
import { settleRecalled } from './recall.ts'

export const accountView = viewOf(connectionRecord)

/**
 * The read budget has the tier of the account's network; without an account, that of the first
 * network. `choices`: without an account, the other connected accounts.
 */
export const connectionView = (
  { networks, gate }: { networks: Networks; gate: PlanUsage },
  account: Connection | undefined,
  choices: readonly Choice[] = [],
) => {
  const network = networkFor(networks, account)
  const { tier } = network.limits
  const choose =
    account || choices.length === 0
      ? null
      : { call: CHOOSING, accounts: choices.slice(0, MOST_NAMED) }
  const about = {
    connected: account !== undefined,
    tier,
    account: account ? accountView(account) : null,
    choose,
  }
  return { connection: { ...about, reads: readsView(gate, tier), limits: limitsView(network) } }
}

/** What a network accepts and costs, for people and programs. */
export const limitsView = ({
  limits: { maxLength, maxLongLength, counting, actions, counts, prices, ...limits },
  keys,
}: Pick<Network, 'limits' | 'keys'>) => ({
  max_length: maxLength,
  max_article_length: maxLongLength,
  counting,
  actions: [...actions],
  counts: [...counts],
  read_back: keys !== undefined || appliesWithin(limits) !== undefined,
  prices: prices && {
    post: prices.post,
    post_with_link: prices.postWithLink,
    reply: prices.reply,
    interaction: prices.interaction,
    read_post: readPrices.post,
    read_own_post: readPrices.own_post,
  },
})

/** An account that its network has let us access. */
export interface ReachedAccount {
  network: string
  externalId: string
  handle: string
  displayName?: string | null
  /** What it is used with from now on. */
  session?: {
    /** Seals the credentials for the row with this id, in base64. */
    seal(id: string): string
    /** When they end, unless they are renewed. */
    endsAt: Date
  }
}

/**
 * Waits for a network to describe an account. Throws `network_error` if it is unreachable; networks
 * time out by themselves.
 */
export const reachAccount = async (
  { network, where }: { network: string; where?: string | undefined },
  running: Promise<Omit<ReachedAccount, 'network'>>,
): Promise<ReachedAccount> => {
  try {
    return { network, ...(await running) }
  } catch (cause) {
    if (!(cause instanceof NetworkError)) throw cause
    const at =
      where === undefined
        ? ''
        : `: no answer from ${where} that can be used; try again, or name another service`
    throw new AppError('network_error', `${cause.reason}${at}`, { cause })
  }
}

/** The network on which nothing is real. */
const PLAYGROUND = 'sandbox'

/**
 * The first account becomes the default, and so does the first of a real network. After that a
 * person chooses.
 */
const becomesDefault = (
  current: Connection | undefined,
  { id, network }: Pick<Connection, 'network'> & { id: string | undefined },
): boolean =>
  !current || current.id === id || (current.network === PLAYGROUND && network !== PLAYGROUND)

/** The row of an account, under its old id if it was connected before. */
const rowOf = (
  { network, externalId, handle, displayName = null, session }: ReachedAccount,
  before: Connection | undefined,
  now: Date,
): Omit<Connection, 'status' | 'is_default'> => {
  const id = before?.id ?? newId()
  return {
    id,
    network,
    external_id: externalId,
    handle,
    display_name: displayName,
    status_reason: null,
    reading_reason: before?.reading_reason ?? null,
    credentials: session?.seal(id) ?? null,
    created_at: before?.created_at ?? now,
    updated_at: now,
  }
}

/**
 * Connects an account, under its old id if it was connected before. `isDefault`: what the caller
 * asks for. Throws `conflict`.
 */
export const connectEffects = async (
  { sql, gate, tenantId }: Pick<Deciding, 'sql' | 'gate' | 'tenantId'>,
  reached: ReachedAccount,
  isDefault?: boolean,
): Promise<{ account: Connection; effects: Effects }> => {
  const { network, externalId, session } = reached
  const before = await accountNamed(sql, { network, externalId })
  if (before?.status !== 'connected' && (await countConnected(sql)) >= mostConnected)
    refuseNaming(
      'limit_reached',
      `cannot connect: ${mostConnected} accounts are connected; disconnect one first`,
      'growth.connections.list',
    )
  const current = await currentDefault(sql)
  const row = rowOf(reached, before, gate.now)
  const { id } = row
  const account: Connection = {
    ...row,
    status: 'connected',
    is_default: isDefault ?? becomesDefault(current, { id: before?.id, network }),
  }
  // An account connected again: its earlier posts are read again too.
  const work = (await hasReadable(sql, { externalId, now: gate.now }))
    ? [metricsWork({ tenantId, runAt: gate.now })]
    : []
  // Of the networks outside, some mark texts and tell of mentions; the rows find out.
  if (session)
    work.push(
      renewalWork(account, renewAt(gate.now, session.endsAt)),
      mentionsWork(account, gate.now),
      goOverDrafts(tenantId, gate.now),
    )
  const requeued = account.is_default ? await resumeWatching(sql, gate.now) : []
  if (!account.is_default || !current || current.id === id)
    return { account, effects: { writes: [upsertConnection(account)], work, requeued } }
  // There is one default at a time, so the mark moves after the account is there.
  const first = [upsertConnection({ ...account, is_default: false })]
  return { account, effects: { first, writes: [makeDefault(id, gate.now)], work, requeued } }
}

/** How many of the newest drafts are held against a new account. */
const MOST_DRAFTS_WEIGHED = 100

/** The newest drafts that an account cannot take as they are. */
export const unfitDrafts = async (
  { sql, networks }: Pick<Deciding, 'sql'> & { networks: Networks },
  account: Connection,
  isHandle: AccountRules['isHandle'],
): Promise<Unfit[]> => {
  const { drafts } = await loadNow(sql, { drafts: newestDrafts(MOST_DRAFTS_WEIGHED) })
  const { limits } = networkFor(networks, account)
  return unfitFor(drafts, { account, limits, isHandle })
}

/**
 * A session with which no account was connected: it is ended beside the mailbox, as that of a
 * disconnected account is.
 */
export const unconnectedEffects = async (
  { sql, gate }: Pick<Deciding, 'sql' | 'gate'>,
  reached: ReachedAccount,
): Promise<{ writes: Query[]; work: NewWork[] }> => {
  const before = await accountNamed(sql, reached)
  const row = rowOf(reached, before, gate.now)
  const account: Connection = { ...row, status: 'disconnected', is_default: false }
  const kept = before ? saveCredentials(row.id, row.credentials) : upsertConnection(account)
  return { writes: [kept], work: [renewalWork(account, gate.now)] }
}

/** A default account is available: watches that waited for one are due at once. */
export const resumeWatching = async (
  sql: Sql,
  now: Date,
): Promise<NonNullable<Effects['requeued']>> =>
  (await watchesWithoutAccount(sql)).map(({ id }) => ({ id, runAt: now }))

/** An attempt that may be on the wire, by its record. */
export const attemptInFlight = ({ sendable, record_id, origin, intent_at }: Attempt) => ({
  [columnOf[sendable]]: record_id,
  origin,
  since: intent_at,
})

/**
 * Disconnects an account. Its sends that are claimed but not yet on the wire do not go out; the
 * others take their outcome.
 */
export const disconnectEffects = async (
  context: Deciding,
  account: Connection,
  attempts: readonly Attempt[],
) => {
  const works = context.lanes.recall(
    (work) => work.concurrency_key === accountKey(account.external_id),
  )
  const { effects, recordIds } = await settleRecalled(context, works, {
    kind: 'disconnected',
    reason: 'disconnected',
  })
  const { now } = context.gate
  const writes = [disconnect(account.id, now), ...recordIds.map((id) => forgetPending(id))]
  // The session is ended beside the mailbox, and then what is sealed is erased.
  const work = account.credentials === null ? [] : [renewalWork(account, now)]
  const error =
    recordIds.length === 0 ? undefined : await notConnected(context.sql, { but: account.id })
  const answers = recordIds.map((refId) => ({ refId, with: error! }))
  const onTheWire = attempts.filter(
    ({ connection_id, record_id }) =>
      connection_id === account.id && !recordIds.includes(record_id),
  )
  return {
    result: { effects: merge({ writes, work }, effects), refId: account.id, answers },
    inFlight: onTheWire.map(attemptInFlight),
  }
}
