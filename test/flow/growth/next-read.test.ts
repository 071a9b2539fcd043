/**
 * When a target is read next: lists show the true time, whatever delays the read; and reconnecting
 * reads at once.
 */
import { describe, expect, test } from 'bun:test'
import { tomorrow } from '#domain/app/read-budget'
import { newId } from '#kernel/ids'
import { NetworkError } from '#port/network/network'
import { eventually } from '#test/support/app'
import { makeDue, setPlan, setUsed } from '#test/support/database/writes'
import { newStory, type Story } from '#test/support/growth/story'
import { tokenOf } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const HOUR = 3_600_000

interface Target {
  id: string
  last_read_at: string | null
  next_read_at: string | null
  last_error: string | null
  reads: number
}

const newHandle = async (): Promise<string> =>
  (await app.workplace.sandbox.connect(newId(), `s-${newId()}`)).handle
const watch = async (story: Story, more: object = {}): Promise<Target> =>
  (await story.send('POST', 'targets', { body: { handle: await newHandle(), ...more } })).body
    .target
const targetOf = async (story: Story, id: string): Promise<Target> =>
  (await story.send('GET', 'targets')).body.targets.find((one: Target) => one.id === id)
const readOnce = (story: Story, id: string, before: string | null = null) =>
  eventually(
    () => targetOf(story, id),
    ({ last_read_at }) => last_read_at !== before,
  )
const targetWithError = (story: Story, id: string, error: string) =>
  eventually(
    () => targetOf(story, id),
    ({ last_error }) => last_error === error,
  )
const runAt = async (id: string): Promise<Date> =>
  (await app.owner`select run_at from work where kind = 'watch' and ref_id = ${id}`)[0]!.run_at
const ahead = (time: string | null): number => new Date(time!).getTime() - Date.now()

describe('the next read', () => {
  test('of a target that is read at once is when its priority says', async () => {
    const story = await newStory(app)
    const { id } = await watch(story, { priority: 2 })
    const { next_read_at } = await readOnce(story, id)
    expect(new Date(next_read_at!)).toEqual(await runAt(id))
    expect(ahead(next_read_at)).toBeWithin(4 * HOUR - 60_000, 4 * HOUR + 1)
  })

  test('is as soon as can be for a target that was paused and is active again; a paused one is not due', async () => {
    const story = await newStory(app)
    const { id } = await watch(story)
    await readOnce(story, id)
    const paused = await story.send('PUT', `targets/${id}`, { body: { status: 'paused' } })
    expect(paused.body.target).toMatchObject({ status: 'paused', next_read_at: null })
    expect(
      await app.owner`select 1 from work where kind = 'watch' and ref_id = ${id}`,
    ).toHaveLength(0)
    const active = await story.send('PUT', `targets/${id}`, {
      body: { status: 'active', priority: 1, category: null },
    })
    expect(active.body.target).toMatchObject({
      status: 'active',
      priority: 1,
      next_read_at: expect.any(String),
    })
    expect(ahead((await runAt(id)).toISOString())).toBeLessThanOrEqual(HOUR)
  })

  test('of a target whose handle does not exist, which says so, is tomorrow', async () => {
    const story = await newStory(app)
    const { id } = await watch(story, { handle: `nobody-${newId()}`, priority: 1 })
    const read = await readOnce(story, id)
    expect(read).toMatchObject({ last_error: 'unknown_handle', reads: 1 })
    expect(ahead(read.next_read_at)).toBeGreaterThan(23 * HOUR)
  })

  test('is null while there is no account, automation is paused, or the plan does not allow it', async () => {
    const story = await newStory(app)
    const { id } = await watch(story)
    await readOnce(story, id)
    const shown = async () => (await targetOf(story, id)).next_read_at
    await story.send('POST', 'automation/pause-all')
    expect(await shown()).toBeNull()
    await story.send('POST', 'automation/resume-all')
    expect(ahead(await shown())).toBeGreaterThan(HOUR)
    await setPlan(app, story.tenantId, { billing: 'billing_suspended' })
    expect(await shown()).toBeNull()
    await setPlan(app, story.tenantId, { billing: 'ok' })
    await story.send('DELETE', 'connection')
    expect(await shown()).toBeNull()
    const change = { body: { priority: 1 } }
    const changed = (await story.send('PUT', `targets/${id}`, change)).body.target
    expect([(await watch(story)).next_read_at, changed.next_read_at]).toEqual([null, null])
  })

  test("is the beginning of the next day once today's budget is spent, unless the target is due later", async () => {
    const story = await newStory(app)
    const [soon, late] = [await watch(story, { priority: 1 }), await watch(story, { priority: 3 })]
    await readOnce(story, soon.id)
    await readOnce(story, late.id)
    await setPlan(app, story.tenantId, { overrides: { reads_free: 100 } })
    await setUsed(app, story.tenantId, { key: 'reads_free', used: 85 })
    await makeDue(app, soon.id)
    const midnight = tomorrow(new Date())
    expect((await targetOf(story, soon.id)).next_read_at).toBe(midnight.toISOString())
    const due = await runAt(late.id)
    const later = new Date(Math.max(due.getTime(), midnight.getTime()))
    expect((await targetOf(story, late.id)).next_read_at).toBe(later.toISOString())
    await setPlan(app, story.tenantId, { overrides: { reads_free: 10 } })
    expect((await targetOf(story, soon.id)).next_read_at).toBeNull()
  })
})

describe('a reconnect', () => {
  test('reads at once the targets that could not be read without an account', async () => {
    const story = await newStory(app)
    const connect = async () => {
      const key = await tokenOf(app, story.tenantId)
      return story.send('POST', '/api/v1/app/connections/sandbox', {
        key,
        body: { handle: `t-${story.tenantId}` },
      })
    }
    await story.send('DELETE', 'connection')
    const { id } = await watch(story)
    await targetWithError(story, id, 'x_not_connected')
    // By itself it would try again in ten minutes.
    expect(ahead((await runAt(id)).toISOString())).toBeGreaterThan(9 * 60_000)
    expect((await connect()).status).toBe(201)
    expect(await readOnce(story, id)).toMatchObject({
      last_error: null,
      next_read_at: expect.any(String),
    })
  })

  test('another account that becomes the default does so too', async () => {
    const story = await newStory(app)
    const key = await tokenOf(app, story.tenantId)
    await story.send('POST', '/api/v1/app/connections/sandbox', {
      key,
      body: { handle: `second-${story.tenantId}` },
    })
    await story.send('DELETE', 'connection')
    const { id } = await watch(story)
    await targetWithError(story, id, 'x_not_connected')
    const [other] = (await story.send('GET', 'connections')).body.connections
    await story.send('POST', `connections/${other.id}/default`)
    expect(await readOnce(story, id)).toMatchObject({ last_error: null })
  })

  test('reconnecting an account whose access the network had refused does so too', async () => {
    const story = await newStory(app)
    const { sandbox } = app.workplace
    const { readHandle } = sandbox
    const handle = await newHandle()
    sandbox.readHandle = async (account, query, signal) => {
      if (query.handle === handle)
        throw new NetworkError('disconnected', 'the token was taken back')
      return readHandle(account, query, signal)
    }
    const { id } = (await story.send('POST', 'targets', { body: { handle } })).body.target
    const { last_read_at } = await targetWithError(story, id, 'disconnected')
    sandbox.readHandle = readHandle
    const key = await tokenOf(app, story.tenantId)
    await story.send('POST', '/api/v1/app/connections/sandbox', {
      key,
      body: { handle: `t-${story.tenantId}` },
    })
    expect(await readOnce(story, id, last_read_at)).toMatchObject({ last_error: null })
  })

  test('leaves alone targets that were read or are not due', async () => {
    const story = await newStory(app)
    const { id } = await watch(story)
    const { last_read_at } = await readOnce(story, id)
    const before = await runAt(id)
    await story.send('DELETE', 'connection')
    const key = await tokenOf(app, story.tenantId)
    await story.send('POST', '/api/v1/app/connections/sandbox', {
      key,
      body: { handle: `t-${story.tenantId}` },
    })
    expect(await targetOf(story, id)).toMatchObject({
      last_read_at,
      next_read_at: before.toISOString(),
    })
  })
})
