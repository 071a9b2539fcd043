/** `tendril admin pause --all` and `resume --all`, on two servers of one deployment. */
import { afterEach, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { endPauseEverywhere, pauseEverywhere } from '#store/operator/paused-everywhere'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb, TEST_SECRET } from '#test/support/database/db'
import { makeItemDue } from '#test/support/database/writes'
import { newStory, textOf } from '#test/support/growth/story'
import { runAdmin } from '#test/support/processes/server'
import { tokenOf } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const points = testFailpoints()
const overrides = { failpoints: points.at }
const app = useApp(() => ({ database: db.options, overrides }))
const other = useApp(() => ({ database: db.options, overrides }))

const run = async (...args: string[]) => {
  const deployment = {
    key: app.key,
    database: db.options,
    secret: TEST_SECRET.toString('base64'),
  }
  const { code, out, err } = await runAdmin(deployment, ...args)
  return { code, err, json: out === '' ? undefined : JSON.parse(out) }
}
const pause = (...more: string[]) => run('pause', '--all', ...more)
const resume = () => run('resume', '--all')
const knows = (one: TestApp, isPaused: boolean) =>
  eventually(
    async () => one.workplace.runtime.hold.everywhere !== null,
    (is) => is === isPaused,
  )

const hour = 3_600_000
const time = expect.stringMatching(/^\d{4}-.*Z$/)

const isPaused = async () => (await pauseEverywhere(app.workplace.db)) !== undefined
afterEach(async () => {
  await endPauseEverywhere(app.workplace.db)
})

/** A server that lives, as far as the others can tell, and does nothing. */
const silentServer = async () => {
  const server = { id: newId(), url: 'http://10.0.0.9:7070' }
  const session = await app.owner.reserve()
  await session`select pg_advisory_lock(7)`
  await session`insert into node (incarnation, lock_key, url, expires_at)
    values (${server.id}, 7, ${server.url}, now() + interval '4900 milliseconds')`
  return {
    server,
    async [Symbol.asyncDispose]() {
      await session`delete from node where incarnation = ${server.id}`
      await session`select pg_advisory_unlock(7)`
      session.release()
    },
  }
}

test('what is claimed is recalled, what is out is listed, and each post goes out once after resuming', async () => {
  const [story, elsewhere, asleep] = [
    await newStory(app),
    await newStory(other),
    await newStory(app),
  ]
  points.arm('sandbox.received', 'hang')
  const out = await story.scheduled(0)
  await points.reached('sandbox.received')
  // It goes on once its server has heard of the pause.
  points.arm('send.claimed', () => knows(other, true).then(() => {}))
  const claimed = await elsewhere.scheduled(0)
  await points.reached('send.claimed')
  const due = await asleep.scheduled(hour)
  const { code, json, err } = await pause('--reason', 'The network asked us to')
  expect([code, err]).toEqual([0, ''])
  const { since, by } = json.paused_everywhere
  expect(json).toMatchObject({
    paused_everywhere: { since: time, reason: 'The network asked us to' },
    servers: 2,
    unanswered: [],
    under_way: [
      {
        workspace_id: story.tenantId,
        record: 'item',
        id: out,
        origin: 'automatic',
        since: time,
        server: app.workplace.runtime.incarnation,
      },
    ],
    under_way_total: 1,
    under_way_unattended: 1,
  })
  points.release('send.claimed')
  points.release('sandbox.received')
  await story.settled(out, 'posted')
  const dueElsewhere = await elsewhere.scheduled(hour)
  await app.owner`update actor set owner = null where tenant_id = ${asleep.tenantId}`
  for (const id of [due, dueElsewhere]) await makeItemDue(app, id)
  // A person's own runs, and after it the lanes have looked at all that is due.
  const own = await elsewhere.approved()
  expect((await elsewhere.postNow(own)).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(out)]: 1 })
  expect(await elsewhere.posts()).toEqual({ [textOf(own)]: 1 })
  // A server that starts meanwhile finds the pause, and wakes nobody either.
  await using third = await testApp({ database: db.options })
  expect(third.workplace.runtime.hold.everywhere).toEqual(new Date(since))
  const posted = await asleep.at(third).approved()
  await app.owner`update actor set owner = null, wake_at = now() - interval '1 hour'
    where tenant_id = ${asleep.tenantId}`
  const again = await pause('--reason', 'Another')
  expect(again.json).toMatchObject({
    paused_everywhere: { since, by, reason: 'The network asked us to' },
    servers: 3,
    under_way: [],
  })
  expect((await asleep.at(third).item(posted)).status).toBe('approved')
  const [actor] = await app.owner`select owner from actor where tenant_id = ${asleep.tenantId}`
  expect(actor!.owner).toBeNull()
  expect((await resume()).json).toMatchObject({ resumed: { since, by } })
  for (const [at, id] of [
    [elsewhere, claimed],
    [elsewhere, dueElsewhere],
    [asleep, due],
  ] as const)
    await at.settled(id, 'posted')
  expect(await elsewhere.posts()).toEqual(
    Object.fromEntries([own, claimed, dueElsewhere].map((id) => [textOf(id), 1])),
  )
  expect(await asleep.posts()).toEqual({ [textOf(due)]: 1 })
})

test('people are told, cannot resume, and what they paused stays paused', async () => {
  const story = await newStory(app)
  const { tenantId } = story
  const owner = await tokenOf(app, tenantId)
  const switching = (path: string) => story.send('POST', `automation/${path}`, { key: owner })
  const { paused_everywhere } = (await pause()).json
  await knows(app, true)
  const due = await story.scheduled(hour)
  await makeItemDue(app, due)
  const { since } = paused_everywhere
  expect((await story.send('GET', 'automation')).body.automation).toMatchObject({
    paused: false,
    paused_everywhere_since: since,
    on_resuming: { sent: 1, skipped: 0 },
  })
  expect((await story.send('GET', 'overview')).body.overview).toMatchObject({
    paused: false,
    paused_everywhere: true,
  })
  expect(await switching('resume-all')).toMatchObject({
    status: 409,
    body: { error: { reason: 'paused_everywhere', at: since } },
  })
  expect((await switching('pause-all')).body.automation.paused).toBe(true)
  expect((await resume()).json).toMatchObject({ workspaces_still_paused: 1 })
  await knows(app, false)
  const own = await story.approved()
  expect((await story.postNow(own)).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(own)]: 1 })
  expect((await switching('resume-all')).body.automation.paused).toBe(false)
  await story.settled(due, 'posted')
})

test('a server that has gone without an answer is named, and two operators agree', async () => {
  await using silent = await silentServer()
  const gone = silent.server
  const pausing = Promise.all([pause(), pause()])
  await knows(app, true)
  await app.owner`update node set expires_at = now() + interval '1 second'
    where incarnation = ${gone.id}`
  const [first, second] = await pausing
  for (const { code, err, json } of [first, second]) {
    expect(code).toBe(1)
    expect(err).toContain(`${gone.id} at ${gone.url}, which is gone`)
    expect(json).toMatchObject({ servers: 2, unanswered: [{ ...gone, alive: false }] })
  }
  expect(second.json.paused_everywhere).toEqual(first.json.paused_everywhere)
  expect((await run('nodes')).json.paused_everywhere).toEqual(first.json.paused_everywhere)
  expect(await pause()).toMatchObject({ code: 0, json: { unanswered: [] } })
})

test('whoever waits hears that another has resumed', async () => {
  await using silent = await silentServer()
  // It must live longer than the command waits, however busy the machine is.
  await app.owner`update node set expires_at = now() + interval '60 seconds'
    where incarnation = ${silent.server.id}`
  const waiting = pause()
  const begun = () => app.owner`select from hold where paused_since is not null`
  await eventually(begun, (rows) => rows.length > 0)
  await endPauseEverywhere(app.workplace.db)
  expect(await waiting).toMatchObject({
    code: 1,
    json: { paused_everywhere: null },
    err: 'tendril admin: somebody has resumed every workspace meanwhile\n',
  })
  expect((await resume()).json).toMatchObject({ resumed: null })
})

test.each([
  [['pause'], 'pause needs --all'],
  [['resume'], 'tenant resume --workspace ID'],
  [['pause', '--all', '--reason', ''], '--reason is missing'],
  [['pause', '--all', '--reason', 'two\nlines'], '--reason must be one line of plain text'],
  [['pause', '--all', '--reason', 'x'.repeat(501)], '--reason must have at most 500 characters'],
])('%p is refused, and nothing is paused', async (args, says) => {
  expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining(says) })
  expect(await isPaused()).toBe(false)
})
