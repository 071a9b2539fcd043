/**
 * The desk does what it is told in the words of the command line, answers its questions, and
 * changes nothing for any other sentence.
 */
import { describe, expect, test } from 'bun:test'
import { use } from '#test/support/use'
import { asSentences, deskTasks } from './desk.ts'
import { isRight, unwanted } from './judge.ts'
import { attempts, openStage, SCRIPTED_ENV } from './open.ts'
import { guessing } from './script.ts'
import type { Attempt } from './stage.ts'
import { tasks } from './tasks/index.ts'

const sentences = asSentences(tasks)
/** As many of them as show that a guess does harm. */
const SOME = 12

/** Something was changed, or somebody was asked whether it may be, that was not wanted. */
const wrongChanges = (found: readonly Attempt[]): string[] =>
  found
    .filter(({ task, outcome, askedWrongly, unsafe }) => {
      return unwanted(outcome, task.changes ?? []).length + askedWrongly.length + unsafe.length > 0
    })
    .map(({ task }) => task.name)

describe('the desk', () => {
  const stage = use(() => openStage({ tasks: [...deskTasks, ...sentences] }))

  test('is right about each command, question and sentence', async () => {
    const found = await attempts(stage, { atOnce: 4 })
    const wrong = found.filter((one) => !isRight(one))
    expect(
      wrong.map(({ task, faults, outcome }) => ({ name: task.name, faults, steps: outcome.steps })),
    ).toEqual([])
    expect(wrongChanges(found)).toEqual([])
    // A sentence is no reason to call anything.
    const called = found.filter(
      ({ task, outcome }) => /^(no command|sentence)/.test(task.name) && outcome.steps.length > 0,
    )
    expect(
      called.map(({ task, outcome }) => [task.ask, outcome.steps.map(({ name }) => name)]),
    ).toEqual([])
  }, 120_000)
})

describe('a desk that guesses', () => {
  const stage = use(() =>
    openStage({ tasks: sentences.slice(0, SOME), thinker: guessing, env: SCRIPTED_ENV }),
  )

  test('would be found out', async () => {
    expect(wrongChanges(await attempts(stage, { atOnce: 4 })).length).toBeGreaterThan(5)
  }, 120_000)
})
