/** The endpoint itself: when it is paused, disabled or replaced; its secrets. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { endpointTrace } from '#domain/app/webhook'
import { testStops } from '#test/support/actors/stops'
import { eventually } from '#test/support/app'
import {
  eventOf,
  idOf,
  newHook,
  quickRetries,
  settledOutbox,
  statesOf,
} from '#test/support/http/hooks'
import { openReceiver } from '#test/support/http/receiver'
import { use, useApp } from '#test/support/use'

const receiver = use(openReceiver)
const other = use(openReceiver)
const env = () => ({ EGRESS_ALLOW: `127.0.0.1:${receiver.port},127.0.0.1:${other.port}` })
const app = useApp(() => ({ env: env(), overrides: { webhookTimes: quickRetries } }))
/** Of one workspace: what stops there are its own deliveries. */
const stops = testStops()
const quiet = useApp(() => ({ env: env(), overrides: { failpoints: stops.at } }))
beforeEach(() => {
  for (const one of [receiver, other]) Object.assign(one, { answer: {} }).requests.length = 0
})

describe('an endpoint', () => {
  test('that asks for a pause gets nothing until it is over', async () => {
    const hook = await newHook(app)
    await hook.set(receiver.url)
    receiver.answer = { status: 429, headers: { 'retry-after': '3600' } }
    await hook.emit(eventOf('a'))
    const { held_until } = await eventually(hook.endpoint, ({ failures }) => failures === 1)
    expect(held_until!.getTime() - Date.now()).toBeGreaterThan(3_500_000)
    await hook.emit(eventOf('b'))
    expect(
      await eventually(hook.due, ({ run_at }) => run_at!.getTime() === held_until!.getTime()),
    ).toEqual({
      run_at: held_until,
      wake_at: held_until,
    })
    expect(receiver.requests).toHaveLength(1)
  })

  test('that answers 410 is disabled, with an audit entry; pending events are given up, and new ones are unwanted', async () => {
    const hook = await newHook(app)
    await hook.set(receiver.url)
    receiver.answer = { status: 410 }
    await hook.emit(eventOf('a', 1), eventOf('a', 2), eventOf('b'))
    expect(statesOf(await settledOutbox(hook))).toEqual(['dead', 'dead', 'dead'])
    await hook.emit(eventOf('c'))
    expect(statesOf(await hook.outbox()).at(-1)).toBe('unwanted')
    expect(await hook.endpoint()).toMatchObject({
      status: 'disabled',
      disabled_reason: 'the receiver returned 410 Gone',
    })
    expect((await hook.audits()).at(-1)).toEqual({
      operation: 'webhook.disabled',
      detail: { ...endpointTrace(receiver.url), reason: 'the receiver returned 410 Gone' },
    })
    expect(receiver.requests).toHaveLength(1)
    expect(await hook.due()).toEqual({ run_at: null, wake_at: null })
    await expect(hook.run('test')).rejects.toThrow('disabled')
  })

  test('that recovers starts its count of failures anew', async () => {
    const hook = await newHook(app)
    await hook.set(receiver.url)
    receiver.answer = ({ body }) => ({
      status: body.includes('"n":0') && receiver.requests.length < 3 ? 500 : 200,
    })
    await hook.emit(eventOf('a'))
    await settledOutbox(hook)
    expect(receiver.requests).toHaveLength(3)
    expect(await hook.endpoint()).toMatchObject({ failing_since: null, failures: 0 })
  })

  test('that is disabled lists the event on the wire, which takes its outcome, and is sent nothing further', async () => {
    const hook = await newHook(app)
    await hook.set(receiver.url)
    const answered = Promise.withResolvers<void>()
    receiver.answer = () => answered.promise.then(() => ({ status: 200 }))
    await hook.emit(eventOf('a'), eventOf('b'))
    await receiver.received(1)
    const [first] = await hook.outbox()
    const listed = [{ event_id: first!.id, origin: 'manual', since: expect.any(String) }]
    // It waits for nothing, and says the same again.
    expect([await hook.disable(), await hook.disable()]).toEqual([listed, listed])
    answered.resolve()
    expect(statesOf(await settledOutbox(hook))).toEqual(['delivered', 'dead'])
    expect([
      receiver.requests.length,
      (await hook.endpoint()).status,
      await hook.disable(),
    ]).toEqual([1, 'disabled', []])
  })

  test('that is disabled just before an event leaves is not sent it', async () => {
    const hook = await newHook(quiet)
    await hook.set(receiver.url)
    const stopped = stops.stopNext('delivery.sending')
    await hook.emit(eventOf('a'))
    const goOn = await stopped
    expect(await hook.disable()).toEqual([])
    goOn()
    expect(statesOf(await settledOutbox(hook))).toEqual(['dead'])
    expect(receiver.requests).toHaveLength(0)
  })

  test("that replaces another is not blamed for the other's failure", async () => {
    const hook = await newHook(app)
    await hook.set(receiver.url)
    const answered = Promise.withResolvers<void>()
    receiver.answer = () => answered.promise.then(() => ({ status: 410 }))
    await hook.emit(eventOf('a'))
    await receiver.received(1)
    await hook.set(other.url)
    answered.resolve()
    expect(statesOf(await settledOutbox(hook))).toEqual(['delivered'])
    expect(await hook.endpoint()).toMatchObject({ status: 'active', failures: 0 })
    expect(other.requests.map(idOf)).toEqual(receiver.requests.map(idOf))
  })
})

describe('a secret', () => {
  /** Whether the newest request is signed by it. */
  const verifies = (secret: string): boolean => {
    const { body, headers } = receiver.requests.at(-1)!
    try {
      return Boolean(new Webhook(secret).verify(body, headers as Record<string, string>))
    } catch {
      return false
    }
  }

  test('that is rotated out signs beside the new one for a day, and then no longer', async () => {
    const hook = await newHook(app)
    const former = await hook.set(receiver.url)
    const current = await hook.rotate()
    await hook.emit(eventOf('a'))
    await settledOutbox(hook)
    expect([verifies(former), verifies(current)]).toEqual([true, true])
    await app.owner`update webhook_endpoint set previous_until = now() - interval '1 minute'
      where tenant_id = ${hook.tenantId}`
    await hook.emit(eventOf('b'))
    await settledOutbox(hook)
    expect([verifies(former), verifies(current)]).toEqual([false, true])
  })

  test('of an endpoint that is set again ends at once', async () => {
    const hook = await newHook(app)
    const [former, current] = [await hook.set(receiver.url), await hook.set(receiver.url)]
    await hook.emit(eventOf('a'))
    await settledOutbox(hook)
    expect([verifies(former), verifies(current)]).toEqual([false, true])
  })

  test('is stored nowhere in the clear, and opens in no other row', async () => {
    const [hook, thief] = [await newHook(app), await newHook(app)]
    const secret = await hook.set(receiver.url)
    await thief.set(receiver.url)
    for (const table of ['webhook_endpoint', 'audit', 'idempotency', 'outbox', 'work']) {
      const rows = await app.owner`select to_jsonb(t)::text as text from ${app.owner(table)} t
          where tenant_id = ${hook.tenantId}`
      for (const { text } of rows) {
        expect(text).not.toContain(secret)
        expect(text).not.toContain(Buffer.from(secret).toString('hex'))
      }
    }
    await app.owner`update webhook_endpoint set secret = (select secret from webhook_endpoint
      where tenant_id = ${hook.tenantId})
      where tenant_id = ${thief.tenantId}`
    await thief.emit(eventOf('a'))
    expect((await eventually(thief.outbox, ([row]) => row!.attempts > 0))[0]).toMatchObject({
      last_error: 'internal error',
    })
    expect(receiver.requests).toEqual([])
  })
})
