/** Compares when the network received posts with what the database's clock had shown by then. */
import type postgres from 'postgres'
import type { DatabaseClock } from '#test/support/database/clock'
import { textOf } from '#test/support/growth/story'

/** Times are real, in epoch milliseconds, unless stated otherwise. */
export interface Ordered {
  id: string
  /** By the database's clock; null if a person posts it now. */
  postAt: number | null
  onMissed: 'post' | 'skip'
  /** When the request was sent, and when it was answered. */
  asked: number
  answered: number
}

export interface Verdict {
  posts: number
  early: number
  doubled: number
  /**
   * Neither posted, nor given back by on_missed, nor put before a person; or later than the limit.
   */
  missed: number
  given_back: number
  /** Put before a person, and those of them that are on the network after all. */
  unconfirmed: number
  unfound: number
  worst_late_ms: number
}

/** An item overdue by this much or more is not posted, by its on_missed. */
const ALLOWED_MS = { post: 3_600_000, skip: 60_000 }

type History = DatabaseClock['history']

const segmentsOf = (history: History) =>
  history.map(({ real, ahead }, at) => ({
    from: real,
    to: history[at + 1]?.real ?? Number.POSITIVE_INFINITY,
    ahead,
  }))

/** The first moment from `since` on at which the database's clock showed `time`, or undefined. */
export const firstShown = (history: History, time: number, since: number): number | undefined => {
  for (const { from, to, ahead } of segmentsOf(history)) {
    const at = Math.max(from, since, time - ahead)
    if (at < to) return at
  }
  return undefined
}

/** How long between `since` and `until` the database's clock showed `time` or later. */
export const shownFor = (
  history: History,
  time: number,
  { since, until }: { since: number; until: number },
): number => {
  const parts = segmentsOf(history).map(
    ({ from, to, ahead }) => Math.min(to, until) - Math.max(from, since, time - ahead),
  )
  return parts.reduce((sum, part) => sum + Math.max(0, part), 0)
}

interface Found {
  status: string
  last_error: string | null
  times: number
  /** When the network first received it. */
  at: number | null
}

const foundOf = async (owner: postgres.Sql): Promise<Map<string, Found>> => {
  const rows = await owner<(Found & { id: string })[]>`
    select i.id, i.status, i.last_error, count(p.id)::int as times,
      (extract(epoch from min(p.real_at)) * 1000)::float8 as at
    from item i left join sandbox.posts p on p.text = i.body group by i.tenant_id, i.id`
  return new Map(rows.map((row) => [row.id, row]))
}

const isEarly = (history: History, { postAt, asked }: Ordered, at: number): boolean =>
  postAt !== null && at < (firstShown(history, postAt, asked) ?? Number.POSITIVE_INFINITY)

/**
 * How long the item was due before it was posted or could no longer be; undefined if it always
 * could be.
 */
const lateness = (
  history: History,
  { postAt, onMissed, answered }: Ordered,
  at: number | null,
): number | undefined => {
  if (postAt === null) return at === null ? 0 : Math.max(0, at - answered)
  const until = at ?? firstShown(history, postAt + ALLOWED_MS[onMissed], answered)
  return until === undefined ? undefined : shownFor(history, postAt, { since: answered, until })
}

/**
 * The verdict, and descriptions of what is broken. Items in doubt are judged by what is on the
 * network.
 */
export const judge = async (
  owner: postgres.Sql,
  { orders, history, lateMs }: { orders: Ordered[]; history: History; lateMs: number },
): Promise<{ verdict: Verdict; broken: string[] }> => {
  const found = await foundOf(owner)
  const verdict: Verdict = {
    posts: 0,
    early: 0,
    doubled: 0,
    missed: 0,
    given_back: 0,
    unconfirmed: 0,
    unfound: 0,
    worst_late_ms: 0,
  }
  const broken: string[] = []
  const say = (what: 'early' | 'doubled' | 'missed', { id }: Ordered, why: string): void => {
    verdict[what]++
    broken.push(`${what}: ${textOf(id)} ${why}`)
  }
  for (const order of orders) {
    const item = found.get(order.id)
    if (!item) say('missed', order, 'is gone')
    else {
      verdict.posts += item.times
      if (item.times > 1) say('doubled', order, `is on the network ${item.times} times`)
      if (item.at !== null && isEarly(history, order, item.at))
        say('early', order, `was due ${new Date(order.postAt!).toISOString()}`)
      if (item.status === 'publish_unconfirmed') {
        verdict.unconfirmed++
        if (item.times > 0) verdict.unfound++
      }
      const isBack = item.status === 'approved' && item.last_error === 'missed'
      if (isBack) verdict.given_back++
      if (item.status !== 'posted' && item.status !== 'publish_unconfirmed' && !isBack)
        say('missed', order, `is ${item.status}: ${item.last_error}`)
      const late =
        item.status === 'publish_unconfirmed' && item.at === null
          ? 0
          : lateness(history, order, item.at)
      if (late === undefined) say('missed', order, 'was given back although it was never too late')
      else if (late > lateMs)
        say('missed', order, `is ${item.status}, and was due for ${Math.round(late)} ms`)
      verdict.worst_late_ms = Math.max(verdict.worst_late_ms, Math.round(late ?? 0))
    }
  }
  return { verdict, broken }
}
