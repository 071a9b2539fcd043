/**
 * Events on their way to a workspace's endpoint, with a real receiver: order, retries, replays and
 * due times.
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { freshDb } from '#test/support/database/db'
import { waitForLockWaiter } from '#test/support/database/locks'
import {
  dataOf,
  eventOf,
  hookOf,
  idOf,
  newHook,
  quickRetries,
  settledOutbox,
  statesOf,
} from '#test/support/http/hooks'
import { openReceiver, type Received, type ReceiverAnswer } from '#test/support/http/receiver'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const receiver = use(openReceiver)
const other = use(openReceiver)
const app = useApp(() => {
  const env = { EGRESS_ALLOW: `127.0.0.1:${receiver.port},127.0.0.1:${other.port}` }
  return { database: db.options, env, overrides: { webhookTimes: quickRetries } }
})
beforeEach(() => {
  for (const one of [receiver, other]) Object.assign(one, { answer: {} }).requests.length = 0
})

const record = (request: Received): string => dataOf(request).item_id
const numbered = (request: Received): string => `${dataOf(request).item_id}${dataOf(request).n}`

describe('order', () => {
  test('a failing event holds back its own record only', async () => {
    const hook = await newHook(app)
    await hook.set(receiver.url)
    const accepted: string[] = []
    receiver.answer = (request) => {
      const fails = numbered(request) === 'a1' && !accepted.includes('b2')
      if (!fails) accepted.push(numbered(request))
      return { status: fails ? 500 : 200 }
    }
    await hook.emit(eventOf('a', 1), eventOf('a', 2), eventOf('b', 1))
    await hook.emit(eventOf('b', 2), eventOf('a', 3))
    expect(statesOf(await settledOutbox(hook))).toEqual(Array(5).fill('delivered'))
    expect(accepted.filter((name) => name.startsWith('b'))).toEqual(['b1', 'b2'])
    expect(accepted.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
    expect(accepted.indexOf('b2')).toBeLessThan(accepted.indexOf('a1'))
    const tries = receiver.requests.filter((request) => numbered(request) === 'a1')
    expect(tries.length).toBeGreaterThan(1)
    expect(new Set(tries.map(idOf)).size).toBe(1)
  })

  test('survives failures of every kind: each event arrives, in order within its record, under one id', async () => {
    const hook = await newHook(app)
    await hook.set(receiver.url)
    const failures: ReceiverAnswer[] = [
      { status: 500 },
      { status: 302, headers: { location: '/' } },
      { raw: '' },
      { status: 429, headers: { 'retry-after': '0' } },
    ]
    const triesOf = new Map<string, number>()
    receiver.answer = (request) => {
      const tries = triesOf.get(idOf(request)) ?? 0
      triesOf.set(idOf(request), tries + 1)
      // The third and last attempt succeeds.
      return tries < Number.parseInt(idOf(request).slice(-1), 16) % 3
        ? failures[(dataOf(request).n + tries) % failures.length]!
        : { status: 200 }
    }
    const names = ['a', 'b', 'c', 'd']
    for (let n = 0; n < 8; n++) await hook.emit(...names.map((name) => eventOf(name, n)))
    const rows = await settledOutbox(hook)
    expect(statesOf(rows)).toEqual(Array(32).fill('delivered'))
    const last = new Map(receiver.requests.map((request) => [idOf(request), request]))
    for (const name of names) {
      const ended = [
        ...new Set(
          receiver.requests
            .toReversed()
            .filter((request) => record(request) === name)
            .map(idOf),
        ),
      ].toReversed()
      expect(ended.map((id) => dataOf(last.get(id)!).n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    }
    expect(rows.map(({ id, attempts }) => [id, attempts])).toEqual(
      rows.map(({ id }) => [id, triesOf.get(id)!]),
    )
  })

  test('a workspace has one request at a time', async () => {
    const hook = await newHook(app)
    await hook.set(receiver.url)
    let [open, most] = [0, 0]
    receiver.answer = async () => {
      most = Math.max(most, ++open)
      await new Promise(setImmediate)
      open--
      return {}
    }
    await hook.emit(...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => eventOf(name)))
    await settledOutbox(hook)
    expect([most, receiver.requests.length]).toEqual([1, 6])
  })
})

describe('a receiver that does not answer', () => {
  test('delays neither other workspaces nor its own commands', async () => {
    const [slow, well] = [await newHook(app), await newHook(app)]
    await slow.set(receiver.url)
    await well.set(other.url)
    const answered = Promise.withResolvers<void>()
    receiver.answer = () => answered.promise.then(() => ({}))
    await slow.emit(...['a', 'b', 'c'].map((name) => eventOf(name)))
    await receiver.received(1)
    await well.emit(...['a', 'b', 'c'].map((name) => eventOf(name)))
    expect(statesOf(await settledOutbox(well))).toEqual(['delivered', 'delivered', 'delivered'])
    // The first request has been waiting all this time.
    await slow.emit(eventOf('d'))
    expect(statesOf(await slow.outbox())).toEqual(['pending', 'pending', 'pending', 'pending'])
    expect(receiver.requests).toHaveLength(1)
    answered.resolve()
    expect(statesOf(await settledOutbox(slow))).toEqual(Array(4).fill('delivered'))
  })
})

describe('an event', () => {
  test('that the allow-list leaves out is not sent, makes no work, and can be sent later', async () => {
    const hook = await newHook(app)
    await hook.emit(eventOf('before'))
    await hook.set(receiver.url, ['growth.batch.settled'])
    await hook.emit(eventOf('a'), { type: 'growth.batch.settled', data: { batch_id: 'b' } })
    const rows = await settledOutbox(hook)
    expect(statesOf(rows)).toEqual(['unwanted', 'unwanted', 'delivered'])
    await hook.run('replay', { id: rows[0]!.id })
    await settledOutbox(hook)
    expect(receiver.requests.map(({ body }) => JSON.parse(body).type)).toEqual([
      'growth.batch.settled',
      'growth.item.posted',
    ])
    expect(await hook.due()).toEqual({ run_at: null, wake_at: null })
  })

  test('is sent while all automation is paused', async () => {
    const hook = await newHook(app)
    await hook.set(receiver.url)
    await app.workplace.world.ask(hook.tenantId, {
      name: 'pause',
      priority: 'control',
      provenance: { principal: { kind: 'system', id: 'test' }, surface: 'test' },
      decide: async () => ({ reply: undefined, effects: { paused: true } }),
    })
    await hook.emit(eventOf('a'))
    expect(statesOf(await settledOutbox(hook))).toEqual(['delivered'])
  })
})

test('workspaces reach only their own endpoint and events', async () => {
  const [mine, theirs] = [await newHook(app), await newHook(app)]
  await mine.set(receiver.url)
  await mine.emit(eventOf('a'))
  const [event] = await settledOutbox(mine)
  await expect(theirs.run('replay', { id: event!.id })).rejects.toThrow('no webhook endpoint')
  await theirs.set(other.url)
  await expect(theirs.run('replay', { id: event!.id })).rejects.toThrow('no such event')
  await expect(hookOf(app, newId()).run('test')).rejects.toThrow()
  expect(other.requests).toEqual([])
})

test('an event that the sweep deletes while its replay waits is not found', async () => {
  const hook = await newHook(app)
  await hook.set(receiver.url)
  await hook.emit(eventOf('a', 1))
  const [event] = await settledOutbox(hook)
  await app.owner`update outbox set expires_at = now() - interval '1 minute'
    where id = ${event!.id}`
  const replay = await app.owner.begin(async (sweep) => {
    await sweep`select sweep_tenant(${hook.tenantId}, now() - interval '400 days', 100)`
    const running = Promise.allSettled([hook.run('replay', { id: event!.id })])
    expect(await waitForLockWaiter(app.owner)).toBe(1)
    return { running }
  })
  expect(await replay.running).toMatchObject([
    { status: 'rejected', reason: { message: expect.stringContaining('no such event') } },
  ])
})
