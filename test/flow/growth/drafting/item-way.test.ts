/** One item over HTTP, with all that happened to it. */
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { newStory, textOf } from '#test/support/growth/story'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()

const markOf = (text: string): string => createHash('sha256').update(text).digest('hex')

test('an item tells who wrote and decided what, and how it was posted', async () => {
  const story = await newStory(app)
  const { key, personId } = await signedIn(app, story.tenantId, 'approver')
  const id = await story.drafted()
  const body = 'We found it at the dock.'
  const approved = await app.send('POST', `items/${id}/approve`, { key, body: { edited_body: body } })
  expect(approved.status).toBe(200)
  expect((await story.send('POST', `items/${id}/post-now`)).status).toBe(200)
  const { item } = (await app.send('GET', `items/${id}`, { key })).body
  const person = { kind: 'person', id: personId, name: 'Test' }
  const at = expect.any(String)
  expect(item.versions).toEqual([
    { number: 2, by: person, at, content_hash: markOf(body) },
    { number: 1, by: null, at: item.created_at, content_hash: markOf(textOf(id)) },
  ])
  expect(item.decisions).toEqual([
    { operation: 'growth.items.postNow', by: { kind: 'key', id: at, name: at }, at, surface: 'rest' },
    { operation: 'growth.items.approve', by: person, at, surface: 'rest' },
  ])
  // A key sees who it was by the id alone, as it may not list the members either.
  const shown = (await story.send('GET', `items/${id}`)).body.item
  const unnamed = { ...person, name: null }
  expect([shown.versions[0].by, shown.decisions[1].by, shown.decisions[0].by]).toEqual([unnamed, unnamed, item.decisions[0].by])
  const owner = (await signedIn(app, story.tenantId, 'owner')).key
  await story.drafted().then((other) => story.send('POST', `items/${other}/approve`))
  const { entries } = (await app.send('GET', `/api/v1/app/audit?record=${id}`, { key: owner })).body
  const deeds = (entries as { operation: string; ref_id: string }[]).map(({ operation, ref_id }) => [operation, ref_id])
  expect(deeds.filter(([operation]) => operation!.startsWith('growth.items.'))).toEqual([
    ['growth.items.posted', id],
    ['growth.items.postNow', id],
    ['growth.items.approve', id],
  ])
  expect(deeds.map(([, ref]) => ref)).toEqual(deeds.map(() => id))
  expect(item.attempts).toEqual([
    {
      ...{ number: 1, outcome: 'posted', origin: 'manual', account: item.posting_account, content_hash: markOf(body) },
      ...{ began_at: at, ended_at: at, error: null, external_id: item.external_id, in_doubt_since: null, cause: null },
      ...{ reads: [], next_read_at: null },
    },
  ])
})

test('an item that nobody has touched has one version, and nothing else', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  const { item } = (await story.send('GET', `items/${id}`)).body
  expect([item.versions.length, item.decisions, item.attempts]).toEqual([1, [], []])
})
