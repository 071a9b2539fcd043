/**
 * What must hold of healthy work, whatever was killed: nothing lost or doubled, and nothing in
 * doubt but what was on the wire just then.
 */
import type postgres from 'postgres'
import type { Taken } from '../channels/provider.ts'
import type { Ledger } from '../ledger.ts'
import { brokenRules, seenItems } from '../posting/verdict.ts'
import { brokenDeliveries, type Heard, repeatsOf, type Written } from '../webhooks/verdict.ts'

/** So long a request and its outcome take at most, on a busy machine. */
const ON_THE_WIRE_MS = 4_000

export interface Seen {
  owner: postgres.Sql
  taken: readonly Taken[]
  heard: readonly Heard[]
  /**
   * When a process was killed, or the database went away or came back; by the clock of this
   * machine.
   */
  interruptions: readonly number[]
}

interface Message {
  state: string
  tried_at: string | null
}

type Part = Required<Pick<Ledger, 'counts' | 'never'>>

const wasInterrupted = ({ interruptions }: Seen, at: Date | string | null): boolean => {
  const began = at === null ? Number.NaN : new Date(at).getTime()
  return interruptions.some((broke) => began <= broke && broke - began <= ON_THE_WIRE_MS)
}

const verdictOfPosts = async (seen: Seen): Promise<Part> => {
  const { owner } = seen
  const [broken, ends] = [await brokenRules(owner), await seenItems(owner)]
  const doubts = await owner<
    { intent_at: Date | null }[]
  >`select (select max(a.intent_at) from attempt a where a.item_id = i.id) as intent_at
    from item i where i.status <> 'posted'`
  const never = {
    ...broken,
    'posts that failed or were given back': ends.failed + ends.returned + ends.drafted,
    'posts in doubt that were on no wire when something broke': doubts.filter(
      ({ intent_at }) => !wasInterrupted(seen, intent_at),
    ).length,
  }
  return {
    counts: {
      posts: ends.items,
      posted: ends.posted,
      in_doubt: ends.unconfirmed,
      for_a_person: ends.in_review,
    },
    never,
  }
}

const verdictOfReplies = async (seen: Seen): Promise<Part> => {
  const replies = await seen.owner<
    { id: string; status: string; parts: Message[] }[]
  >`select id, status, parts from channel_reply`
  const times = new Map<string, number>()
  for (const { id } of seen.taken) times.set(id, (times.get(id) ?? 0) + 1)
  const got = ({ id }: { id: string }) => times.get(`${id}.0`) ?? 0
  const of = (status: string) => replies.filter((reply) => reply.status === status)
  const [sent, unknown] = [of('sent'), of('unknown')]
  const never = {
    'replies sent twice': [...times.values()].filter((n) => n > 1).length,
    'replies called sent that nobody got': sent.filter((reply) => got(reply) === 0).length,
    'replies neither sent nor unknown': replies.length - sent.length - unknown.length,
    'replies unknown that were on no wire when something broke': unknown.filter(
      ({ parts }) =>
        !parts.some(({ state, tried_at }) => state === 'unknown' && wasInterrupted(seen, tried_at)),
    ).length,
  }
  return {
    counts: { replies: replies.length, replied: sent.length, unknown: unknown.length },
    never,
  }
}

const verdictOfDeliveries = async ({ owner, heard }: Seen): Promise<Part> => {
  const written = await owner<
    Written[]
  >`select id, tenant_id, subject from written order by created_at, id`
  const [row] = await owner<
    { dead: number; off: number }[]
  >`select (select count(*) from outbox where state = 'dead')::int as dead,
    (select count(*) from webhook_endpoint where status <> 'active')::int as off`
  const broken = brokenDeliveries(written, heard)
  const never = { ...broken, 'events given up': row!.dead, 'endpoints turned off': row!.off }
  return {
    counts: { events: written.length, lost: broken.lost ?? 0, delivered_again: repeatsOf(heard) },
    never,
  }
}

const verdictOfWork = async ({ owner }: Seen): Promise<Part> => {
  const [row] = await owner<
    { counted: number; most: number; dropped: number; left: number }[]
  >`select
    (select count(*) from counted)::int as counted, (select coalesce(max(failures), 0)
      from counted)::int as most,
    (select count(*) from audit where operation = 'work.dropped')::int as dropped,
    (select count(*) from work where kind in ('send', 'channel_reply', 'delivery'))::int as left`
  const { counted, most, dropped, left } = row!
  return {
    counts: { failures_counted: counted, most_of_a_row: most },
    never: { 'rows dropped': dropped, 'rows left': left },
  }
}

export const verdictOf = async (seen: Seen): Promise<Part> => {
  const parts = [
    await verdictOfPosts(seen),
    await verdictOfReplies(seen),
    await verdictOfDeliveries(seen),
    await verdictOfWork(seen),
  ]
  return {
    counts: Object.assign({}, ...parts.map(({ counts }) => counts)),
    never: Object.assign({}, ...parts.map(({ never }) => never)),
  }
}
