/** One decision about many drafts, taken back by one undo. */
import type { AnswerOf, InputOf } from '../api/operations.ts'
import { addUndo, forgetUndo, notify } from '../frame/notices.ts'
import { quantityOf } from '../parts/many.ts'
import { hide, unhide } from './hidden.ts'
import { deselect, type SelectedDraft } from './selection.ts'

type Action = InputOf<'growth.items.bulk'>['action']
export type TogetherEntry = InputOf<'growth.items.bulk'>['items'][number]
type Result = AnswerOf<'growth.items.bulk'>['results'][number]

/** What a request takes. */
const IN_A_REQUEST = 100

/** How the server is asked, and what is on the screen read again. */
export interface AskTogether {
  send(input: InputOf<'growth.items.bulk'>): Promise<AnswerOf<'growth.items.bulk'>>
  readAgain(): Promise<unknown>
  /** An error in words. */
  words(cause: unknown): string
}

interface Outcome {
  results: Result[]
  /** Why a request failed: what came before it has been done, and nothing after it. */
  failure?: string
}

const request = async (
  { send, words }: AskTogether,
  action: Action,
  items: readonly TogetherEntry[],
): Promise<Outcome> => {
  const results: Result[] = []
  try {
    for (let from = 0; from < items.length; from += IN_A_REQUEST) {
      const part = items.slice(from, from + IN_A_REQUEST)
      results.push(...(await send({ action, items: part })).results)
    }
    return { results }
  } catch (cause) {
    return { results, failure: words(cause) }
  }
}

/** What was not done, and the first reason for it. */
const refusalOf = ({ results, failure }: Outcome): string | undefined => {
  if (failure !== undefined) return failure
  const refused = results.filter(({ error }) => error !== null)
  if (refused.length === 0) return undefined
  return `${quantityOf(refused.length, 'draft')} not: ${refused[0]!.error!.message}.`
}

const doneOf = ({ results }: Outcome): string[] =>
  results.filter(({ error }) => error === null).map(({ id }) => id)

const tell = (outcome: Outcome, says: string, step?: number): void => {
  const refusal = refusalOf(outcome)
  notify({
    says: `${quantityOf(doneOf(outcome).length, 'draft')} ${says}${refusal === undefined ? '' : `, ${refusal}`}`,
    tone: refusal === undefined ? 'plain' : 'care',
    step,
  })
}

export interface TogetherDecision {
  action: 'approve' | 'reject'
  /** `approved` and the like. */
  says: string
  entries: readonly SelectedDraft[]
  /** What the request says of each. */
  each(entry: SelectedDraft): TogetherEntry
}

/** All leave the list at once; what the server refuses returns, with its reason. */
export const decidesTogether =
  (asking: AskTogether) =>
  async ({ action, says, entries, each }: TogetherDecision): Promise<void> => {
    const reopenAll = async (ids: readonly string[]): Promise<void> => {
      const items = ids.map((id) => ({ id }))
      tell(await request(asking, 'reopen', items), 'taken back')
      await asking.readAgain()
    }
    deselect(entries)
    for (const entry of entries) hide(entry.id, each(entry).post_at)
    const answered = request(asking, action, entries.map(each))
    const step = addUndo(answered, async (outcome) => {
      const done = doneOf(outcome)
      if (done.length > 0) await reopenAll(done)
    })
    const outcome = await answered
    if (doneOf(outcome).length === 0) forgetUndo(step)
    tell(outcome, says, step)
    await asking.readAgain()
    for (const { id } of entries) unhide(id)
  }
