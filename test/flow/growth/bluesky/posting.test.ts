/** Posts to Bluesky: each stands there once, whatever the server answers or fails to. */
import { describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { makeDue } from '#test/support/database/writes'
import { eventually } from '#test/support/eventually'
import { wake } from '#test/support/growth/returned'
import { textOf } from '#test/support/growth/story'
import { connectedPerson, openBlueskyApp } from '#test/support/network/bluesky-app'
import type { PdsFault } from '#test/support/network/pds-faults'
import { use } from '#test/support/use'

const times: SendTimes = {
  ...sendTimes,
  deadlineMs: 1_500,
  leaseMs: 3_000,
  marginMs: 200,
  settleMs: 20,
  windowMs: 200,
  backoffMs: [20, 20, 20, 20],
}

const opened = use(() => openBlueskyApp({ times, replyWithinMs: 20_000 }))

test('an approved post stands in the repository, with its links, and the item says where', async () => {
  const { story, person, posts } = await connectedPerson(opened)
  const text = 'Read https://example.com/a — déjà vu 👩‍👩‍👧 #tendril'
  const id = await story.approved(text)
  const { status, body } = await story.postNow(id)
  expect([status, body.item.status]).toEqual([200, 'posted'])
  const [record] = opened.pds.records(person.did, 'app.bsky.feed.post')
  expect(body.item).toMatchObject({
    external_id: record!.uri,
    url: `https://bsky.app/profile/${person.handle}/post/${record!.uri.split('/').at(-1)}`,
    account: person.did,
  })
  const facets = record!.value.facets as { index: { byteStart: number; byteEnd: number } }[]
  const bytes = Buffer.from(text)
  expect(
    facets.map(({ index }) => bytes.subarray(index.byteStart, index.byteEnd).toString()),
  ).toEqual(['https://example.com/a', '#tendril'])
  expect(posts()).toEqual({ [text]: 1 })
})

describe('an answer that proves nothing', () => {
  const PUT = 'com.atproto.repo.putRecord'

  test.each<[string, PdsFault, number]>([
    ['is lost after the post was made', 'lost', 1],
    ['never comes, and nothing was made', 'hang', 1],
    ['never comes, although the post was made', 'silent', 1],
    ['is a 502 although the post was made', { status: 502, isApplied: true }, 1],
    ['is a 503 three times, and nothing was made', { status: 503 }, 3],
    ['is a page', 'html', 1],
  ])('%s: the post stands there once', async (_, fault, times) => {
    const { story, posts } = await connectedPerson(opened)
    opened.pds.fail(PUT, fault, { times })
    const now = await story.approved()
    const { status, body } = await story.postNow(now)
    expect([status, body.item?.status]).toEqual([200, 'posted'])
    opened.pds.fail(PUT, fault, { times })
    const due = await story.scheduled(0)
    await story.settled(due, 'posted')
    expect(posts()).toEqual({ [textOf(now)]: 1, [textOf(due)]: 1 })
    expect(await story.events()).toEqual(['growth.item.posted', 'growth.item.posted'])
  })

  test('a server that is away while the doubt is open decides nothing', async () => {
    const { story, posts } = await connectedPerson(opened)
    opened.pds.fail(PUT, 'lost')
    opened.pds.fail('com.atproto.repo.getRecord', { status: 502 }, { times: 3 })
    const id = await story.scheduled(0)
    await story.settled(id, 'posted')
    expect(posts()).toEqual({ [textOf(id)]: 1 })
    expect(await story.attempts(id)).toEqual(['posted'])
  })

  test('a second send under the same key is not taken for a second post', async () => {
    const { story, posts } = await connectedPerson(opened)
    opened.pds.fail(PUT, { status: 503 }, { times: 1 })
    const id = await story.approved()
    const { status } = await story.postNow(id)
    expect(status).toBe(200)
    expect(posts()).toEqual({ [textOf(id)]: 1 })
    expect(await story.attempts(id)).toEqual(['returned', 'posted'])
    // The watch over the first try finds the post of the second one, which is its own.
    await makeDue(opened.app, id, { kind: 'reconcile' })
    await wake(story)
    const failures = async () =>
      (await opened.app.owner`select failures from work where ref_id = ${id}`)[0]?.failures
    expect(await eventually(failures, (failed) => failed !== 0)).toBeUndefined()
    expect(await story.item(id)).toMatchObject({ status: 'posted', last_error: null })
    expect(await story.events()).toEqual(['growth.item.posted'])
  })
})

test('a limit of the network is waited for, and a refusal is told with the reason', async () => {
  const { story, posts } = await connectedPerson(opened)
  opened.pds.fail('com.atproto.repo.putRecord', { limitedSeconds: 1 })
  const id = await story.scheduled(0)
  await story.settled(id, 'posted')
  expect(posts()).toEqual({ [textOf(id)]: 1 })
  opened.pds.fail('com.atproto.repo.putRecord', {
    status: 400,
    error: 'InvalidRequest',
    message: 'no such word is allowed',
  })
  const refused = await story.postNow(await story.approved())
  expect([refused.status, refused.body.error?.message]).toEqual([
    502,
    expect.stringContaining('no such word is allowed'),
  ])
})

test('a text that is too long for Bluesky is refused before it is approved', async () => {
  const { story } = await connectedPerson(opened)
  const id = await story.drafted()
  const { status, body } = await story.send('POST', `items/${id}/approve`, {
    body: { edited_body: '🧵'.repeat(301) },
  })
  expect(status).toBe(400)
  expect(body.error?.message).toContain('300')
})
