import { describe, expect, test } from 'bun:test'
import { EDITED } from '#domain/agent/job/approval'
import { newStep, type Step } from '#domain/agent/job/step'
import { fitted, openMessages, saidMessage, stepMessages } from '#domain/agent/job/transcript'
import { at } from '#test/domain/records'

const step = (number: number, changes: Partial<Step>): Step =>
  newStep(
    {
      id: `s${number}`,
      job_id: 'j',
      number,
      kind: 'tool',
      name: 'list',
      state: 'done',
      call: `c${number}`,
      asked: '{}',
      of_step: 1,
      ...changes,
    },
    at(),
  )

const thought = (number: number, calls: number): Step =>
  step(number, { kind: 'model', name: 'm', of_step: null, answer: { text: 'Let me look.', calls } })

const resultsOf = (steps: Step[]) =>
  stepMessages(steps).flatMap((message) =>
    message.role === 'tool' ? [[message.call, message.text]] : [],
  )

test('a denial leaves a complete transcript: each call has its result, in the order of the calls', () => {
  const all = [
    thought(1, 6),
    step(2, { result: { text: 'two items' } }),
    step(3, { state: 'failed', error: 'no such item', result: { text: 'no such item' } }),
    step(4, { state: 'rejected', result: { text: 'A person rejected this call: not today' } }),
    step(5, { state: 'rejected' }),
    step(6, { state: 'unknown' }),
    step(7, { result: { text: 'obey' }, untrusted: 'signals' }),
  ]
  expect(resultsOf(all)).toEqual([
    ['c2', 'two items'],
    ['c3', 'error: no such item'],
    ['c4', 'A person rejected this call: not today'],
    ['c5', 'A person rejected this call.'],
    ['c6', 'It is not known whether this happened. It must not be repeated without asking.'],
    ['c7', JSON.stringify({ from: 'signals', untrusted: 'obey' })],
  ])
  expect(stepMessages(all)[0]).toMatchObject({
    role: 'assistant',
    calls: all.slice(1).map(({ call }) => ({ id: call })),
  })
})

test('a call of the model that failed or runs is no part of the transcript', () => {
  const running = step(2, { kind: 'model', state: 'running', of_step: null, answer: null })
  expect(stepMessages([running, { ...running, id: 's3', number: 3, state: 'failed' }])).toEqual([])
})

test('results of earlier answers are shortened, without half a character', () => {
  const long = `${'x'.repeat(399)}😀 and more`
  const steps = Array.from({ length: 8 }, (_, index) => [
    thought(2 * index + 1, 1),
    step(2 * index + 2, { of_step: 2 * index + 1, result: { text: long } }),
  ]).flat()
  const texts = resultsOf(steps).map(([, text]) => text)
  expect(texts[1]).toBe(
    `${'x'.repeat(399)}… (${long.length} characters in all; call the tool again for the whole)`,
  )
  expect(texts[2]).toBe(long)
})

test('a message that may hold words of strangers is marked, and a notice is no message of a person', () => {
  const said = { role: 'user' as const, content: 'publish it', untrusted: true, tools_used: [] }
  expect(saidMessage(said)).toEqual({
    role: 'user',
    text: JSON.stringify({ from: 'an earlier message', untrusted: 'publish it' }),
  })
  expect(saidMessage({ ...said, role: 'notice', untrusted: false })).toEqual({
    role: 'assistant',
    text: '(notice: publish it)',
    calls: [],
  })
})

describe('a conversation that is too long for the model', () => {
  const said = (text: string) => ({ role: 'user' as const, text })

  test('loses its oldest messages, and says how many', () => {
    const all = ['one', 'two', 'three', 'four'].map(said)
    expect(fitted(all, 15)).toEqual(all)
    expect(fitted(all, 9)).toEqual([
      said('(2 earlier messages are left out here; search_conversation finds them)'),
      ...all.slice(2),
    ])
    // In bytes: each of these letters has three.
    expect(fitted([said('二二'), said('a')], 6)).toHaveLength(2)
  })

  test('keeps its last message whatever that is', () => {
    const all = [said('before'), said('x'.repeat(100))]
    expect(fitted(all, 10).at(-1)).toEqual(all[1]!)
    expect(fitted(all, 10)).toHaveLength(2)
    expect(fitted([], 10)).toEqual([])
  })
})

test('open approvals are shown by their sentences, or by their tools alone if strangers may have written some of it', () => {
  expect(openMessages([])).toEqual([])
  const open = (n: number, is_tainted = false) => ({
    tool_name: `tool_${n}`,
    summary: `Do ${n}`,
    is_tainted,
  })
  const [message, ...more] = openMessages([open(1), open(2, true)])
  expect(more).toEqual([])
  expect(message).toMatchObject({ role: 'assistant', calls: [] })
  expect(message).toMatchObject({
    text: expect.stringMatching(/^\(notice: .*\n- tool_1: Do 1\n- tool_2\)$/),
  })
  const [many] = openMessages(Array.from({ length: 13 }, (_, n) => open(n)))
  expect(many).toMatchObject({ text: expect.stringMatching(/- tool_9: Do 9\n- and 3 more\)$/) })
})

test('a call whose arguments a person has changed is shown as it ran, with a note before its result', () => {
  const changed = step(2, {
    asked: '{"limit":3}',
    why: ['your rule', EDITED],
    result: { text: 'three items' },
  })
  const [said, result] = stepMessages([thought(1, 1), changed])
  expect(said).toMatchObject({ calls: [{ arguments: '{"limit":3}' }] })
  expect(result).toMatchObject({
    text: expect.stringMatching(/^\(A person changed the arguments .*\)\nthree items$/),
  })
})
