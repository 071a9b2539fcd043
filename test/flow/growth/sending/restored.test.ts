/** A deployment that was copied: what was approved before waits for a person, and goes out once. */
import { afterEach, describe, expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { testApp } from '#test/support/app'
import { insertSandboxPost, makeItemDue } from '#test/support/database/writes'
import { act, answersTo, approvedEngagement, engagementOf } from '#test/support/growth/engagements'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { unreliable } from '#test/support/growth/unreliable'
import { adoptNow, holdNow } from '#test/support/held'
import { use } from '#test/support/use'

const times = { ...sendTimes, settleMs: 100, windowMs: 60_000 }
const app = use(() => testApp({ overrides: { times } }))
afterEach(async () => {
  if (app.workplace.runtime.hold.since) await adoptNow(app)
})

const decide = (story: Story, id: string, verb: string, body: object = {}) =>
  story.send('POST', `items/${id}/${verb}`, { body })

const waiting = async (story: Story): Promise<string[]> => {
  const { entries } = (await story.send('GET', '/api/v1/inbox?kind=restored')).body
  return entries.map(({ id }: { id: string }) => id)
}

const marked = async (story: Story): Promise<string[]> =>
  (await story.send('GET', 'items?restored=true')).body.items.map(({ id }: { id: string }) => id)

const hour = 3_600_000

test('while held, nothing goes out unattended, and people are told why', async () => {
  const story = await newStory(app)
  const [due, later] = [await story.scheduled(hour), await story.scheduled(2 * hour)]
  await holdNow(app, { asOf: new Date() })
  const { automation } = (await story.send('GET', 'automation')).body
  expect(automation).toMatchObject({ paused: false, held: { cause: 'copied' } })
  expect((await app.send('GET', '/ready')).body).toMatchObject({ status: 'ready', held: true })
  expect((await app.send('GET', '/ready?held=fail')).status).toBe(503)
  await makeItemDue(app, due)
  // What a person asks for anew runs, so the lanes have looked at all that is due.
  const own = await story.approved()
  expect((await story.postNow(own)).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(own)]: 1 })
  expect(await waiting(story)).toEqual([due, later])
  expect(await marked(story)).toEqual([later, due])
})

test('after the hold, what nobody has decided on goes back to approved when it is due', async () => {
  const story = await newStory(app)
  const [undecided, kept] = [await story.scheduled(hour), await story.scheduled(hour)]
  await holdNow(app)
  const { post_at } = await story.item(kept)
  expect((await decide(story, kept, 'schedule', { post_at })).body.item).toMatchObject({
    post_at,
    restored_as_of: null,
  })
  for (const id of [undecided, kept]) await makeItemDue(app, id)
  expect(await adoptNow(app)).toMatchObject({ adopted: true })
  await story.settled(kept, 'posted')
  expect(await story.item(undecided)).toMatchObject({
    status: 'approved',
    post_at: null,
    last_error: 'restored',
    restored_as_of: expect.any(String),
  })
  expect(await story.posts()).toEqual({ [textOf(kept)]: 1 })
  expect(await story.events()).toContain('growth.item.returned restored')
  expect(await waiting(story)).toEqual([undecided])
})

test('what the original has sent is found before anything is sent again', async () => {
  const story = await newStory(app)
  const [now, kept, edited] = [
    await story.approved(),
    await story.scheduled(hour),
    await story.scheduled(hour),
  ]
  await holdNow(app, { asOf: new Date() })
  for (const id of [now, kept, edited]) await insertSandboxPost(app, story.account, textOf(id))
  expect((await story.postNow(now)).body.item).toMatchObject({ status: 'posted' })
  const { post_at } = await story.item(kept)
  await decide(story, kept, 'schedule', { post_at })
  // A draft again, it keeps the try that may have been made of it.
  await decide(story, edited, 'reopen')
  await decide(story, edited, 'approve', {})
  await makeItemDue(app, kept)
  await adoptNow(app)
  await story.settled(kept, 'posted')
  expect((await story.postNow(edited)).body.item).toMatchObject({ status: 'posted' })
  expect(await story.posts()).toEqual({ [textOf(now)]: 1, [textOf(kept)]: 1, [textOf(edited)]: 1 })
})

test('items are settled singly and together, and only by people', async () => {
  const story = await newStory(app)
  const ids = await Promise.all([1, 2, 3, 4].map(() => story.approved()))
  await holdNow(app)
  const bulk = async (action: string, ...of: string[]) =>
    (
      await story.send('POST', 'items/bulk', { body: { action, items: of.map((id) => ({ id })) } })
    ).body.results.map(
      ({ item, error }: { item: object | null; error: object | null }) => item ?? error,
    )
  const [first, second, third, fourth] = ids as [string, string, string, string]
  expect(await decide(story, first, 'posted')).toMatchObject({ status: 200 })
  expect(await bulk('mark_posted', second)).toMatchObject([
    { status: 'posted', restored_as_of: null },
  ])
  expect(await bulk('post', third, first)).toMatchObject([
    { status: 'publishing' },
    { code: 'conflict' },
  ])
  await story.settled(third, 'posted')
  // Nobody deletes what may be on the network.
  expect(await bulk('delete', fourth)).toMatchObject([{ reason: 'in_doubt' }])
  expect(await bulk('reopen', fourth)).toMatchObject([{ status: 'drafted', restored_as_of: null }])
  expect(await waiting(story)).toEqual([])
  expect(await story.posts()).toEqual({ [textOf(third)]: 1 })
})

test('taking one off the schedule says nothing about what became of it', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(hour)
  await holdNow(app)
  await decide(story, id, 'unschedule')
  expect(await story.item(id)).toMatchObject({ post_at: null })
  expect(await waiting(story)).toEqual([id])
})

test('engagements wait as posts do', async () => {
  const story = await newStory(app)
  const [sent, unsent, undecided] = [
    await approvedEngagement(app, story, { body: 'We call first.' }),
    await approvedEngagement(app, story, { body: 'Then we ship.' }),
    await approvedEngagement(app, story, { body: 'Nobody says.' }),
  ]
  await holdNow(app, { asOf: new Date() })
  await app.owner`insert into sandbox.posts (account_id, text, in_reply_to)
    values (${story.account}, 'We call first.', ${sent.post})`
  expect(await waiting(story)).toEqual([sent.id, unsent.id, undecided.id])
  for (const { id } of [sent, unsent])
    expect((await act(story, id, 'execute')).body.engagement).toMatchObject({ status: 'executed' })
  expect(await answersTo(app, sent.post)).toEqual(['We call first.'])
  expect(await answersTo(app, unsent.post)).toEqual(['Then we ship.'])
  await adoptNow(app)
  expect(await engagementOf(story, undecided.id)).toMatchObject({ status: 'approved' })
  expect(await waiting(story)).toEqual([undecided.id])
})

describe('with nothing marked before', () => {
  const app = use(() => testApp({ overrides: { times } }))

  test('a deployment that only moved has nothing to decide; an older mark stays', async () => {
    const story = await newStory(app)
    const id = await story.scheduled(hour)
    await holdNow(app)
    expect(await adoptNow(app, { moved: true })).toMatchObject({ waits_for_a_decision: 0 })
    expect(await marked(story)).toEqual([])
    await holdNow(app)
    await adoptNow(app)
    await holdNow(app)
    expect(await adoptNow(app, { moved: true })).toMatchObject({ waits_for_a_decision: 1 })
    expect(await marked(story)).toEqual([id])
  })

  test('adopting disturbs no post that is on its way at the time', async () => {
    const story = await newStory(app)
    const [asked, kept] = [await story.approved(), await story.scheduled(hour)]
    await holdNow(app)
    const [begun, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    unreliable(app).answers.set(textOf(asked), async (deliver) => {
      begun.resolve()
      await done.promise
      return await deliver()
    })
    const posting = story.postNow(asked)
    await begun.promise
    await makeItemDue(app, kept)
    expect(await adoptNow(app, { moved: true })).toMatchObject({ adopted: true })
    expect(await story.item(asked)).toMatchObject({ status: 'publishing', restored_as_of: null })
    done.resolve()
    expect((await posting).body.item).toMatchObject({ status: 'posted' })
    await story.settled(kept, 'posted')
    expect(await story.posts()).toEqual({ [textOf(asked)]: 1, [textOf(kept)]: 1 })
  })
})
