/**
 * A team at work, over HTTP and on the command line: from the first words of an item to its post,
 * with a typo on the way.
 */
import { expect, test } from 'bun:test'
import { cli } from '#test/support/cli/host'
import { inMs, newStory } from '#test/support/growth/story'
import { joinAs } from '#test/support/people'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const TYPO = 'Every delay starts at teh dock'
const FIXED = 'Every delay starts at the dock'
const HOUR = 3_600_000

test('a team writes, comments, edits, approves, takes back for a typo, schedules, moves, finds, deletes, restores and duplicates', async () => {
  const story = await newStory(app)
  const { tenantId } = story
  const [ida, ben] = [
    await joinAs(app, { tenantId, role: 'editor' }),
    await joinAs(app, { tenantId, role: 'approver' }),
  ]
  const as = (key: string) => async (method: string, path: string, body?: object) => {
    const reply = await story.send(method, path, { key, ...(body ? { body } : {}) })
    return { status: reply.status, ...reply.body }
  }
  const [editor, approver] = [as(ida.access), as(ben.access)]
  /** On the command line, in the name of the workspace. */
  const run = async (...args: string[]) => {
    const { code, out, err } = await cli([...args, '--json'], {
      env: { TENDRIL_API_URL: app.url, TENDRIL_API_KEY: story.key },
    })
    return { code, err, ...(out ? JSON.parse(out) : {}) }
  }

  // The editor writes; the approver says what is missing, and the editor changes it. An editor
  // cannot approve.
  const { item } = await editor('POST', 'items', {
    body: 'Delays start at the dock',
    tags: ['delays'],
    note: 'For the dock week',
  })
  expect([item.status, item.tags]).toEqual(['drafted', ['delays']])
  expect(
    (await approver('POST', `items/${item.id}/comments`, { body: 'All of them?' })).comment
      .written_by.id,
  ).toBe(ben.personId)
  const edited = (await editor('PATCH', `items/${item.id}`, { body: TYPO, revision: 1 })).item
  expect([edited.status, edited.revision]).toEqual(['drafted', 2])
  expect((await editor('PATCH', `items/${item.id}`, { body: 'Mine', revision: 1 })).status).toBe(
    409,
  )
  expect(
    (await editor('POST', `items/${item.id}/approve`, { expect_hash: edited.content_hash })).status,
  ).toBe(403)

  // What is approved is what was seen, and by its mark.
  expect(
    (await approver('POST', `items/${item.id}/approve`, { expect_hash: item.content_hash })).status,
  ).toBe(409)
  const approved = (
    await approver('POST', `items/${item.id}/approve`, {
      expect_hash: edited.content_hash.slice(0, 8),
    })
  ).item
  expect(approved).toMatchObject({
    status: 'approved',
    decision: { what: 'approved', by: { id: ben.personId } },
  })

  // Somebody spots the typo: it is opened again, fixed and approved, on the command line.
  expect((await run('items', 'reopen', item.id)).item).toMatchObject({
    status: 'drafted',
    body: TYPO,
  })
  const fixed = (await run('items', 'edit', item.id, '--body', FIXED)).item
  expect(
    (await run('items', 'approve', item.id, '--expect-hash', fixed.content_hash)).item.status,
  ).toBe('approved')

  // A second one, and both are scheduled with one request; then one is moved.
  const other = (
    await editor('POST', 'items', { body: 'Ask the drivers first', tags: ['drivers'] })
  ).item
  await approver('POST', `items/${other.id}/approve`, { expect_hash: other.content_hash })
  const times = [inMs(5 * HOUR), inMs(6 * HOUR)]
  const { results } = await approver('POST', 'items/bulk', {
    action: 'schedule',
    items: [item, other].map(({ id }, index) => ({ id, post_at: times[index] })),
  })
  expect(
    results.map((one: { error: unknown; item: { post_at: string } }) => [
      one.error,
      one.item.post_at,
    ]),
  ).toEqual(times.map((at) => [null, at]))
  const moved = inMs(8 * HOUR)
  expect((await run('items', 'schedule', other.id, '--post-at', moved)).item.post_at).toBe(moved)

  // Both are found: by their words, their tag and their state.
  const found = async (query: string) =>
    (await editor('GET', `items?${query}`)).items.map(({ id }: { id: string }) => id)
  expect(await found('q=drivers')).toEqual([other.id])
  expect(await found('tag=delays&status=scheduled')).toEqual([item.id])
  expect(await found('status=scheduled&sort=post_at')).toEqual([item.id, other.id])

  // One is deleted and comes back as a draft; a copy of it is a draft, too.
  expect((await editor('DELETE', `items/${other.id}`)).status).toBe(200)
  expect([(await editor('GET', `items/${other.id}`)).status, await found('q=drivers')]).toEqual([
    404,
    [],
  ])
  expect((await run('items', 'restore', other.id)).item).toMatchObject({
    status: 'drafted',
    proposed_at: moved,
  })
  const copy = (await editor('POST', `items/${other.id}/duplicate`)).item
  expect(copy).toMatchObject({ status: 'drafted', resurfaced_from: other.id, body: other.body })

  // What goes out is the fixed text, once, and its whole way can be read.
  expect((await approver('POST', `items/${item.id}/post-now`)).item).toMatchObject({
    status: 'posted',
    body: FIXED,
  })
  expect(await story.posts()).toEqual({ [FIXED]: 1 })
  const versions = (await editor('GET', `items/${item.id}/revisions`)).revisions
  expect(versions.map(({ body }: { body: string }) => body)).toEqual([
    'Delays start at the dock',
    TYPO,
    FIXED,
  ])
  const seen = (await editor('GET', 'sandbox/timeline')).posts.filter(
    ({ own }: { own: boolean }) => own,
  )
  expect(seen.map(({ text }: { text: string }) => text)).toEqual([FIXED])
})
