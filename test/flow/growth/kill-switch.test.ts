/** The kill switch: after its answer nothing goes out unattended. */
import { expect, test } from 'bun:test'
import { publishTimes } from '#domain/growth/sending/publish'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/db'
import { testFailpoints } from '#test/support/failpoints'
import { othersPost } from '#test/support/prepare'
import { crash, newStory, type Story, textOf } from '#test/support/story'
import { use, useApp } from '#test/support/use'
import { endLeases, extendLeases, makeItemDue } from '#test/support/writes'

const times = { ...publishTimes, settleMs: 100, windowMs: 60_000 }

const db = use(freshDb)
const points = testFailpoints()
const app = useApp(() => ({ database: db.options, overrides: { times, failpoints: points.at } }))

const pause = async (story: Story) => (await story.send('POST', 'automation/pause-all')).body.automation
const resume = async (story: Story) => (await story.send('POST', 'automation/resume-all')).body.automation
const postNow = (story: Story, id: string) => story.send('POST', `items/${id}/post-now`)

/** Resolves when the item has been due for a moment, with a post that a person asked for after that: the lanes have had their turn. */
const personPostsAfter = async (story: Story, id: string): Promise<string> => {
  const { post_at } = await story.item(id)
  await eventually(
    async () => Date.now(),
    (now) => now > Date.parse(post_at!) + 50,
  )
  const own = await story.approved()
  expect((await postNow(story, own)).body.item.status).toBe('posted')
  return own
}

test('what falls due after the answer stays on the schedule; people still draft, approve and post; resuming posts it', async () => {
  const story = await newStory(app)
  const ids = [await story.scheduled(3_600_000), await story.scheduled(3_600_000)]
  expect(await pause(story)).toEqual({ paused: true, in_flight: [] })
  for (const id of ids) {
    await makeItemDue(app, id)
  }
  const own = await personPostsAfter(story, ids[0]!)
  expect(await story.posts()).toEqual({ [textOf(own)]: 1 })
  for (const id of ids) expect(await story.item(id)).toMatchObject({ status: 'approved', post_at: expect.any(String) })
  expect(await resume(story)).toEqual({ paused: false, in_flight: [] })
  for (const id of ids) await story.settled(id, 'posted')
  expect(await story.posts()).toEqual({ [textOf(own)]: 1, [textOf(ids[0]!)]: 1, [textOf(ids[1]!)]: 1 })
})

test('a recalled post that a person asks for at once waits for its turn and answers with the post', async () => {
  const story = await newStory(app)
  points.arm('publish.claimed', 'hang')
  const id = await story.scheduled(0)
  await points.reached('publish.claimed')
  await pause(story)
  const asked = postNow(story, id)
  await story.settled(id, 'publishing')
  points.release('publish.claimed')
  const reply = await asked
  expect([reply.status, reply.body.item.status]).toEqual([200, 'posted'])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a post on the wire is not aborted but listed, and counts as posted', async () => {
  const story = await newStory(app)
  points.arm('sandbox.received', 'hang')
  const id = await story.scheduled(0)
  await points.reached('sandbox.received')
  const { paused, in_flight } = await pause(story)
  expect({ paused, in_flight }).toEqual({ paused: true, in_flight: [{ item_id: id, origin: 'automatic', since: expect.any(String) }] })
  points.release('sandbox.received')
  expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  expect((await pause(story)).in_flight).toEqual([])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('what a person asked for is neither recalled nor held', async () => {
  const story = await newStory(app)
  points.arm('publish.claimed', 'hang')
  const id = await story.approved()
  const asked = postNow(story, id)
  await points.reached('publish.claimed')
  expect((await pause(story)).in_flight).toEqual([{ item_id: id, origin: 'manual', since: expect.any(String) }])
  points.release('publish.claimed')
  expect((await asked).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

const approvedEngagement = async (at: TestApp, story: Story, action: 'reply' | 'like'): Promise<string> => {
  const words = action === 'reply' ? { body: 'We call first.' } : {}
  const { body } = await story.send('POST', 'engagements', { body: { post: await othersPost({ app: at }), action, ...words } })
  const { id } = body.engagement
  expect((await story.send('POST', `engagements/${id}/approve`)).status).toBe(200)
  return id
}

test.each(['reply', 'like'] as const)(
  'a %s that a person has on the wire is not aborted but listed, until it is executed',
  async (action) => {
    const story = await newStory(app)
    const id = await approvedEngagement(app, story, action)
    points.arm('sandbox.received', 'hang')
    const asked = story.send('POST', `engagements/${id}/execute`)
    await points.reached('sandbox.received')
    const listed = [{ engagement_id: id, origin: 'manual', since: expect.any(String) }]
    expect((await pause(story)).in_flight).toEqual(listed)
    expect((await resume(story)).in_flight).toEqual(listed)
    points.release('sandbox.received')
    expect((await asked).body.engagement.status).toBe('executed')
    expect((await pause(story)).in_flight).toEqual([])
  },
)

test('lists the engagement that a dead process may still have on the wire, until its lease has ended', async () => {
  await using own = await freshDb()
  const held = testFailpoints()
  await using dead = await testApp({ database: own.options, overrides: { failpoints: held.at } })
  const story = await newStory(dead)
  const id = await approvedEngagement(dead, story, 'reply')
  held.arm('execute.claimed', 'hang')
  const asked = story.send('POST', `engagements/${id}/execute`)
  await held.reached('execute.claimed')
  await crash(dead)
  expect((await asked).status).toBe(503)
  await using next = await testApp({ database: own.options, overrides: { times } })
  const after = story.at(next)
  const isInDoubt = async () =>
    (await after.send('GET', 'engagements?status=execute_unconfirmed')).body.engagements.some((one: { id: string }) => one.id === id)
  await eventually(isInDoubt, (is) => is)
  // Ends long after this test, whatever the speed of the machine.
  await extendLeases(next)
  expect((await pause(after)).in_flight).toEqual([{ engagement_id: id, origin: 'manual', since: expect.any(String) }])
  await endLeases(next)
  expect((await pause(after)).in_flight).toEqual([])
  held.release('execute.claimed')
})

test('the doubt about a scheduled post is not looked into while it holds, and is resolved after', async () => {
  const story = await newStory(app)
  points.arm('publish.sent', new Error('the answer was lost'))
  const id = await story.scheduled(0)
  await story.settled(id, 'publish_unconfirmed')
  points.release('publish.sent')
  await pause(story)
  const reads = async () => app.owner`select clean_reads from attempt where item_id = ${id}`
  const before = await reads()
  const own = await story.approved()
  await postNow(story, own)
  expect([...(await reads())]).toEqual([...before])
  await resume(story)
  expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1, [textOf(own)]: 1 })
})

test('resuming follows the policy for what is overdue', async () => {
  const story = await newStory(app)
  const [recent, old, skipped] = [
    await story.scheduled(3_600_000),
    await story.scheduled(3_600_000),
    await story.scheduled(3_600_000, { on_missed: 'skip' }),
  ]
  await pause(story)
  for (const [id, minutes] of [
    [recent, 30],
    [old, 90],
    [skipped, 30],
  ] as const) {
    const at = new Date(Date.now() - minutes * 60_000)
    await makeItemDue(app, id, at)
  }
  await resume(story)
  await story.settled(recent, 'posted')
  for (const id of [old, skipped]) {
    const item = await eventually(
      () => story.item(id),
      ({ post_at }) => post_at === null,
    )
    expect(item).toMatchObject({ status: 'approved', post_at: null, last_error: 'missed' })
  }
  expect(await story.posts()).toEqual({ [textOf(recent)]: 1 })
})

test('survives a restart of the server', async () => {
  const stopped = await testApp({ database: db.options })
  const story = await newStory(stopped)
  const id = await story.scheduled(500)
  await pause(story)
  await stopped[Symbol.asyncDispose]()
  const restarted = story.at(app)
  const own = await personPostsAfter(restarted, id)
  expect(await restarted.posts()).toEqual({ [textOf(own)]: 1 })
  await resume(restarted)
  await restarted.settled(id, 'posted')
  expect(await restarted.posts()).toEqual({ [textOf(own)]: 1, [textOf(id)]: 1 })
})

test('lists what a dead process may still have on the wire, until its lease has ended', async () => {
  await using own = await freshDb()
  const held = testFailpoints()
  await using dead = await testApp({ database: own.options, overrides: { failpoints: held.at } })
  const story = await newStory(dead)
  held.arm('sandbox.applied', 'hang')
  const id = await story.scheduled(0)
  await held.reached('sandbox.applied')
  await crash(dead)
  await using next = await testApp({ database: own.options, overrides: { times } })
  const after = story.at(next)
  expect((await pause(after)).in_flight).toEqual([{ item_id: id, origin: 'automatic', since: expect.any(String) }])
  await after.settled(id, 'publish_unconfirmed')
  await endLeases(next)
  await next.owner`update work set run_at = now()`
  expect((await pause(after)).in_flight).toEqual([])
  await resume(after)
  expect(await after.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  held.release('sandbox.applied')
  expect(await after.posts()).toEqual({ [textOf(id)]: 1 })
})

test('lists what a dead process may still have on the wire, also when a person has settled it meanwhile', async () => {
  await using own = await freshDb()
  const held = testFailpoints()
  await using dead = await testApp({ database: own.options, overrides: { failpoints: held.at } })
  const story = await newStory(dead)
  held.arm('publish.claimed', 'hang')
  const id = await story.scheduled(0)
  await held.reached('publish.claimed')
  await crash(dead)
  await using next = await testApp({ database: own.options, overrides: { times } })
  const after = story.at(next)
  await after.settled(id, 'publish_unconfirmed')
  // Ends long after this test, whatever the speed of the machine.
  await extendLeases(next)
  expect((await after.send('POST', `items/${id}/posted`, {})).body.item.status).toBe('posted')
  expect((await pause(after)).in_flight).toEqual([{ item_id: id, origin: 'automatic', since: expect.any(String) }])
  expect((await resume(after)).in_flight).toEqual([{ item_id: id, origin: 'automatic', since: expect.any(String) }])
  await endLeases(next)
  expect((await pause(after)).in_flight).toEqual([])
  held.release('publish.claimed')
})

test('pausing what is paused is not told again in the audit: no rate limits how often that is asked for', async () => {
  const story = await newStory(app)
  const told = async () =>
    (await app.owner`select operation from audit where tenant_id = ${story.tenantId} and operation like '%automation%' order by id`).map(
      ({ operation }) => operation.split('.').at(-1),
    )
  for (let times = 0; times < 5; times++) expect(await pause(story)).toEqual({ paused: true, in_flight: [] })
  expect(await told()).toEqual(['pauseAll'])
  await resume(story)
  await pause(story)
  expect(await told()).toEqual(['pauseAll', 'resumeAll', 'pauseAll'])
})
