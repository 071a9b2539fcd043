import { describe, expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { type ReadinessDeps, readinessOf } from '#server/readiness'
import type { Db } from '#store/engine/db'
import { shippedMigrations } from '#store/engine/migrations'
import { manualClock, settled } from '#test/support/actors/manual-clock'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { startProxy } from '#test/support/database/proxy'
import { use } from '#test/support/use'

const ready = (app: TestApp, path = '/ready') => app.send('GET', path, { key: null })

/** What everybody is told, and nothing more. */
const refusal = (reason: string) => ({
  status: 503,
  body: { error: { code: 'unavailable', message: reason, request_id: expect.any(String) } },
})

test('a server that can work is ready, and says so to HEAD as well', async () => {
  await using app = await testApp()
  expect(await ready(app)).toMatchObject({ status: 200, body: { status: 'ready', held: false } })
  expect((await ready(app, '/ready?held=fail')).status).toBe(200)
  expect(await app.send('HEAD', '/ready', { key: null })).toMatchObject({ status: 200, text: '' })
})

describe('while held', () => {
  const app = use(() => testApp({ overrides: { watching: { held: async () => true } } }))

  test('it is ready, unless that is to count as a failure', async () => {
    expect(await ready(app)).toMatchObject({ status: 200, body: { status: 'ready', held: true } })
    expect(await ready(app, '/ready?held=fail')).toMatchObject(refusal('held'))
  })

  test.each([
    ['held=true', 'held must be fail'],
    ['held=', 'held must be fail'],
    ['hold=fail', 'hold is not a known field; did you mean held? The only field is held'],
    ['held=fail&held=fail', 'held must not be given twice'],
  ])('?%s is refused, which would never see it', async (query, message) => {
    const { status, body } = await ready(app, `/ready?${query}`)
    expect([status, body.error!.code, body.error!.message]).toEqual([400, 'invalid_input', message])
    expect((await app.send('HEAD', `/ready?${query}`, { key: null })).status).toBe(400)
  })
})

test('with other migrations in the database it is not ready', async () => {
  await using app = await testApp()
  await app.owner`insert into migration (name, hash) values ('sql/999999-later.sql', '')`
  expect(await ready(app)).toMatchObject(refusal('migrations'))
  await app.owner`delete from migration where name = 'sql/999999-later.sql'`
  await app.owner`update migration set name = name || '-' where name = 'sql/000124-baseline'`
  expect(
    await eventually(
      () => ready(app),
      ({ status }) => status === 503,
    ),
  ).toMatchObject(refusal('migrations'))
})

test('while the database refuses it is not ready; /health answers as before', async () => {
  await using db = await freshDb()
  await using proxy = await startProxy(db.options)
  await using app = await testApp({ database: proxy.options })
  await proxy.refuse()
  const refused = await eventually(
    () => ready(app),
    ({ status }) => status === 503,
  )
  expect(refused).toMatchObject(refusal('database'))
  expect((await app.send('GET', '/health', { key: null })).status).toBe(200)
  await proxy.open()
  expect(
    (
      await eventually(
        () => ready(app),
        ({ status }) => status === 200,
      )
    ).status,
  ).toBe(200)
})

test('a server that stops is not ready', async () => {
  await using app = await testApp({ overrides: { lastRequestsMs: 500 } })
  expect((await ready(app)).status).toBe(200)
  const stopped = app[Symbol.asyncDispose]()
  expect(await ready(app)).toMatchObject(refusal('stopping'))
  await stopped
})

/** A server on a database that answers when a test says so. */
const alone = (serving = () => true, more: Partial<ReadinessDeps> = {}) => {
  const clock = manualClock()
  const asked: PromiseWithResolvers<unknown>[] = []
  const system = () => {
    const question = Promise.withResolvers<unknown>()
    asked.push(question)
    return question.promise
  }
  const db = { system } as unknown as Db
  const parts = { db, clock, log: createLog('silent'), serving, stage: () => 'running' as const }
  return { clock, asked, ask: readinessOf({ ...parts, ...more }) }
}
const migrated = shippedMigrations().map(({ name }) => ({ name }))

describe('a database', () => {
  test('that hangs is asked once for everybody, and they wait a second and a half', async () => {
    const { clock, asked, ask } = alone()
    const many = Promise.all(Array.from({ length: 1_000 }, ask))
    await clock.advance(1_400)
    const latecomer = ask()
    await clock.advance(100)
    expect(new Set((await many).map(({ reason }) => reason))).toEqual(new Set(['database']))
    expect((await latecomer).reason).toBe('database')
    await clock.advance(60_000)
    expect((await ask()).reason).toBe('database')
    expect(asked).toHaveLength(1)
    asked[0]!.resolve(migrated)
    await settled()
    const answered = ask()
    await settled()
    asked[1]!.resolve(migrated)
    expect(await answered).toEqual({ held: false })
  })

  test('that answers is asked four times a second at most, and the lease each time', async () => {
    let owns = true
    const { asked, ask } = alone(() => owns)
    const first = ask()
    await settled()
    asked[0]!.resolve(migrated)
    expect((await first).reason).toBeUndefined()
    owns = false
    for (let times = 0; times < 100; times++) expect((await ask()).reason).toBe('ownership')
    expect(asked).toHaveLength(1)
  })
})

test('the log warns of what keeps a server from its work, but not of a start and a stop', async () => {
  const lines: { level: number; reason?: string }[] = []
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
  let stage: ReturnType<ReadinessDeps['stage']> = 'starting'
  let owns = true
  const { asked, ask } = alone(() => owns, { log, stage: () => stage })
  await ask()
  stage = 'running'
  const first = ask()
  await settled()
  asked[0]!.resolve(migrated)
  await first
  owns = false
  await ask()
  stage = 'stopping'
  await ask()
  expect(lines.map(({ level, reason }) => [level, reason])).toEqual([
    [30, 'starting'],
    [30, undefined],
    [40, 'ownership'],
    [30, 'stopping'],
  ])
})
