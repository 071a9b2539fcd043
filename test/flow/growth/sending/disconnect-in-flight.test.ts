/**
 * Disconnecting an account waits for no post that is on the wire: it is listed, and takes its
 * outcome.
 */
import { describe, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { eventually } from '#test/support/app'
import { newStory } from '#test/support/growth/story'
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
  const posted = story.send('POST', `items/${item}/post-now`)
  const goOn = await stopped
  const ways = {
    'by its id': () => app.send('DELETE', `/api/v1/app/connections/${account.id}`, { key }),
    'of the default': () => story.send('DELETE', 'connection'),
  }
  return { story, item, posted, goOn, ways }
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

  test('stops a post that is not on the wire yet', async () => {
    const { story, item, posted, goOn, ways } = await posting('send.claimed')
    expect((await ways[way]()).body.in_flight).toEqual([])
    goOn()
    expect((await posted).body.error.code).toBe('x_not_connected')
    await eventually(
      async () => (await story.send('GET', `items/${item}`)).body.item.status,
      (status) => status === 'approved',
    )
  })
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
