/**
 * 200 workspaces read a server that allows so many requests of everybody together: what another
 * workspace has due goes out at its first try, and never meets the limit.
 */
import { expect, test } from 'bun:test'
import { eventually } from '#test/support/eventually'
import { wake } from '#test/support/growth/returned'
import { type Story, textOf } from '#test/support/growth/story'
import { connectedPerson, openBlueskyApp } from '#test/support/network/bluesky-app'
import { openPds } from '#test/support/network/pds'

const READERS = 200
const POSTS = 10
/** To sign everybody in takes 402, and to read once 201 at most. */
const REQUESTS = 760
/** From here on less than a fifth is left, which eight at once may find out late. */
const RESTING = REQUESTS * 0.8 + 8
const WITHIN_MS = 90_000
const READ = 'GET app.bsky.notification.listNotifications'

test(
  'due posts go out at their first try while 200 workspaces read the same server',
  async () => {
    await using pds = await openPds({ appView: true, limits: { requests: REQUESTS } })
    await using opened = await openBlueskyApp({ replyWithinMs: 60_000 }, { pds })
    const { owner } = opened.app
    const writer = await connectedPerson(opened)
    const readers: Story[] = []
    while (readers.length < READERS) readers.push((await connectedPerson(opened)).story)
    const tenants = readers.map(({ tenantId }) => tenantId)
    /** How many reads have failed, once all readers have read or failed. */
    const failures = async (): Promise<number> => {
      const rows = await eventually(
        () => owner<{ failures: number }[]>`select (payload->>'failures')::int as failures
          from work where kind = 'mentions' and tenant_id = any(${tenants}::uuid[])
            and state = 'queued' and payload <> '{}'`,
        ({ length }) => length === READERS,
        WITHIN_MS,
      )
      return rows.filter((row) => row.failures > 0).length
    }
    const readAll = async (): Promise<void> => {
      await owner`update work set run_at = now(), payload = '{}'
        where kind = 'mentions' and tenant_id = any(${tenants}::uuid[])`
      await Promise.all(readers.map(wake))
    }
    /** What the PDS was asked: the directory has a limit of its own. */
    const asked = () => pds.requests.filter((one) => !one.startsWith('GET did:'))
    const reads = () => asked().filter((one) => one === READ).length

    await failures()
    const before = reads()
    const ids: string[] = []
    while (ids.length < POSTS) ids.push(await writer.story.scheduled(3_000))
    await readAll()
    for (const id of ids) await writer.story.settled(id, 'posted')
    expect(reads() - before).toBeWithin(1, READERS)
    expect(writer.posts()).toEqual(Object.fromEntries(ids.map((id) => [textOf(id), 1])))
    for (const id of ids) expect(await writer.story.attempts(id)).toEqual(['posted'])

    expect(await failures()).toBeGreaterThan(0)
    await readAll()
    expect(await failures()).toBeGreaterThan(READERS / 2)
    expect(asked().length).toBeLessThanOrEqual(RESTING + POSTS)
    const last = await writer.story.approved()
    expect((await writer.story.postNow(last)).status).toBe(200)
  },
  3 * WITHIN_MS,
)
