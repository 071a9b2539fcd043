/**
 * A database that was copied while posts to Bluesky were due, and whose original runs on: whatever
 * the operator of the copy says, each post stands in the repository once.
 */
import { expect, test } from 'bun:test'
import { copyOf, freshDb, type TestDatabase } from '#test/support/database/db'
import { makeItemDue } from '#test/support/database/writes'
import { eventually } from '#test/support/eventually'
import { wake } from '#test/support/growth/returned'
import { type Story, textOf } from '#test/support/growth/story'
import {
  type BlueskyStory,
  blueskyEnv,
  connectedPerson,
  openBlueskyApp,
} from '#test/support/network/bluesky-app'
import { type FakePds, openPds } from '#test/support/network/pds'
import {
  type Deployment,
  newDeployment,
  runAdmin,
  startServer,
} from '#test/support/processes/server'

const COUNT = 20
const HOUR = 3_600_000
const WITHIN_MS = 90_000
const PUT = 'POST com.atproto.repo.putRecord'

interface Prepared {
  person: BlueskyStory
  ids: string[]
}

/** A deployment that knows itself, with posts on the schedule, and nobody connected to it. */
const prepared = async (database: TestDatabase, pds: FakePds): Promise<Prepared> => {
  const idle = { sweepMs: 0, lanes: [] }
  await using world = await newDeployment(database)
  await using opened = await openBlueskyApp(idle, { pds, database: database.options })
  const person = await connectedPerson(opened)
  const ids: string[] = []
  while (ids.length < COUNT) ids.push(await person.story.scheduled(HOUR))
  await opened[Symbol.asyncDispose]()
  const { server } = world
  await using first = await startServer({ ...server, env: blueskyEnv(pds) })
  first.terminate()
  await first.exited
  return { person, ids }
}

/** Each post with the address at which it stands, once there are so many. */
const addresses = async ({ owner }: Deployment, count: number): Promise<Map<string, string>> => {
  const rows = await eventually(
    async () =>
      await owner<{ id: string; external_id: string }[]>`select id, external_id from item
        where status = 'posted'`,
    ({ length }) => length === count,
    WITHIN_MS,
  )
  return new Map(rows.map(({ id, external_id }) => [id, external_id]))
}

const dueNow = async (world: Deployment, story: Story, ids: string[]): Promise<void> => {
  for (const id of ids) await makeItemDue(world, id)
  await wake(story)
}

test.each([
  ['is adopted as what was only moved, and sends what is due', '--moved'],
  ['is adopted, and a person decides to post all of it now', undefined],
])(
  'a copy sends nothing while it is held; when it %s, each post stands there once',
  async (_, moved) => {
    await using pds = await openPds()
    await using database = await freshDb()
    const { person, ids } = await prepared(database, pds)
    await using copied = await copyOf(database.options)
    await using original = await newDeployment(database)
    await using copy = await newDeployment(copied)
    const env = blueskyEnv(pds)
    await using there = await startServer({ ...original.server, env })
    await using here = await startServer({ ...copy.server, env })
    const [theirs, ours] = [
      person.story.at({ owner: original.owner, send: there.send }),
      person.story.at({ owner: copy.owner, send: here.send }),
    ]

    await dueNow(copy, ours, ids)
    // What a person asks for anew is sent, so the lanes have looked at all that is due.
    const own = await ours.approved()
    expect((await ours.postNow(own)).body.item?.status).toBe('posted')
    expect(person.posts()).toEqual({ [textOf(own)]: 1 })

    // Slowly, so that both are at it at the same time.
    pds.fail('com.atproto.repo.putRecord', { slowMs: 100 }, { share: 1 })
    const adopted = await runAdmin(
      { ...copy.server, env },
      ...['identity', 'adopt', ...(moved ? [moved] : []), '--yes'],
    )
    expect(adopted).toMatchObject({ code: 0, json: { adopted: true } })
    const decided = async () => {
      if (moved) await wake(ours)
      else
        await Promise.all(
          ids.map(async (id) => expect((await ours.postNow(id)).status).toBeLessThan(300)),
        )
    }
    await Promise.all([dueNow(original, theirs, ids), decided()])

    const [byOriginal, byCopy] = [
      await addresses(original, COUNT),
      await addresses(copy, COUNT + 1),
    ]
    for (const [id, at] of byOriginal) expect([id, byCopy.get(id)]).toEqual([id, at])
    expect(person.posts()).toEqual(Object.fromEntries([own, ...ids].map((id) => [textOf(id), 1])))
    expect(pds.commits(person.person.did)).toBe(COUNT + 1)
    const puts = pds.requests.filter((one) => one === PUT).length
    if (moved) expect(puts).toBe(2 * COUNT + 1)
  },
  120_000,
)
