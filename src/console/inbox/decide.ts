/** Decisions: done at once on the screen, and taken back where the server refuses. */
import { errorWords } from '../api/errors.ts'
import { queryClient } from '../api/queries.ts'
import { addUndo, notify } from '../frame/notices.ts'
import { hide, unhide } from './hidden.ts'

export interface ListDecision<A> {
  id: string
  /** What happens, as it is said afterwards: `Approved for Mon 23 Nov, 08:30`. */
  says: string
  /** What it is about: the first line. */
  about: string
  /** The time that it is approved for, which no other draft is offered meanwhile. */
  at?: string | undefined
  act(): Promise<A>
  /** Takes it back; undefined where that is impossible. */
  undo?: ((answer: A) => Promise<unknown>) | undefined
  /** Told of a refusal before the usual words; true if it has said enough. */
  refused?(cause: unknown): boolean
  /** What to add to what is said. */
  check?(answer: A): string | undefined
}

/** What any decision may change: reads of lists, counts and the calendar. */
const readAgain = (): Promise<void> => queryClient.invalidateQueries()

/** What was read of a record that is no longer on the screen is not shown when it comes back. */
const forgetReads = (id: string): void =>
  queryClient.removeQueries({
    type: 'inactive',
    predicate: ({ queryKey: [, input] }) => (input as { id?: string } | undefined)?.id === id,
  })

const takeBack = async (id: string, undo: () => Promise<unknown>): Promise<void> => {
  try {
    await undo()
    forgetReads(id)
    notify({ says: 'Taken back' })
  } catch (cause) {
    notify({ says: `It could not be taken back. ${errorWords(cause)}`, tone: 'bad' })
  }
  unhide(id)
  await readAgain()
}

/**
 * The entry leaves the list at once. If the server refuses, it returns, with the server's sentence,
 * and what was typed is as it was.
 */
export const enact = async <A>(decision: ListDecision<A>): Promise<void> => {
  const { id, says, about, at, act, undo, refused, check } = decision
  hide(id, at)
  const answered = act()
  const step = undo && addUndo(answered, (answer) => takeBack(id, () => undo(answer)))
  try {
    const answer = await answered
    const more = check?.(answer)
    notify({
      says: more === undefined ? says : `${says}. ${more}`,
      about,
      tone: more === undefined ? 'plain' : 'care',
      step,
    })
    await readAgain()
    unhide(id)
  } catch (cause) {
    unhide(id)
    if (!refused?.(cause)) notify({ says: errorWords(cause), about, tone: 'bad' })
    await readAgain()
  }
}
