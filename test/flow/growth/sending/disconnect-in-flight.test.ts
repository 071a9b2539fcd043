/**
 * Disconnecting an account waits for no post that is on the wire: it is listed, and takes its
 * outcome.
 */
import { describe, expect, test } from 'bun:test'
import { connectAccount } from '#ops/operator/admin/workspaces'
import { testStops } from '#test/support/actors/stops'
import { newStory, textOf } from '#test/support/growth/story'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const stops = testStops()
const app = useApp({ overrides: { failpoints: stops.at } })

/** An item of a new workspace that somebody posts, stopped there. */
const posting = async (at: string) => {
  const story = await newStory(app)
  const { key } = await signedIn(app, story.tenantId)
  const [account] = (await story.send('GET', 'connections')).body.connections
  const item = await story.approved()
  const stopped = stops.stopNext(at)
  const posted = story.postNow(item, 'post it')
  const goOn = await stopped
  const ways = {
    'by its id': () => app.send('DELETE', `/api/v1/app/connections/${account.id}`, { key }),
    'of the default': () => story.send('DELETE', 'connection'),
  }
  return { story, item, posted, goOn, ways, key, account }
}

describe.each(['by its id', 'of the default'] as const)('disconnecting an account %s', (way) => {
  test('lists the post on the wire, which is posted', async () => {
    const { story, item, posted, goOn, ways } = await posting('send.sent')
    const { status, body } = await ways[way]()
    expect([status, body.in_flight]).toEqual([
      200,
      [{ item_id: item, origin: 'manual', since: expect.any(String) }],
    ])
    goOn()
    expect((await posted).status).toBe(200)
    expect((await story.send('GET', `items/${item}`)).body.item.status).toBe('posted')
  })

  test('stops a post that is not on the wire yet: its caller gets an error, and its key is free', async () => {
    const { story, item, posted, goOn, ways } = await posting('send.claimed')
    expect((await ways[way]()).body).toMatchObject({
      connection: { connected: false, account: null },
      in_flight: [],
    })
    goOn()
    expect((await posted).body.error.code).toBe('x_not_connected')
    expect(await story.settled(item, 'approved')).toMatchObject({ last_error: 'x_not_connected' })
    expect([await story.attempts(item), await story.works(item)]).toEqual([['failed'], []])
    const account = await app.workplace.sandbox.connect(story.tenantId, `t-${story.tenantId}`)
    await connectAccount(app.workplace.world, story.tenantId, { network: 'sandbox', ...account })
    expect(account.externalId).toBe(story.account)
    expect((await story.postNow(item, 'post it')).body.item.status).toBe('posted')
    expect(await story.posts()).toEqual({ [textOf(item)]: 1 })
  })
})

test('disconnecting another account leaves a claimed post alone', async () => {
  const { story, item, posted, goOn, key, account } = await posting('send.claimed')
  const { connection } = (await app.send('POST', '/api/v1/app/connections/sandbox', { key })).body
  const other = `/api/v1/app/connections/${connection.account.id}`
  expect((await app.send('DELETE', other, { key })).body.connection).toMatchObject({
    connected: true,
    account: { id: account.id },
  })
  goOn()
  expect((await posted).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(item)]: 1 })
})

test('two people who disconnect at once are both answered', async () => {
  const { item, posted, goOn, ways } = await posting('send.sent')
  const all = await Promise.all([ways['by its id'](), ways['by its id']()])
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, 404])
  expect(all.find(({ status }) => status === 200)!.body.in_flight).toMatchObject([
    { item_id: item },
  ])
  goOn()
  expect((await posted).status).toBe(200)
})
