import { refuseNaming } from '../way-on.ts'
import type { Draft } from './draft.ts'
import {
  type FinishedGeneration,
  type Generation,
  newGeneration,
  refund,
  type TakenQuota,
} from './generation.ts'
import type { Item } from './item.ts'
import { itemStates } from './item-states.ts'
import { reviseText } from './revision.ts'

export interface Redraft extends Generation {
  item_id: string
  /** The version of the text that it was requested for. It changes no other version. */
  revision: number
  /** What to change, in the person's words. At most 2,000 characters. */
  hint: string
}

/** A new text for an item, with the drafter's remarks. */
export interface Redrafted extends Draft {
  /** Null for posts. */
  title: string | null
}

/** Throws `conflict` unless the item is a draft that is not being rewritten already. */
export const newRedraft = (
  id: string,
  { item, open, hint, now }: { item: Item; open: boolean; hint: string; now: Date },
): Redraft => {
  itemStates.next(item, 'redraft')
  if (open)
    refuseNaming(
      'wrong_state',
      'cannot redraft: the item is being redrafted already; read it until redraft is null',
      'growth.items.get',
      item.id,
    )
  return { ...newGeneration(id, now), item_id: item.id, revision: item.revision, hint }
}

/**
 * Its error if somebody has meanwhile changed the item or decided on it. The new text is dropped.
 */
export const MOVED = 'superseded: the item was changed or decided meanwhile'

/** Whether the item is still the one that was to be rewritten. */
export const isUnmoved = (
  { revision }: Pick<Redraft, 'revision'>,
  item: Pick<Item, 'status' | 'revision'> | undefined,
): boolean => item?.status === 'drafted' && item.revision === revision

/** The item with its new text, which waits for approval like the old one. */
export const redraftedItem = (
  item: Item,
  { title, ...draft }: Redrafted,
  { length, now }: { length: number; now: Date },
): Item => {
  const { body, format, hook, rationale, stories, learnings } = draft
  const text = { body, title, length, format, hook, rationale, stories, learnings }
  return { ...reviseText(item, text, { by: null, now }), last_error: null, updated_at: now }
}

export const readyRedraft = (
  redraft: Redraft,
  { model, usage, now }: Pick<Redraft, 'model' | 'usage'> & { now: Date },
): FinishedGeneration<Redraft> => ({
  record: { ...redraft, status: 'ready', model, usage, updated_at: now },
  events: [{ type: 'growth.approval.requested', data: { kind: 'item', item_id: redraft.item_id } }],
  refund: [],
})

/** Fails the redraft and returns its quota. The item keeps its text. */
export const failedRedraft = (
  redraft: Redraft,
  error: string,
  { taken, now }: { taken: TakenQuota; now: Date },
): FinishedGeneration<Redraft> => ({
  record: { ...redraft, status: 'failed', error, updated_at: now },
  events: [],
  refund: refund(taken, taken.amount),
})
