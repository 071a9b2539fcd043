/** How a server stops, and how it sheds load, as its callers see it over HTTP. */
import { describe, expect, test } from 'bun:test'
import { type TestFailpoints, testFailpoints } from '#test/support/actors/failpoints'
import { type AppOptions, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { use } from '#test/support/use'

const database = use(freshDb)

interface Stage extends AsyncDisposable {
  app: TestApp
  points: TestFailpoints
  story: Story
}

const stage = async (overrides: AppOptions['overrides'] = {}): Promise<Stage> => {
  const points = testFailpoints()
  const app = await testApp({
    database: database.options,
    overrides: { ...overrides, failpoints: points.at },
  })
  return {
    app,
    points,
    story: await newStory(app),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  }
}

/** Stops the actors while HTTP still answers, as in the first moments of a stop. */
const stopping = ({ app }: Stage) => app.workplace.runtime[Symbol.asyncDispose]()

describe('a server that stops', () => {
  test('lets a post finish whose request is out, and answers the waiting caller', async () => {
    await using it = await stage()
    const id = await it.story.approved()
    it.points.arm('send.sent', 'hang')
    const answer = it.story.send('POST', `items/${id}/post-now`)
    await it.points.reached('send.sent')
    const stopped = stopping(it)
    const refused = await it.story.send('PUT', 'profile', { body: { goal: 'later' } })
    expect([refused.status, refused.body.error?.code]).toEqual([503, 'unavailable'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    it.points.release('send.sent')
    await stopped
    const { status, body } = await answer
    expect([status, body.item.status]).toEqual([200, 'posted'])
    expect(await it.story.posts()).toEqual({ [textOf(id)]: 1 })
  })

  test('does not send a post that was claimed: the next server sends it once', async () => {
    const it = await stage()
    const id = await it.story.approved()
    it.points.arm('send.claimed', 'hang')
    const answer = it.story.send('POST', `items/${id}/post-now`)
    await it.points.reached('send.claimed')
    const stopped = stopping(it)
    it.points.release('send.claimed')
    await stopped
    expect(await it.story.posts()).toEqual({})
    expect((await answer).status).toBe(202)
    await it[Symbol.asyncDispose]()
    await using next = await stage()
    const item = await it.story.at(next.app).settled(id, 'posted')
    expect(item).toMatchObject({ status: 'posted', last_error: null })
    expect(await it.story.at(next.app).posts()).toEqual({ [textOf(id)]: 1 })
  })

  test('leaves no doubt about a post whose claim it was just writing', async () => {
    const it = await stage()
    const id = await it.story.approved()
    it.points.arm('send.claiming', 'hang')
    const answer = it.story.send('POST', `items/${id}/post-now`)
    await it.points.reached('send.claiming')
    const stopped = stopping(it)
    it.points.release('send.claiming')
    await stopped
    expect((await answer).status).toBe(202)
    expect((await it.story.item(id)).status).toBe('publishing')
    await it[Symbol.asyncDispose]()
    await using next = await stage()
    await it.story.at(next.app).settled(id, 'posted', 'publish_unconfirmed')
    expect(await it.story.at(next.app).item(id)).toMatchObject({
      status: 'posted',
      last_error: null,
    })
  })

  test('still answers reads to the end', async () => {
    await using it = await stage()
    const id = await it.story.approved()
    await stopping(it)
    expect((await it.story.item(id)).status).toBe('approved')
  })
})

describe('an overloaded workspace', () => {
  test('refuses requests over its bound with 429 and a retry time, and does not affect other workspaces', async () => {
    await using it = await stage({ mailbox: { bound: 3 } })
    const other = await newStory(it.app)
    await it.story.approved()
    it.points.arm('letter.deciding', 'hang')
    const send = () => it.story.send('PUT', 'profile', { body: { goal: 'more' } })
    const first = send()
    await it.points.reached('letter.deciding')
    const others = Array.from({ length: 8 }, send)
    const early = await Promise.race(others)
    expect([early.status, early.body.error?.message]).toEqual([429, 'rate_limited:mailbox'])
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0)
    it.points.release('letter.deciding')
    const statuses = (await Promise.all([first, ...others])).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(4)
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
    expect((await other.send('PUT', 'profile', { body: { goal: 'other' } })).status).toBe(200)
    expect((await send()).status).toBe(200)
  })

  test('still accepts the kill switch', async () => {
    await using it = await stage({ mailbox: { bound: 1 } })
    await it.story.approved()
    it.points.arm('letter.deciding', 'hang')
    const send = () => it.story.send('PUT', 'profile', { body: { goal: 'more' } })
    const first = send()
    await it.points.reached('letter.deciding')
    const [one, other] = [send(), send()]
    expect((await Promise.race([one, other])).status).toBe(429)
    const paused = it.story.send('POST', 'automation/pause-all')
    it.points.release('letter.deciding')
    expect((await paused).status).toBe(200)
    expect((await Promise.all([first, one, other])).map(({ status }) => status).sort()).toEqual([
      200, 200, 429,
    ])
  })
})
