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

const request = async (action: Action, items: readonly Entry[]): Promise<Result[]> => {
  const results: Result[] = []
  for (let from = 0; from < items.length; from += IN_A_REQUEST) {
    const part = items.slice(from, from + IN_A_REQUEST)
    results.push(...(await command('growth.items.bulk', { action, items: part })).results)
  }
  return results
}

const many = (count: number): string => `${count} ${count === 1 ? 'draft' : 'drafts'}`

/** The first reason stands for all. */
const refusalOf = (results: readonly Result[]): string | undefined => {
  const refused = results.filter(({ error }) => error !== null)
  if (refused.length === 0) return undefined
  return `${many(refused.length)} not: ${refused[0]!.error!.message}.`
}

const reopenAll = async (ids: readonly string[]): Promise<void> => {
  try {
    const refused = refusalOf(
      await request(
        'reopen',
        ids.map((id) => ({ id })),
      ),
    )
    notify({ says: refused === undefined ? 'Taken back' : `Taken back, but ${refused}` })
  } catch (cause) {
    notify({ says: `They could not be taken back. ${errorWords(cause)}`, tone: 'bad' })
  }
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
  try {
    const results = await request(action, entries.map(each))
    const done = results.filter(({ error }) => error === null).map(({ id }) => id)
    const refused = refusalOf(results)
    notify({
      says: `${many(done.length)} ${says}${refused === undefined ? '' : `, ${refused}`}`,
      tone: refused === undefined ? 'plain' : 'care',
      undo: done.length > 0 ? () => reopenAll(done) : undefined,
    })
  } catch (cause) {
    notify({ says: errorWords(cause), tone: 'bad' })
  }
  await queryClient.invalidateQueries()
  for (const { id } of entries) unhide(id)
}
