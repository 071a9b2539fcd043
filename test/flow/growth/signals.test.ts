/** Targets are watched, their posts become signals, and signals become engagements. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { NetworkError } from '#port/network/network'
import { eventually } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { makeDue, setPlan, wakeActor } from '#test/support/database/writes'
import { newStory, type Story } from '#test/support/growth/story'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const app = useApp(() => ({ database: db.options }))

/** An account in the sandbox that posts when a test asks it to. */
const newAccount = async () => {
  const { sandbox } = app.workplace
  const account = { id: newId(), ...(await sandbox.connect(newId(), `s-${newId()}`)) }
  return {
    handle: account.handle,
    async post(text: string): Promise<string> {
      const sent = await sandbox.publish(
        { account, text, attemptId: newId(), key: null, madeAt: new Date(), deadlineMs: 5_000 },
        AbortSignal.timeout(30_000),
      )
      return sent.kind === 'posted' ? sent.externalId : Promise.reject(new Error(sent.kind))
    },
  }
}

const watch = async (story: Story, handle: string, more: object = {}) =>
  (await story.send('POST', 'targets', { body: { handle, ...more } })).body.target
const targetOf = async (story: Story, id: string) =>
  (await story.send('GET', 'targets?limit=100')).body.targets.find(
    (one: { id: string }) => one.id === id,
  )
const signalsOf = async (story: Story, query = '') =>
  (await story.send('GET', `signals?limit=100${query}`)).body.signals
const readOnce = (story: Story, id: string) =>
  eventually(
    () => targetOf(story, id),
    ({ last_read_at }) => last_read_at !== null,
  )
/** Makes the target due, and waits until it has been read. */
const readAgain = async (story: Story, id: string): Promise<void> => {
  const before = (await targetOf(story, id)).last_read_at
  await makeDue(app, id, { kind: 'watch' })
  await wakeActor(app, story.tenantId)
  await eventually(
    async () => {
      // Any letter makes the actor look for due work.
      await story.send('POST', 'automation/resume-all')
      return targetOf(story, id)
    },
    ({ last_read_at }) => last_read_at !== before,
  )
}
const dueIn = async (id: string): Promise<number | undefined> => {
  const [row] = await app.owner<
    { ms: number }[]
  >`select extract(epoch from run_at - now())::float8 * 1000 as ms from work
    where kind = 'watch' and ref_id = ${id}`
  return row?.ms
}
/** What a test of one signal begins with: its target has posted this once. */
const oneSignal = async (story: Story, text = 'Tea again.') => {
  const account = await newAccount()
  const post = await account.post(text)
  const target = await watch(story, account.handle)
  await readOnce(story, target.id)
  const [{ id }] = await signalsOf(story)
  return { id, post, target }
}

describe('a target', () => {
  test('is stored once, under its normalised handle', async () => {
    const story = await newStory(app)
    const created = await story.send('POST', 'targets', {
      body: { handle: '@Ships_On_Tuesday', category: 'peers' },
    })
    expect([created.status, created.body.target]).toMatchObject([
      201,
      { handle: 'ships_on_tuesday', category: 'peers', priority: 2, status: 'active', reads: 0 },
    ])
    expect(
      (await story.send('POST', 'targets', { body: { handle: 'SHIPS_on_tuesday' } })).status,
    ).toBe(409)
    expect(
      (await story.send('POST', 'targets', { body: { handle: 'a b' } })).body.error.details,
    ).toEqual([{ path: 'handle', message: expect.any(String) }])
  })

  test('is read at once, and uses two reads', async () => {
    const story = await newStory(app)
    const account = await newAccount()
    await account.post('Nothing to ask.')
    const { id } = await watch(story, account.handle)
    expect(await readOnce(story, id)).toMatchObject({ last_error: null, reads: 2, reads_micros: 0 })
    expect(await story.used('reads_free')).toBe(2)
  })

  test("is not read without an account, while automation is paused, or once the day's reads are spent", async () => {
    const failedRead = (story: Story, id: string) =>
      eventually(
        () => targetOf(story, id),
        ({ last_error }) => last_error !== null,
      )
    const alone = await newStory(app)
    await alone.send('DELETE', 'connection')
    const unread = await watch(alone, (await newAccount()).handle)
    expect(await failedRead(alone, unread.id)).toMatchObject({
      last_error: 'x_not_connected',
      last_read_at: null,
    })

    const spent = await newStory(app)
    await setPlan(app, spent.tenantId, { overrides: { reads_free: 10 } })
    const exhausted = await watch(spent, (await newAccount()).handle)
    expect(await failedRead(spent, exhausted.id)).toMatchObject({
      last_error: 'x_read_budget_exhausted',
      last_read_at: null,
    })
    const [row] = await app.owner<
      { midnight: boolean }[]
    >`select abs(extract(epoch from run_at - (date_trunc('day', now() at time zone 'utc')
      + interval '1 day') at time zone 'utc')) < 5 as midnight from work
        where ref_id = ${exhausted.id}`
    expect(row!.midnight).toBe(true)

    const paused = await newStory(app)
    await paused.send('POST', 'automation/pause-all')
    const held = await watch(paused, (await newAccount()).handle)
    // Manual work still runs after it.
    const done = await paused.approved()
    await paused.send('POST', `items/${done}/post-now`)
    expect(await targetOf(paused, held.id)).toMatchObject({ last_read_at: null, last_error: null })
    await paused.send('POST', 'automation/resume-all')
    await readOnce(paused, held.id)
  })

  test('that cannot be read is retried after longer and longer waits, and its reserved reads are given back', async () => {
    const story = await newStory(app)
    const { sandbox } = app.workplace
    const { readHandle } = sandbox
    const account = await newAccount()
    sandbox.readHandle = async (reader, query, signal) => {
      if (query.handle === account.handle) throw new NetworkError('unreachable', 'no answer')
      return readHandle(reader, query, signal)
    }
    try {
      const { id } = await watch(story, account.handle, { priority: 1 })
      expect(await readOnce(story, id)).toMatchObject({ last_error: 'unreachable', reads: 0 })
      expect(await dueIn(id)).toBeLessThanOrEqual(300_000)
      await readAgain(story, id)
      expect(await dueIn(id)).toBeGreaterThan(300_000)
      expect(await story.used('reads_free')).toBe(0)
    } finally {
      sandbox.readHandle = readHandle
    }
  })
})

describe('signals', () => {
  test("are the targets' posts, each once, best first", async () => {
    const story = await newStory(app)
    const { handle } = (await story.send('GET', 'connection')).body.connection.account
    const account = await newAccount()
    const plain = await account.post('Tea again.')
    const { id } = await watch(story, account.handle, { priority: 1 })
    await readOnce(story, id)
    const asking = await account.post(`What do you think, @${handle}?`)
    await readAgain(story, id)
    await readAgain(story, id)
    const signals = await signalsOf(story)
    expect(signals.map(({ post }: { post: { id: string } }) => post.id)).toEqual([asking, plain])
    expect(signals[0]).toMatchObject({
      target_id: id,
      status: 'open',
      engagement_id: null,
      post: { author: account.handle, addresses_us: true, network: 'sandbox' },
      reasons: expect.arrayContaining([
        'asks something',
        'addresses your account',
        'target of priority 1',
      ]),
    })
    expect(signals[0].actions).toHaveLength(4)
    expect(signals[0].actions[0]).toEqual({
      action: 'reply',
      allowed: true,
      reason: null,
      link: null,
    })
  })

  test('are paged without loss while new ones come and the last one seen is deleted', async () => {
    const story = await newStory(app)
    const account = await newAccount()
    for (const text of ['One?', 'Two.', 'Three?', 'Four.']) await account.post(text)
    const { id } = await watch(story, account.handle)
    await readOnce(story, id)
    const all = (await signalsOf(story)).map((one: { id: string }) => one.id)
    const first = (await story.send('GET', 'signals?limit=2')).body
    await account.post('Five?')
    await readAgain(story, id)
    await app.owner`delete from signal where id = ${first.signals.at(-1).id}`
    const second = (await story.send('GET', `signals?limit=100&cursor=${first.next_cursor}`)).body
    const seen = [...first.signals, ...second.signals].map((one: { id: string }) => one.id)
    expect(new Set(seen).size).toBe(seen.length)
    for (const one of all) expect(seen).toContain(one)
  })

  test('are open again when the draft of their answer fails', async () => {
    const story = await newStory(app)
    const { id } = await oneSignal(story)
    const engage = () => story.send('POST', `signals/${id}/engage`, { body: { action: 'reply' } })
    // Nothing can be drafted from an empty profile.
    expect((await engage()).status).toBe(201)
    const anyOf = ({ length }: unknown[]) => length > 0
    expect(await eventually(() => signalsOf(story), anyOf)).toMatchObject([
      { id, status: 'open', engagement_id: null },
    ])
    expect((await engage()).status).toBe(201)
  })

  test('that are dismissed do not come again', async () => {
    const story = await newStory(app)
    const { id, target } = await oneSignal(story)
    expect((await story.send('POST', `signals/${id}/dismiss`)).body.signal.status).toBe('dismissed')
    expect((await story.send('POST', `signals/${id}/dismiss`)).body.signal).toMatchObject({
      id,
      status: 'dismissed',
    })
    expect(await app.owner`select 1 from audit where ref_id = ${id}`).toHaveLength(1)
    await readAgain(story, target.id)
    expect([await signalsOf(story), (await signalsOf(story, '&status=dismissed')).length]).toEqual([
      [],
      1,
    ])
  })

  test('become engagements without another read', async () => {
    const story = await newStory(app)
    const { id, post, target } = await oneSignal(story)
    const made = await story.send('POST', `signals/${id}/engage`, {
      body: { action: 'reply', body: 'The driver does.' },
    })
    expect([made.status, made.body.engagement]).toMatchObject([
      201,
      { status: 'drafted', signal_id: id, post: { id: post } },
    ])
    expect(await signalsOf(story)).toEqual([])
    expect((await signalsOf(story, '&status=engaged'))[0]).toMatchObject({
      id,
      engagement_id: made.body.engagement.id,
    })
    expect((await targetOf(story, target.id)).reads).toBe(2)
    const again = await story.send('POST', `signals/${id}/engage`, { body: { action: 'like' } })
    expect([again.status, again.body.error.message]).toEqual([
      409,
      'cannot engage: the signal is engaged',
    ])
  })

  test('expire', async () => {
    const story = await newStory(app)
    const { id } = await oneSignal(story)
    await app.owner`update signal set expires_at = now() where id = ${id}`
    expect([await signalsOf(story), (await signalsOf(story, '&status=expired'))[0].status]).toEqual(
      [[], 'expired'],
    )
    expect((await story.send('POST', `signals/${id}/dismiss`)).body.error.message).toBe(
      'cannot dismiss: the signal is expired',
    )
  })
})
