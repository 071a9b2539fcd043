import { expect, test } from 'bun:test'
import { run } from '../programs.ts'

test('random histories of jobs break no rule, and come through everything that the loop can do', async () => {
  const histories = ['--histories', '150', '--seconds', '110', '--seed', '400']
  const { code, printed, complained } = await run('agent/run', ...histories)
  expect([code, complained]).toEqual([0, ''])
  expect(printed).toEndWith('sim: seed=400 histories=150 ok\n')
  const kinds = ['end', 'execute', 'give_up', 'look', 'outside', 'park', 'reach', 'read', 'think']
  const all = [
    ...[...kinds, 'urgent'].map((kind) => `next ${kind}`),
    ...['begun', 'done', 'failed'].map((what) => `summary ${what}`),
    ...['allow', 'ask', 'deny'].map((decision) => `verdict ${decision}`),
    ...['completed', 'failed', 'cancelled'].map((status) => `heard of a child that is ${status}`),
    ...['model', 'tool'].map((kind) => `given up ${kind}`),
    ...['child at depth 2', 'held', 'stopped', 'settled late', 'approved', 'rejected', 'overtaken'],
    'end completed ',
  ]
  const met = printed.split('\n').map((line) => line.slice(0, line.lastIndexOf(': ')))
  expect(all.filter((what) => !met.includes(what))).toEqual([])
}, 120_000)
