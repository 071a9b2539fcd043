import { expect, test } from 'bun:test'
import { Follower, type Look } from '#edge/agent/follower'
import { MOST_BEHIND } from '#edge/event-body'
import { AppError } from '#kernel/errors'
import { createLog } from '#kernel/log'
import { eventually } from '#test/support/app'

const log = createLog('silent')
const nothing: Look = { events: [], nextSeq: 0 }
const event = (seq: number, type = 'job.status', data: Record<string, unknown> = {}) => ({
  seq,
  type,
  data,
})

const follower = (look: (after: number) => Promise<Look>) => {
  let ends = 0
  const one = new Follower({ id: 'job', look, log })
  one.onEnd({ [Symbol.dispose]: () => void ends++ })
  return { one, ends: () => ends, reader: one.body.stream.getReader() }
}

const decoder = new TextDecoder()
const readAll = async (reader: {
  read(): Promise<{ value?: Uint8Array | undefined }>
}): Promise<string> => {
  let text = ''
  for (;;) {
    const { value } = await reader.read()
    if (!value) return text
    text += decoder.decode(value)
  }
}

/** Waits until the reader has been given something so often. */
const handed = (one: Follower, times: number) =>
  eventually(
    () => one.body.handed,
    (count) => count >= times,
  )

test('pieces of a step that has ended are left out, and those of the next one are not', async () => {
  const { one, reader } = follower(async () => ({
    events: [event(2, 'step.ended', { number: 1 }), event(3, 'message')],
    nextSeq: 3,
  }))
  one.hear({ kind: 'delta', job: 'job', step: 1, at: 0, text: 'said before' })
  one.hear({ kind: 'changed' })
  one.hear({ kind: 'delta', job: 'job', step: 3, at: 0, text: 'next' })
  one.begin({ events: [event(1)], nextSeq: 1 })
  const text = readAll(reader)
  await handed(one, 4)
  one.end()
  expect((await text).split('\n').filter((line) => /^(event|data)/.test(line))).toEqual([
    ...[
      'event: job.status',
      'data: {}',
      'event: step.ended',
      'data: {"number":1}',
      'event: message',
      'data: {}',
    ],
    ...['event: delta', 'data: {"step":3,"at":0,"text":"next"}'],
  ])
})

test('more events than one read gives, and than a slow client may be behind, all arrive', async () => {
  const filler = 'x'.repeat(1_024)
  const many = (after: number, count: number): Look => ({
    events: Array.from({ length: count }, (_, index) =>
      event(after + index + 1, 'message', { filler }),
    ),
    nextSeq: after + count,
    done: count < 500,
  })
  const { one, ends, reader } = follower(async (after) => many(after, after < 1_000 ? 500 : 200))
  one.begin(many(0, 500))
  const ids = [...(await readAll(reader)).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  expect(ids).toEqual(Array.from({ length: 1_200 }, (_, index) => index + 1))
  expect(ids.length * filler.length).toBeGreaterThan(MOST_BEHIND)
  expect(ends()).toBe(1)
})

test('a client that is 256 KiB behind is dropped', async () => {
  const { one, ends } = follower(async () => nothing)
  one.begin(nothing)
  await Bun.sleep(0)
  const delta = {
    kind: 'delta',
    job: 'job',
    step: 1,
    at: 0,
    text: 'x'.repeat(MOST_BEHIND / 4),
  } as const
  for (let sent = 1; sent <= 3; sent++) {
    one.hear(delta)
    await Bun.sleep(0)
    expect(one.body.behind).toBeGreaterThan(sent * delta.text.length)
  }
  one.hear(delta)
  await Bun.sleep(0)
  expect([one.body.ended, one.body.behind, ends()]).toEqual([true, 0, 1])
})

test('pieces that wait for a client that catches up are bounded', () => {
  const { one } = follower(async () => nothing)
  const delta = {
    kind: 'delta',
    job: 'job',
    step: 1,
    at: 0,
    text: 'x'.repeat(MOST_BEHIND / 2),
  } as const
  one.hear(delta)
  one.hear(delta)
  expect(one.body.ended).toBe(false)
  one.hear(delta)
  expect(one.body.ended).toBe(true)
})

test('a client that has read nothing between two comments is dropped, and one that reads is not', async () => {
  const { one, ends, reader } = follower(async () => nothing)
  one.begin(nothing)
  for (let comments = 0; comments < 3; comments++) {
    await reader.read()
    one.comment()
    await eventually(
      () => one.body.behind,
      (behind) => behind > 0,
    )
  }
  expect(ends()).toBe(0)
  one.comment()
  expect([one.body.ended, one.body.behind, ends()]).toEqual([true, 0, 1])
})

test('a look that fails for now is repeated, and no comment is written before it succeeds', async () => {
  let looks = 0
  const { one, reader } = follower(async () => {
    if (++looks <= 2) throw new AppError('unavailable')
    return { events: [event(1)], nextSeq: 1 }
  })
  const reading = readAll(reader)
  one.begin(nothing)
  await handed(one, 1)
  one.comment()
  for (let tries = 1; tries < 3; tries++) {
    await eventually(
      () => looks,
      (count) => count === tries,
    )
    await Bun.sleep(0)
    one.retry()
  }
  await eventually(
    () => looks,
    (count) => count === 3,
  )
  await Bun.sleep(0)
  one.end()
  expect(await reading).toBe('retry: 2000\n\nid: 1\nevent: job.status\ndata: {}\n\n:\n\n:\n\n')
})

test('a look that is refused ends the stream', async () => {
  const { one, ends, reader } = follower(() => Promise.reject(new AppError('unauthenticated')))
  const reading = readAll(reader)
  one.begin(nothing)
  await handed(one, 1)
  one.comment()
  expect(await reading).toBe('retry: 2000\n\n')
  expect(ends()).toBe(1)
})

test('a client whose last event there is not is told so, and gets all from the beginning', async () => {
  const asked: number[] = []
  const { one, reader } = follower(async (after) => {
    asked.push(after)
    return { events: [event(2)], nextSeq: 2 }
  })
  one.begin({ events: [event(1)], nextSeq: 1, resync: true })
  const text = readAll(reader)
  await handed(one, 2)
  one.look()
  await handed(one, 3)
  one.end()
  expect((await text).split('\n').filter((line) => /^(id|event)/.test(line))).toEqual([
    ...['id: 0', 'event: resync'],
    ...['id: 1', 'event: job.status'],
    ...['id: 2', 'event: job.status'],
  ])
  expect(asked).toEqual([1])
})
