/** What a team says of an item, and what one item tells of all that happened to it, over HTTP. */
import { beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { MOST_COMMENTS } from '#domain/growth/drafting/comment'
import { newWorkspace, type Workspace } from '#test/support/contract/prepare'
import { insertItem } from '#test/support/database/writes'
import { newStory, textOf } from '#test/support/growth/story'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const markOf = (text: string): string => createHash('sha256').update(text).digest('hex')
let workspace: Workspace
beforeAll(async () => {
  workspace = await newWorkspace(app)
})

const send = (method: string, path: string, body?: unknown, key = workspace.key) =>
  app.send(method, `items/${path}`, { key, ...(body === undefined ? {} : { body }) })
const item = () => insertItem(app, workspace.tenantId)
const listed = async (id: string) => (await send('GET', `${id}/comments`)).body.comments
const person = async (role: 'editor' | 'approver' | 'viewer') => {
  const { personId, key } = await signedIn(app, workspace.tenantId, role)
  return { personId, token: key }
}

test('is listed newest first, with who said it and when', async () => {
  const id = await item()
  const ida = await person('editor')
  const first = await send('POST', `${id}/comments`, { body: 'Ask Ida first.\r\nShe knows.' })
  expect([first.status, first.body.comment]).toMatchObject([
    201,
    {
      item_id: id,
      kind: 'comment',
      body: 'Ask Ida first.\nShe knows.',
      written_by: { kind: 'key', name: expect.any(String) },
    },
  ])
  const second = await send('POST', `${id}/comments`, { body: 'I have.' }, ida.token)
  expect(second.body.comment.written_by).toMatchObject({ kind: 'person', id: ida.personId })
  expect((await send('GET', `${id}/comments`, undefined, ida.token)).body.comments).toEqual([
    second.body.comment,
    first.body.comment,
  ])
  // A key is shown no names of people.
  const byIda = {
    ...second.body.comment,
    written_by: { kind: 'person', id: ida.personId, name: null },
  }
  expect(await listed(id)).toEqual([byIda, first.body.comment])
  const page = (await send('GET', `${id}/comments?limit=1`)).body
  const rest = (await send('GET', `${id}/comments?limit=1&cursor=${page.next_cursor}`)).body
  expect([page.comments, rest.comments, rest.next_cursor]).toEqual([
    [byIda],
    [first.body.comment],
    null,
  ])
  const [audit] = await app.owner`select detail from audit where ref_id = ${id}
      and operation = 'growth.items.comment' order by id`
  expect(audit!.detail).toEqual({ comment_id: first.body.comment.id })
})

test('may be the reason of a rejection', async () => {
  const id = await item()
  await send('POST', `${id}/reject`, { reason: 'Too loud' })
  expect(await listed(id)).toMatchObject([
    { kind: 'rejection', body: 'Too loud', written_by: { kind: 'key' } },
  ])
})

test('that is the reason of a rejection is withdrawn as the item is opened again, and no other', async () => {
  const id = await item()
  await send('POST', `${id}/comments`, { body: 'Hm.' })
  // An earlier reason, as a server kept it that withdrew none.
  await app.owner`insert into comment (id, tenant_id, item_id, kind, body, written_by, created_at)
    values (gen_random_uuid(), ${workspace.tenantId}, ${id}, 'rejection', 'Too long',
      '{"kind": "system", "id": "test"}', now() - interval '1 day')`
  const rejected = await send('POST', `${id}/reject`, { reason: 'Too loud' })
  await send('POST', `${id}/comments`, { body: 'Why?' })
  const { item: opened } = (await send('POST', `${id}/reopen`)).body
  expect([rejected.body.item.comments, opened.comments, opened.reject_reason]).toEqual([3, 3, null])
  const left = () => listed(id).then((all) => all.map(({ body }: { body: string }) => body).sort())
  expect(await left()).toEqual(['Hm.', 'Too long', 'Why?'])
  await send('POST', `${id}/reject`, {})
  await send('POST', `${id}/reopen`)
  expect(await left()).toEqual(['Hm.', 'Too long', 'Why?'])
})

test.each([
  ['is blank', { body: ' \n ' }],
  ['holds a control character', { body: 'A bell\u0007' }],
])('that %s is refused, and the field is named', async (_, body) => {
  const refused = await send('POST', `${await item()}/comments`, body)
  expect([refused.status, refused.body.error?.details?.[0]?.path]).toEqual([400, 'body'])
})

test('are at most 500 on an item; a rejection is then kept without one', async () => {
  const id = await item()
  await app.owner`insert into comment (id, tenant_id, item_id, kind, body, written_by, created_at)
    select gen_random_uuid(), ${workspace.tenantId}, ${id}, 'comment', 'again',
      '{"kind": "system", "id": "test"}', now()
    from generate_series(1, ${MOST_COMMENTS})`
  const refused = await send('POST', `${id}/comments`, { body: 'One more' })
  expect([refused.status, refused.body.error?.message]).toEqual([
    409,
    'cannot comment: the item has 500 comments, the most that it can have; delete some',
  ])
  expect((await send('POST', `${id}/reject`, { reason: 'Too loud' })).body.item.reject_reason).toBe(
    'Too loud',
  )
})

test('are deleted by their author, by an approver or an owner, and not by another editor', async () => {
  const id = await item()
  const [ida, ole, eve] = [await person('editor'), await person('editor'), await person('approver')]
  const said = async () =>
    (await send('POST', `${id}/comments`, { body: 'Hm.' }, ida.token)).body.comment.id as string
  const remove = (comment: string, token: string) =>
    send('DELETE', `${id}/comments/${comment}`, undefined, token)
  const first = await said()
  const refused = await remove(first, ole.token)
  expect([refused.status, refused.body.error?.code]).toEqual([403, 'forbidden'])
  for (const token of [ida.token, eve.token, workspace.key]) {
    const comment = token === ida.token ? first : await said()
    const removed = (await remove(comment, token)).body.comment
    expect([removed.id, removed.written_by.name === null]).toEqual([
      comment,
      token === workspace.key,
    ])
    expect((await remove(comment, token)).status).toBe(404)
  }
  expect(await listed(id)).toEqual([])
})

test('belong to one item', async () => {
  const [id, other] = [await item(), await item()]
  const { comment } = (await send('POST', `${id}/comments`, { body: 'Here.' })).body
  expect((await send('DELETE', `${other}/comments/${comment.id}`)).status).toBe(404)
  expect(await listed(id)).toHaveLength(1)
})

test('an item tells who wrote and decided what, and how it was posted', async () => {
  const story = await newStory(app)
  const { key, personId } = await signedIn(app, story.tenantId, 'approver')
  const id = await story.drafted()
  const body = 'We found it at the dock.'
  const approved = await app.send('POST', `items/${id}/approve`, {
    key,
    body: { edited_body: body },
  })
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
    {
      operation: 'growth.items.postNow',
      by: { kind: 'key', id: at, name: at },
      allowed_by: null,
      at,
      surface: 'rest',
    },
    { operation: 'growth.items.approve', by: person, allowed_by: null, at, surface: 'rest' },
  ])
  // A key sees who it was by the id alone, as it may not list the members either.
  const shown = (await story.send('GET', `items/${id}`)).body.item
  const unnamed = { ...person, name: null }
  expect([shown.versions[0].by, shown.decisions[1].by, shown.decisions[0].by]).toEqual([
    unnamed,
    unnamed,
    item.decisions[0].by,
  ])
  const owner = (await signedIn(app, story.tenantId, 'owner')).key
  await story.drafted().then((other) => story.send('POST', `items/${other}/approve`))
  const { entries } = (await app.send('GET', `/api/v1/app/audit?record=${id}`, { key: owner })).body
  const deeds = (entries as { operation: string; ref_id: string }[]).map(
    ({ operation, ref_id }) => [operation, ref_id],
  )
  expect(deeds.filter(([operation]) => operation!.startsWith('growth.items.'))).toEqual([
    ['growth.items.posted', id],
    ['growth.items.postNow', id],
    ['growth.items.approve', id],
  ])
  expect(deeds.map(([, ref]) => ref)).toEqual(deeds.map(() => id))
  expect(item.attempts).toEqual([
    {
      number: 1,
      outcome: 'posted',
      origin: 'manual',
      account: item.posting_account,
      content_hash: markOf(body),
      began_at: at,
      ended_at: at,
      error: null,
      external_id: item.external_id,
      in_doubt_since: null,
      cause: null,
      reads: [],
      next_read_at: null,
    },
  ])
})

test('an item that nobody has touched has one version, and nothing else', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  const { item } = (await story.send('GET', `items/${id}`)).body
  expect([item.versions.length, item.decisions, item.attempts]).toEqual([1, [], []])
})
