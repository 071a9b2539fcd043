/**
 * A model that goes in circles: it must conclude, and costs no more than the rounds that show it.
 */
import { expect, test } from 'bun:test'
import { asKey, messagesIn, overJob, stepsIn, turn } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { resultsIn, scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

const script = { answer: (() => ({})) as Parameters<typeof scriptedModel>[0] }
const model = scriptedModel((asked, answers) => script.answer(asked, answers))
const app = useApp({ overrides: { thinker: model } })

const run = async () => overJob(app, await turn(app, { content: 'go', by: await asKey(app) }))
const note = ['growth_add_learning', { kind: 'worked', note: 'Numbers in the first line' }] as [
  string,
  unknown,
]
const list = ['growth_list_learnings', {}] as [string, unknown]

test('three rounds without anything new end it: the model concludes with what was done and found', async () => {
  script.answer = ({ choice }, answers) => {
    if (choice === 'none') return { text: 'I added the learning; nothing else came of it.' }
    return { calls: answers === 0 ? [note] : [list] }
  }
  const job = await run()
  // The note, the list, three times the same, and the conclusion.
  expect(job).toMatchObject({ status: 'completed', error: null, model_calls: 6 })
  expect((await messagesIn(app, job)).at(-1)).toMatchObject({
    role: 'assistant',
    content: expect.stringContaining('I added the learning'),
  })
  expect(await brokenInvariants(app.owner)).toEqual([])
})

test('one that does not conclude is stopped, and the notice says what was done and found', async () => {
  script.answer = (_, answers) => ({ calls: answers === 0 ? [note] : [list] })
  const job = await run()
  expect(job).toMatchObject({ status: 'failed', error: 'no_progress', model_calls: 6 })
  const { role, content } = (await messagesIn(app, job)).at(-1)!
  expect(role).toBe('notice')
  expect(content).toContain('Done: growth_add_learning. Read: growth_list_learnings (2 times).')
  expect(await brokenInvariants(app.owner)).toEqual([])
})

test('a job whose calls give something new each time is not ended', async () => {
  script.answer = (_, answers) => {
    if (answers === 9) return { text: 'Done.' }
    return { calls: [['growth_add_learning', { kind: 'worked', note: `Note ${answers}` }]] }
  }
  expect(await run()).toMatchObject({ status: 'completed', model_calls: 10, tool_calls: 9 })
})

test('of a hundred calls in one answer 16 are made, those up to 64 refused with the reason, and the rest counted in one line', async () => {
  let seen: string[] = []
  script.answer = (asked, answers) => {
    if (answers === 0)
      return {
        calls: Array.from({ length: 100 }, (_, index) => [
          'growth_add_learning',
          { kind: 'worked', note: `Of many ${index}` },
        ]),
      }
    seen = resultsIn(asked)
    return { text: 'Done.' }
  }
  const job = await run()
  expect(job).toMatchObject({ status: 'completed', tool_calls: 16 })
  expect(seen).toHaveLength(64)
  expect(seen.slice(16).every((text) => text.startsWith('error: too many calls at once'))).toBe(
    true,
  )
  expect(seen.filter((text) => text.includes('left out'))).toEqual([
    expect.stringContaining('36 further calls of the answer were left out'),
  ])
  expect(seen.indexOf(seen.find((text) => text.includes('left out'))!)).toBe(63)
  expect((await stepsIn(app, job.id)).filter(({ kind }) => kind === 'tool')).toHaveLength(16)
  const made = await app.owner`select 1 from learning where note like 'Of many %'`
  expect(made).toHaveLength(16)
})
