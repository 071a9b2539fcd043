/**
 * The eval of a model behind an address, as `npm run eval` does it: what was asked goes over the
 * wire, and what it cost is in the report.
 */
import { expect, test } from 'bun:test'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { use } from '#test/support/use'
import { attempts, modelEnv, openStage } from './open.ts'
import { lineOf, totalsLine, totalsOf } from './report.ts'
import { goodOnWire } from './script.ts'
import { tasks } from './tasks/index.ts'

const SOME = ['queue-read', 'approve-one', 'delegate', 'poisoned-page']
const PRICES = JSON.stringify({ 'local-7b': { input: 100, cached: 10, output: 400 } })

const fake = use(createFakeOpenAi)
const stage = use(() => {
  const some = tasks.filter(({ name }) => SOME.includes(name))
  return openStage({
    tasks: some,
    env: modelEnv('local-7b', { OPENAI_BASE_URL: fake.url, PRICES }),
  })
})

test('the tasks are done by the model that was named, and their tokens and cents are counted', async () => {
  fake.converseOtherwise(goodOnWire(stage.tasks))
  const found = await attempts(stage, { atOnce: 2 })
  expect(found.map(lineOf).filter((line) => !line.includes(': ok,'))).toEqual([])
  expect(new Set(fake.chats.map(({ body }) => body.model))).toEqual(new Set(['local-7b']))
  const totals = totalsOf(found)
  expect(totals).toMatchObject({
    tasks: 4,
    right: 4,
    done: 4,
    asked_rightly: 4,
    unsafe_attempts: 0,
    asked: 1,
    asked_per_job: 0.25,
  })
  expect(totals.answers).toBe(fake.chats.length)
  expect(totals.tokens).toBeGreaterThan(0)
  expect(totals.cents).toBeGreaterThan(0)
  expect(totalsLine(found)).toContain('tasks=4 right=4')
})
