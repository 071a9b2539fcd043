/** What can be decided about a draft. */
import { ApiError } from '../../api/errors.ts'
import type { AnswerOf } from '../../api/operations.ts'
import { command } from '../../api/queries.ts'
import { notify, speak } from '../../frame/notices.ts'
import { clockOf, whenOf } from '../../parts/when.tsx'
import { hrefOf } from '../../router/paths.ts'
import { navigate } from '../../router/router.tsx'
import { enact, type ListDecision } from '../decide.ts'
import { sentWords } from '../sent-words.ts'
import type { TextCheck } from './checks.ts'
import { type DraftItem, firstLineOf } from './item.ts'
import { markOf } from './mark.ts'
import type { EditedDraft } from './use-draft.ts'
import type { SlotChoices } from './use-slots.ts'

type Answer = AnswerOf<'growth.items.approve'>

interface Deciding {
  draft: EditedDraft
  check: TextCheck | undefined
  slots: SlotChoices
  /** The hash of the text on the screen, as far as it is known. */
  hash: string | undefined
  next(): void
}

const reopen = (id: string) => command('growth.items.reopen', { id })

/** Back to a draft that could not be decided, which is in its place in the list. */
const comeBack = ({ id, kind }: DraftItem): void =>
  navigate(hrefOf('entry', { kind: kind === 'article' ? 'article' : 'draft', id }))

/** A slot that somebody took meanwhile: the next free one is chosen, and said. */
const onRefusal =
  (item: DraftItem, slots: SlotChoices, at: string | undefined) => (cause: unknown) => {
    if (!(cause instanceof ApiError)) return false
    if (cause.reason === 'slot_taken' && at !== undefined) {
      const free = cause.refusal.next_free_at
      if (free) slots.choose(free)
      notify({
        says: `${clockOf(at)} has been taken${free ? `; the next free time is ${whenOf(free)}` : ''}. Nothing was approved.`,
        tone: 'care',
      })
      comeBack(item)
      return true
    }
    if (cause.reason !== 'stale_text') return false
    const { by } = cause.refusal
    notify({
      who: by?.name ?? 'Somebody',
      says: 'changed the text meanwhile. Nothing was approved.',
      tone: 'care',
    })
    comeBack(item)
    return true
  }

/** The server stored what was on the screen, or says otherwise. */
const checkMark =
  (shown: string | undefined) =>
  (answer: Answer): string | undefined =>
    shown === undefined || answer.item.content_hash === shown
      ? undefined
      : `The server stored another text than the one shown: ${markOf(answer.item.content_hash)}`

/**
 * The approval of the text on the screen. A save that is under way is waited for; what is not saved
 * goes with it.
 */
const approval = async (draft: EditedDraft, slot: string | undefined): Promise<Answer> => {
  const item = await draft.newest(draft.item)
  const isUnsaved = draft.isEdited && draft.text !== item.body
  const answer = await command('growth.items.approve', {
    id: item.id,
    expect_hash: item.content_hash,
    ...(isUnsaved && { edited_body: draft.text }),
    ...(slot !== undefined && { post_at: slot, only_if_free: true }),
  })
  draft.forget()
  return answer
}

const approvalOf = ({ draft, slots, hash }: Deciding, slot: string | undefined) => ({
  id: draft.item.id,
  says: slot === undefined ? 'Approved without a time' : `Approved for ${whenOf(slot)}`,
  about: firstLineOf(draft.item),
  at: slot,
  act: () => approval(draft, slot),
  undo: () => reopen(draft.item.id),
  check: checkMark(hash),
  refused: onRefusal(draft.item, slots, slot),
})

const rejectionOf = (item: DraftItem, reason: string | undefined) => ({
  id: item.id,
  says: 'Rejected',
  about: firstLineOf(item),
  act: () => command('growth.items.reject', { id: item.id, ...(reason && { reason }) }),
  undo: () => reopen(item.id),
})

const postingOf = (draft: EditedDraft) => ({
  id: draft.item.id,
  says: 'Handed to the network',
  about: firstLineOf(draft.item),
  act: async () => {
    await approval(draft, undefined)
    return command('growth.items.postNow', { id: draft.item.id, wait: 1 })
  },
  check: ({ item }: Answer) => sentWords[item.status],
})

const removalOf = (item: DraftItem) => ({
  id: item.id,
  says: 'Deleted',
  about: firstLineOf(item),
  act: () => command('growth.items.remove', { id: item.id }),
  undo: () => command('growth.items.restore', { id: item.id }),
})

export const useDecisions = (deciding: Deciding) => {
  const { draft, check, slots, next } = deciding
  const begin = <A>(decision: ListDecision<A>): void => {
    next()
    void enact(decision)
  }
  const slot = slots.chosen?.at
  return {
    /** Why it cannot be approved; undefined if it can. */
    refusal: refusalOf(draft, check),
    approve: () => begin(approvalOf(deciding, undefined)),
    approveForSlot: () =>
      slot === undefined ? speak('There is no free slot') : begin(approvalOf(deciding, slot)),
    reject: (reason: string | undefined) => begin(rejectionOf(draft.item, reason)),
    postNow: () => begin(postingOf(draft)),
    remove: () => begin(removalOf(draft.item)),
  }
}

const refusalOf = (draft: EditedDraft, check: TextCheck | undefined): string | undefined => {
  if (draft.item.status !== 'drafted')
    return `It is ${draft.item.status.replaceAll('_', ' ')} and no longer a draft.`
  if (draft.isStale) return 'Choose one of the two texts first.'
  return check?.faults[0]
}
