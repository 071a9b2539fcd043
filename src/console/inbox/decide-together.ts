/** One decision about many drafts, taken back by one undo. */
import { errorWords } from '../api/errors.ts'
import type { AnswerOf, InputOf } from '../api/operations.ts'
import { command, queryClient } from '../api/queries.ts'
import { notify } from '../frame/notices.ts'
import type { InboxEntry } from './entries.ts'
import { hide, unhide } from './hidden.ts'
import { clearSelection } from './selection.ts'

type Action = InputOf<'growth.items.bulk'>['action']
type Entry = InputOf<'growth.items.bulk'>['items'][number]
type Result = AnswerOf<'growth.items.bulk'>['results'][number]

/** What a request takes. */
const IN_A_REQUEST = 100

interface Outcome {
  results: Result[]
  /** Of the request that failed; what came before it has been done, and nothing after it. */
  cause?: unknown
}

const request = async (action: Action, items: readonly Entry[]): Promise<Outcome> => {
  const results: Result[] = []
  try {
    for (let from = 0; from < items.length; from += IN_A_REQUEST) {
      const part = items.slice(from, from + IN_A_REQUEST)
      results.push(...(await command('growth.items.bulk', { action, items: part })).results)
    }
    return { results }
  } catch (cause) {
    return { results, cause }
  }
}

const many = (count: number): string => `${count} ${count === 1 ? 'draft' : 'drafts'}`

/** What was not done, and the first reason for it. */
const refusalOf = ({ results, cause }: Outcome): string | undefined => {
  if (cause !== undefined) return errorWords(cause)
  const refused = results.filter(({ error }) => error !== null)
  if (refused.length === 0) return undefined
  return `${many(refused.length)} not: ${refused[0]!.error!.message}.`
}

const doneOf = ({ results }: Outcome): string[] =>
  results.filter(({ error }) => error === null).map(({ id }) => id)

const tell = (outcome: Outcome, says: string, undo?: () => Promise<void>): void => {
  const refusal = refusalOf(outcome)
  notify({
    says: `${many(doneOf(outcome).length)} ${says}${refusal === undefined ? '' : `, ${refusal}`}`,
    tone: refusal === undefined ? 'plain' : 'care',
    undo,
  })
}

const reopenAll = async (ids: readonly string[]): Promise<void> => {
  const items = ids.map((id) => ({ id }))
  tell(await request('reopen', items), 'taken back')
  await queryClient.invalidateQueries()
}

interface Decision {
  action: 'approve' | 'reject'
  /** `approved` and the like. */
  says: string
  entries: readonly InboxEntry[]
  /** What the request says of each. */
  each(entry: InboxEntry): Entry
}

/** All leave the list at once; what the server refuses returns, with its reason. */
export const decideTogether = async ({ action, says, entries, each }: Decision): Promise<void> => {
  clearSelection()
  for (const { id } of entries) hide(id)
  const outcome = await request(action, entries.map(each))
  const done = doneOf(outcome)
  tell(outcome, says, done.length > 0 ? () => reopenAll(done) : undefined)
  await queryClient.invalidateQueries()
  for (const { id } of entries) unhide(id)
}
