/** The work that looks up what a text needs beside it. */
import type { Item } from '#domain/growth/drafting/item'
import { marksOfItem } from '#domain/growth/drafting/item-view'
import { mayHaveMarks } from '#domain/growth/drafting/marks'
import type { Effects, Gate, NewWork } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { newWork } from '../work.ts'

/** Somebody who types has their text saved again and again, with the beginnings of an address. */
const TYPING_MS = 2_000

interface Payload {
  /** Tries that were not answered. */
  tries?: number
  /** Goes over drafts, newest first; those before this one are left. */
  over?: { before: string | null; left: number }
}

export const marksPayload = ({ payload }: Work): Payload => payload as Payload

export const marksWork = (
  { id, revision }: Pick<Item, 'id' | 'revision'>,
  now: Date,
  payload: Payload = {},
): NewWork =>
  newWork('marks', {
    refId: id,
    origin: 'manual',
    runAt: revision > 1 ? new Date(now.getTime() + TYPING_MS) : now,
    payload: { ...payload },
  })

/** The most drafts that get marks by another account. Others get them when they are written. */
const MOST_GONE_OVER = 500

/** An account is connected, or another one is the default: drafts may be its own now. */
export const goOverDrafts = (tenantId: string, now: Date): NewWork =>
  newWork('marks', {
    refId: tenantId,
    origin: 'manual',
    runAt: now,
    payload: { over: { before: null, left: MOST_GONE_OVER } },
  })

/** Whether what a draft needs beside its text has yet to be looked up. */
export const isUnmarked = (item: Item, networks: readonly string[]): boolean => {
  const { status, posting_account: account } = item
  if (status !== 'drafted' || account === null) return false
  return (
    (!account || networks.includes(account.network)) &&
    mayHaveMarks(item.body) &&
    (account ? marksOfItem(item) : item.marks) === null
  )
}

const itemsIn = ({ first = [], writes = [] }: Effects): Item[] =>
  [...first, ...writes].flatMap(({ writes: written }) =>
    written?.table === 'item' && written.rows !== 'some' ? (written.rows as Item[]) : [],
  )

/**
 * Texts that were written have their marks looked up, if the workspace posts to a network whose
 * posts have some. `marking`: the names of these networks.
 */
export const withMarkWork = (
  effects: Effects,
  { now, networks }: Gate,
  marking: readonly string[],
): Effects => {
  const items = itemsIn(effects)
  if (items.length === 0) return effects
  const here = marking.filter((name) => networks.includes(name))
  if (here.length === 0) return effects
  const newest = new Map(items.map((item) => [item.id, item]))
  const work = [...newest.values()]
    .filter((item) => isUnmarked(item, here))
    .map((item) => marksWork(item, now))
  return work.length === 0 ? effects : { ...effects, work: [...(effects.work ?? []), ...work] }
}
