/** P1, and what a stopped process holds: real processes under SIGSTOP, with the real durations. */
import { expect, test } from 'bun:test'
import type postgres from 'postgres'
import { sendTimes as times } from '#domain/growth/sending/times'
import { eventually, type Reply } from '#test/support/app'
import { endLeases, makeDue } from '#test/support/database/writes'
import { storyAt } from '#test/support/growth/story'
import { newDeployment, startServer } from '#test/support/processes/server'

/** The answer, retried while it is 503. */
const answered = (ask: () => Promise<Reply>) => eventually(ask, ({ status }) => status !== 503)

const ownerOf = async (owner: postgres.Sql, tenantId: string): Promise<string> =>
  (await owner`select owner from actor where tenant_id = ${tenantId}`)[0]!.owner

/**
 * Resolves when the process that went on has noticed that it was buried, and lives under a new
 * name: its lanes have ended by then.
 */
const rejoined = (owner: postgres.Sql, known: string[]) =>
  eventually(
    async () =>
      (await owner`select incarnation from node where expires_at > now()`).filter(
        ({ incarnation }) => !known.includes(incarnation),
      ),
    (others) => others.length > 0,
  )

/** Beyond this, after its claim, a process may not send any more. */
const TOO_LATE_MS = times.leaseMs - times.deadlineMs - times.marginMs

test.concurrent('P1, a process stopped after its claim until another has read the timeline does not send when it goes on', async () => {
  await using world = await newDeployment()
  const { owner, server } = world
  await using first = await startServer({ ...server, stopAt: 'send.claimed' })
  const before = storyAt({ owner, send: first.send }, await world.firstWorkspace())
  const id = await before.approved()
  const asked = before.send('POST', `items/${id}/post-now`).catch(() => undefined)
  await first.stopped()
  const old = await ownerOf(owner, before.tenantId)

  await using second = await startServer(server)
  const story = before.at({ owner, send: second.send })
  await answered(() => story.send('POST', 'automation/resume-all'))
  expect(await story.settled(id, 'publish_unconfirmed')).toMatchObject({
    last_error: 'the process stopped while sending',
  })
  // The lease ends, and its end is a settling time ago.
  await endLeases({ owner }, id)
  await makeDue({ owner }, id)
  await story.send('POST', 'automation/resume-all')
  const attempt = async () =>
    (
      await owner`select clean_reads, now() - intent_at > ${`${TOO_LATE_MS + 100} ms`}::interval
          as late from attempt where item_id = ${id}`
    )[0]!
  const reread = await eventually(attempt, ({ clean_reads, late }) => clean_reads > 0 && late)
  expect(reread).toEqual({ clean_reads: expect.any(Number), late: true })

  const known = [old, await ownerOf(owner, story.tenantId)]
  first.resume()
  expect(await rejoined(owner, known)).toHaveLength(1)
  await asked
  expect(await story.posts()).toEqual({})
  expect(await story.item(id)).toMatchObject({ status: 'publish_unconfirmed' })
  expect(await owner`select state from attempt where item_id = ${id}`).toEqual([
    { state: 'doubt' },
  ] as never)
  // A person settles it, and nothing can follow.
  expect((await story.send('POST', `items/${id}/posted`)).body.item.status).toBe('posted')
})

test.concurrent('stopped between gate and effect of a command: another takes the workspace over and commits, in bounded time; going on, it commits nothing', async () => {
  await using world = await newDeployment()
  const { owner, server } = world
  await using first = await startServer({
    ...server,
    stopAt: 'letter.deciding:growth.items.approve',
  })
  const before = storyAt({ owner, send: first.send }, await world.firstWorkspace())
  const id = await before.drafted()
  await using second = await startServer(server)
  const approve = (body: string) => ({ body: { edited_body: body } })
  const stalled = before.send('POST', `items/${id}/approve`, approve('By the first.'))
  await first.stopped()
  const old = await ownerOf(owner, before.tenantId)
  const locks = await owner`select 1 from pg_stat_activity where datname = current_database()
        and application_name = 'tendril' and state = 'idle in transaction'`
  expect(locks).toHaveLength(1)

  const after = before.at({ owner, send: second.send })
  // Idle transactions end after 2 s, statements that wait for locks too; a tenant is claimed by
  // its first letter after that.
  const reply = await answered(() =>
    after.send('POST', `items/${id}/approve`, approve('By the second.')),
  )
  expect([reply.status, reply.body]).toMatchObject([200, { item: { body: 'By the second.' } }])
  const taken = await ownerOf(owner, before.tenantId)
  expect(taken).not.toBe(old)

  first.resume()
  expect((await stalled).status).not.toBe(200)
  expect(await rejoined(owner, [old, taken])).toHaveLength(1)
  expect(await after.item(id)).toMatchObject({ status: 'approved', body: 'By the second.' })
  expect(
    await owner`select 1 from audit where ref_id = ${id} and operation = 'growth.items.approve'`,
  ).toHaveLength(1)
  const posted = await after.send('POST', `items/${id}/post-now`)
  expect([posted.status, await after.posts()]).toEqual([200, { 'By the second.': 1 }])
})
