/** Monthly counters survive a clock that is set back into the month before. */
import { beforeAll, expect, test } from 'bun:test'
import { steppedDb } from '#test/support/database/clock'
import { signedIn } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const db = use(steppedDb)
beforeAll(async () => {
  await db.clock.set(new Date('2026-12-01T00:00:20Z'))
})
const app = useApp(() => ({ database: db.options }))

test('drafting while the clock is set back into the month before does not reset what the month has used', async () => {
  const { key } = await signedIn(app, app.tenantId, 'viewer')
  const draft = async (count: number) => {
    const reply = await app.send('POST', 'batches', { body: { focus: 'Docks', count } })
    expect(reply.status).toBe(201)
  }
  const used = async (): Promise<number> => {
    const { quotas } = (await app.send('GET', '/api/v1/app/plan', { key })).body.plan
    return quotas.find(({ key }: { key: string }) => key === 'posts').used
  }
  await draft(5)
  const before = await used()
  expect(before).toBe(5)
  await db.clock.step(-30_000)
  await draft(1)
  await db.clock.step(60_000)
  expect(await used()).toBe(before)
})
