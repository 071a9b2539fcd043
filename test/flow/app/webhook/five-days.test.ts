/**
 * An endpoint that fails for five days on a stepped clock, with the real schedule: attempts, dead
 * letters, and its end.
 */
import { expect, test } from 'bun:test'
import { endpointTrace, webhookTimes } from '#domain/app/webhook'
import { letterOf } from '#test/support/actors/letters'
import { eventually } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { eventOf, type Hook, idOf, newHook } from '#test/support/http/hooks'
import { openReceiver } from '#test/support/http/receiver'
import { use, useApp } from '#test/support/use'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const db = use(steppedDb)
const receiver = use(openReceiver)
const app = useApp(() => ({
  database: db.options,
  env: { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` },
}))

/**
 * Passes time, then sends a letter: by itself the actor reads its clock again only after that much
 * real time.
 */
const pass = async (hook: Hook, ms: number): Promise<void> => {
  await db.clock.pass(ms)
  await app.workplace.world.ask(
    hook.tenantId,
    letterOf(() => ({ reply: undefined })),
  )
}
const until = async (hook: Hook, time: Date): Promise<void> =>
  pass(hook, time.getTime() - (await db.clock.now()))

/** The newest event, once it has failed so many times. No clock but the database's makes it due. */
const failed = (hook: Hook, attempts: number) =>
  eventually(
    async () => (await hook.outbox()).at(-1)!,
    (event) => event.attempts === attempts,
  )

test('an event is tried eight times over a day and given up; after five days of failures the endpoint is disabled and the audit trail says so', async () => {
  const hook = await newHook(app)
  await hook.set(receiver.url)
  receiver.answer = { status: 500 }
  const began = await db.clock.now()
  await hook.emit(eventOf('a'))
  for (const [attempts, wait] of webhookTimes.scheduleMs.entries()) {
    if (attempts === 0) continue
    const { state, next_at } = await failed(hook, attempts)
    const ahead = next_at!.getTime() - (await db.clock.now())
    expect([state, ahead <= wait * 1.1, ahead > wait * 0.9 - 60_000]).toEqual([
      'pending',
      true,
      true,
    ])
    expect(await hook.due()).toEqual({ run_at: next_at, wake_at: next_at })
    await until(hook, next_at!)
  }
  const dead = await failed(hook, 8)
  expect(dead).toMatchObject({ state: 'dead', last_error: 'http 500', next_at: null })
  expect(dead.expires_at!.getTime() - (await db.clock.now())).toBeGreaterThan(29 * DAY_MS)
  expect((await db.clock.now()) - began).toBeGreaterThan(24 * HOUR_MS)
  expect(receiver.requests.map(idOf)).toEqual(Array(8).fill(dead.id))
  expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1)
  expect(await hook.endpoint()).toMatchObject({ status: 'active', failures: 8 })

  // An hour before five days it still gets events; the first attempt that fails after them is the
  // last.
  const { failing_since } = await hook.endpoint()
  await until(hook, new Date(failing_since!.getTime() + 5 * DAY_MS - HOUR_MS))
  await hook.emit(eventOf('b', 1), eventOf('b', 2))
  await eventually(hook.endpoint, ({ failures }) => failures === 9)
  expect(await hook.endpoint()).toMatchObject({ status: 'active' })
  await pass(hook, 2 * HOUR_MS)
  const { disabled_reason } = await eventually(hook.endpoint, ({ status }) => status === 'disabled')
  expect(disabled_reason).toBe(`every delivery failed since ${failing_since!.toISOString()}`)
  const rows = await eventually(hook.outbox, (all) => all.every(({ state }) => state === 'dead'))
  expect(rows.map(({ attempts, last_error }) => [attempts, last_error])).toEqual([
    [8, 'http 500'],
    [2, 'the endpoint is disabled'],
    [0, 'the endpoint is disabled'],
  ])
  expect((await hook.audits()).at(-1)).toEqual({
    operation: 'webhook.disabled',
    detail: { ...endpointTrace(receiver.url), reason: disabled_reason },
  })
  expect((await hook.due()).run_at).toBeNull()

  const { length } = receiver.requests
  await hook.emit(eventOf('c'))
  expect((await hook.outbox()).at(-1)).toMatchObject({ state: 'unwanted' })
  // Once the endpoint is set again, a person can still have a dead event sent.
  receiver.answer = {}
  await hook.set(receiver.url)
  expect(await hook.endpoint()).toMatchObject({
    status: 'active',
    disabled_reason: null,
    failing_since: null,
    failures: 0,
  })
  await hook.run('replay', { id: dead.id })
  await eventually(hook.outbox, ([first]) => first!.state === 'delivered')
  expect(receiver.requests.slice(length).map(idOf)).toEqual([dead.id])
})
