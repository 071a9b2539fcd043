import { expect, test } from 'bun:test'
import { history } from './history.ts'

test('random histories of jobs break no rule, and come through everything that the loop can do', () => {
  const counts = new Map<string, number>()
  const seeds = Array.from({ length: 150 }, (_, index) => index + 1)
  expect(
    seeds.flatMap((seed) => history(seed, counts).map((words) => `seed ${seed}: ${words}`)),
  ).toEqual([])
  const next = [
    'end',
    'execute',
    'give_up',
    'look',
    'outside',
    'park',
    'reach',
    'read',
    'think',
    'urgent',
  ].map((kind) => `next ${kind}`)
  const summaries = ['begun', 'done', 'failed'].map((what) => `summary ${what}`)
  const verdicts = ['allow', 'ask', 'deny'].map((decision) => `verdict ${decision}`)
  const family = [
    'child at depth 2',
    ...['completed', 'failed', 'cancelled'].map((status) => `heard of a child that is ${status}`),
  ]
  expect(
    [
      ...next,
      ...verdicts,
      ...summaries,
      ...family,
      'approved',
      'rejected',
      'end completed ',
    ].filter((what) => !counts.has(what)),
  ).toEqual([])
})
