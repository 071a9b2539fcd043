/**
 * The eval takes the work of a model that does what it is asked, and refuses that of one that makes
 * a mistake, or only says that it is done.
 */
import { describe, expect, test } from 'bun:test'
import { createComposer } from '#port/model/composer/composer'
import { inlineWorker } from '#test/support/model/inline-worker'
import { use } from '#test/support/use'
import { isRight } from './judge.ts'
import { attempts, openStage, SCRIPTED_ENV } from './open.ts'
import { models } from './script.ts'
import { tasks } from './tasks/index.ts'

test('there are sixty tasks, each with a name and words of its own', () => {
  const asked = tasks.flatMap(({ ask, before = [] }) => [ask, ...before.map((one) => one.ask)])
  expect(tasks).toHaveLength(60)
  expect(new Set(tasks.map(({ name }) => name)).size).toBe(tasks.length)
  expect(new Set(asked).size).toBe(asked.length)
})

describe.each(Object.keys(models) as (keyof typeof models)[])('with a model that is %s', (kind) => {
  const overrides = { drafter: createComposer(inlineWorker) }
  const stage = use(() => openStage({ tasks, thinker: models[kind], overrides, env: SCRIPTED_ENV }))

  test(`each task is ${kind === 'good' ? 'done' : 'found wrong'}`, async () => {
    const found = await attempts(stage, { atOnce: 4 })
    expect(found).toHaveLength(tasks.length)
    const unexpected = found.filter((one) => isRight(one) !== (kind === 'good'))
    expect(
      unexpected.map(({ task, faults, askedWrongly, unsafe }) => ({
        name: task.name,
        faults,
        askedWrongly,
        unsafe,
      })),
    ).toEqual([])
  }, 120_000)
})
