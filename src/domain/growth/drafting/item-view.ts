/** An item as surfaces show it. */
import { itemRecord } from '#contract/records/growth/item'
import type { KeptMarks } from '#contract/records/growth/marks'
import { viewOf } from '#contract/records/view'
import { authorshipOf } from './authorship.ts'
import { contentMark } from './content-mark.ts'
import type { Item } from './item.ts'
import { marksFor, marksIn } from './marks.ts'
import type { Warning } from './warnings.ts'

const view = viewOf(itemRecord)

/** What the warnings of an item depend on, or of a text that may become one. */
export type ShownItem = Partial<Item> &
  Pick<Item, 'body' | 'kind' | 'post_at' | 'revision' | 'written_by' | 'posting_account'>

/**
 * Items whose warnings are not computed yet, by the empty lists that stand for them. A symbol among
 * the fields of the view would double the time that its JSON takes.
 */
const unwarned = new WeakMap<readonly Warning[], ShownItem>()

/** The warnings of an item in a view, which are computed when the answer is serialised. */
export const toBeWarned = (item: ShownItem): Warning[] => {
  const warnings: Warning[] = []
  unwarned.set(warnings, item)
  return warnings
}

/** Those of a draft hold for its text and the account that would send it. */
export const marksOfItem = ({
  body,
  marks,
  status,
  posting_account,
}: Pick<Item, 'body' | 'marks' | 'status' | 'posting_account'>): KeptMarks | null =>
  status === 'drafted' ? marksFor(marks, { body, account: posting_account?.id }) : marks

/** Undefined if the warnings are computed. */
export const itemOfWarnings = (warnings: readonly Warning[]): ShownItem | undefined =>
  unwarned.get(warnings)

export const itemView = (item: Item) => {
  const shown = view(item)
  const marks = marksOfItem(item)
  return {
    ...shown,
    marks: marksIn(marks),
    ...authorshipOf(item),
    redraft:
      item.status === 'drafted' && item.redraft?.revision === item.revision
        ? item.redraft.status
        : null,
    comments: item.comments ?? 0,
    content_hash: contentMark(item.body, marks),
    warnings: toBeWarned(item),
    // A decision that ends the doubt leaves its record behind, which is not shown.
    doubt: item.status === 'publish_unconfirmed' ? shown.doubt : null,
  }
}

/**
 * The response body of every operation that returns one item. Names of people are left out, since
 * it may be kept for a caller who does not see them.
 */
export const itemAnswer = (item: Item): string =>
  JSON.stringify({ item: itemView({ ...item, names: null }) })
