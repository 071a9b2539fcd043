/** Many drafts decided at once, by more than one request. */
import { beforeEach, expect, test } from 'bun:test'
import { statusLine, toasts, undo } from '#src/console/frame/notices'
import { hidden } from '#src/console/inbox/hidden'
import { clearSelection, type SelectedDraft, select, selection } from '#src/console/inbox/selection'
import { type AskTogether, decidesTogether } from '#src/console/inbox/together'

const draft = (number: number): SelectedDraft => ({
  id: `draft-${number}`,
  kind: 'draft',
  title: `Draft ${number}`,
  account: null,
  content_hash: null,
})

/** A server that fails at the requests with these numbers. */
const serverOf = (fails: readonly number[]) => {
  const asked: { action: string; ids: string[] }[] = []
  const send = (async ({ action, items }) => {
    asked.push({ action, ids: items.map(({ id }) => id) })
    if (fails.includes(asked.length)) throw new Error('The server stops.')
    return { results: items.map(({ id }) => ({ id, item: null, error: null })) }
  }) as AskTogether['send']
  const words = (cause: unknown): string => (cause as Error).message
  return { asked, decide: decidesTogether({ send, words, readAgain: async () => {} }) }
}

const drafts = Array.from({ length: 150 }, (_, number) => draft(number))
const reject = {
  action: 'reject',
  says: 'rejected',
  entries: drafts,
  each: ({ id }: SelectedDraft) => ({ id }),
} as const

beforeEach(() => {
  clearSelection()
  toasts.set([])
})

test('of two requests whose second fails, the first is told of and taken back by one undo', async () => {
  const { asked, decide } = serverOf([2])
  for (const one of drafts) select(one)
  select(draft(999))
  await decide(reject)
  expect(asked.map(({ ids }) => ids.length)).toEqual([100, 50])
  expect(toasts.get().at(-1)).toMatchObject({
    says: '100 drafts rejected, The server stops.',
    tone: 'care',
  })
  expect(hidden.get().size).toBe(0)
  expect([...selection.get().keys()]).toEqual(['draft-999'])
  await undo()
  expect(asked[2]).toEqual({ action: 'reopen', ids: drafts.slice(0, 100).map(({ id }) => id) })
  expect(toasts.get().at(-1)?.says).toBe('100 drafts taken back')
  await undo()
  expect([asked.length, statusLine.get()]).toEqual([3, 'Nothing to undo'])
})

test('if the first request fails, nothing is there to be taken back', async () => {
  const { asked, decide } = serverOf([1])
  await decide(reject)
  expect([asked.length, toasts.get().at(-1)?.canUndo]).toEqual([1, false])
  await undo()
  expect([asked.length, statusLine.get()]).toEqual([1, 'Nothing to undo'])
})

test('Z takes back what is still being decided, once it is, and not what was decided before', async () => {
  const { asked, decide } = serverOf([])
  const [first, second] = drafts as [SelectedDraft, SelectedDraft]
  await decide({ ...reject, entries: [first] })
  const deciding = decide({ ...reject, entries: [second] })
  await Promise.all([undo(), deciding])
  expect(asked.slice(1)).toEqual([
    { action: 'reject', ids: [second.id] },
    { action: 'reopen', ids: [second.id] },
  ])
  await undo()
  expect(asked.at(-1)).toEqual({ action: 'reopen', ids: [first.id] })
})

test('what is refused while Z waits for it was never there to be taken back', async () => {
  const { asked, decide } = serverOf([1])
  await Promise.all([decide(reject), undo()])
  expect([asked.length, toasts.get().at(-1)?.says]).toEqual([
    1,
    '0 drafts rejected, The server stops.',
  ])
})
