/** Items that people write and change themselves, over HTTP. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { MOST_DRAFTS } from '#domain/growth/drafting/item-edits'
import { newId } from '#kernel/ids'
import { connectAccount } from '#ops/operator/admin/workspaces'
import type { Reply } from '#test/support/app'
import { newWorkspace, type Workspace } from '#test/support/contract/prepare'
import { insertItem, insertItems, setItem, setPlan, setUsed } from '#test/support/database/writes'
import { inMs } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

const app = useApp()
const TEXT = 'Call before they do. Every delay starts at the dock.'

let workspace: Workspace
beforeEach(async () => {
  workspace = await newWorkspace(app)
})

const send = (method: string, path: string, body?: unknown, key = workspace.key) =>
  app.send(method, path, { key, ...(body === undefined ? {} : { body }) })
const write = async (fields: object = {}) => (await send('POST', 'items', { body: TEXT, ...fields })).body.item
const edit = (id: string, change: object) => send('PATCH', `items/${id}`, change)
const read = async (id: string) => (await send('GET', `items/${id}`)).body.item
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const refusal = ({ status, body }: Reply<any>) => [status, body.error?.code, body.error?.message, body.error?.details?.[0]?.path]
const connected = async () => {
  const account = await app.workplace.sandbox.connect(workspace.tenantId, `w-${newId()}`)
  await connectAccount(app.workplace.world, workspace.tenantId, { network: 'sandbox', ...account })
  const { connections } = (await send('GET', 'connections?limit=1')).body
  return { ...account, id: connections[0].id as string, handle: connections[0].handle as string }
}
const eventsAbout = async (id: string): Promise<string[]> =>
  (
    await app.owner<
      { type: string }[]
    >`select type from outbox where tenant_id = ${workspace.tenantId} and data->>'item_id' = ${id} order by id`
  ).map(({ type }) => type)
const sendsOf = async (id: string): Promise<number> => (await app.owner`select 1 from work where ref_id = ${id} and kind = 'send'`).length

describe('a workspace full of drafts', () => {
  test('takes no other until one of them has gone', async () => {
    const other = await write()
    await insertItems(app, workspace.tenantId, { count: MOST_DRAFTS - 2, body: 'One of many' })
    const last = await send('POST', `items/${other.id}/duplicate`)
    expect(last.status).toBe(201)
    const full = [
      ...[409, 'conflict', 'cannot add: the workspace has 10000 drafts, the most that it can; approve, reject or delete some first'],
      'next',
    ]
    expect(refusal(await send('POST', 'items', { body: TEXT }))).toEqual(full)
    expect(refusal(await send('POST', `items/${other.id}/duplicate`))).toEqual(full)
    expect((await send('POST', `items/${last.body.item.id}/reject`)).status).toBe(200)
    expect((await send('POST', 'items', { body: TEXT })).status).toBe(201)
  })
})

describe('a person’s own item', () => {
  test('is drafted, says who wrote it, and asks for approval', async () => {
    const reply = await send('POST', 'items', { body: TEXT, tags: [' Launch ', 'launch', 'price'], note: 'Ask Ida first' })
    expect(reply.status).toBe(201)
    const { item } = reply.body
    expect(item).toMatchObject({
      ...{ kind: 'post', status: 'drafted', body: TEXT, title: null, batch_id: null, tags: ['Launch', 'price'], note: 'Ask Ida first' },
      ...{ revision: 1, original_body: null, length: TEXT.length, resurfaced_from: null, proposed_at: null, decision: null },
      content_hash: createHash('sha256').update(TEXT).digest('hex'),
      posting_account: { network: 'sandbox' },
    })
    expect(await read(item.id)).toMatchObject({ ...item, warnings: expect.any(Array) })
    expect(await eventsAbout(item.id)).toEqual(['growth.approval.requested'])
    const { revisions, next_cursor } = (await send('GET', `items/${item.id}/revisions`)).body
    expect(revisions).toEqual([
      {
        number: 1,
        title: null,
        body: TEXT,
        written_by: { kind: 'key', id: expect.any(String), name: expect.any(String) },
        written_at: item.created_at,
      },
    ])
    expect(next_cursor).toBeNull()
  })

  test('is an article by its kind or its channel, and its title is its first line', async () => {
    expect(await write({ kind: 'article', title: 'Late again' })).toMatchObject({
      ...{ kind: 'article', title: 'Late again', body: `Late again\n\n${TEXT}`, format: 'article', hook: 'article' },
    })
    expect(await write({ channel: 'articles', body: 'Late again\n\nA text.' })).toMatchObject({ kind: 'article', title: 'Late again' })
    expect(refusal(await send('POST', 'items', { body: TEXT, kind: 'post', channel: 'articles' }))).toEqual([
      ...[400, 'invalid_input', 'channel is articles, but the kind is post', 'channel'],
    ])
    expect(refusal(await send('POST', 'items', { body: TEXT, title: 'No' }))[3]).toBe('title')
  })

  test.each([
    ['Nobody called.\r\nSo we did.\r', 'Nobody called.\nSo we did.\n'],
    ['One\u2028two\u0085three\ttabbed', 'One\ntwo\nthree\ttabbed'],
  ])('has newlines as its only line ends: %j', async (body, kept) => {
    expect((await write({ body })).body).toBe(kept)
  })

  test.each([
    ['body', { body: 'A bell\u0007 rings' }, 'body contains U+0007, a control character; of those, only tabs and line breaks are allowed'],
    ['note', { note: 'Red\u001b[31m' }, 'note contains U+001B, a control character; of those, only tabs and line breaks are allowed'],
    [
      'title',
      { kind: 'article', title: 'A\u0008b' },
      'title contains U+0008, a control character; of those, only tabs and line breaks are allowed',
    ],
    ['account', { account: newId() }, 'account is no connected account'],
  ])('with a fault in %s is refused, and the fault is named', async (path, fields, message) => {
    expect(refusal(await send('POST', 'items', { body: TEXT, ...fields }))).toEqual([400, 'invalid_input', message, path])
  })

  test('takes no quota, and counts against its hourly cap', async () => {
    const other = await newWorkspace(app)
    await setUsed(app, other.tenantId, { key: 'posts', used: 999_999, period: new Date().toISOString().slice(0, 7) })
    expect((await send('POST', 'items', { body: TEXT }, other.key)).status).toBe(201)
    await setPlan(app, other.tenantId, { overrides: { create_item: 1 } })
    expect(refusal(await send('POST', 'items', { body: TEXT }, other.key)).slice(0, 3)).toEqual([
      429,
      'rate_limited',
      'rate_limited:create_item',
    ])
  })

  test('waits until its channel is active', async () => {
    const other = await newWorkspace(app)
    const { channels } = (await send('GET', 'overview', undefined, other.key)).body.overview
    const { id } = channels.find(({ name }: { name: string }) => name === 'posts')
    await send('PUT', `channels/${id}`, { status: 'inactive' }, other.key)
    expect(refusal(await send('POST', 'items', { body: TEXT }, other.key)).slice(0, 2)).toEqual([409, 'conflict'])
    expect((await send('POST', 'items', { body: TEXT, kind: 'article' }, other.key)).status).toBe(201)
  })

  test('goes out from the account that was chosen for it, not from the default one', async () => {
    const chosen = await connected()
    const { id, posting_account } = await write({ account: chosen.id })
    expect(posting_account).toEqual({ id: chosen.id, handle: chosen.handle, network: 'sandbox' })
    const approved = await send('POST', `items/${id}/approve`)
    expect(approved.body.item).toMatchObject({ status: 'approved', account: chosen.externalId, posting_account: { id: chosen.id } })
    const posted = await send('POST', `items/${id}/post-now`)
    expect(posted.body.item.status).toBe('posted')
    const [post] = await app.owner`select account_id from sandbox.posts where id = ${posted.body.item.external_id}`
    expect(post!.account_id).toBe(chosen.externalId)
  })

  test('whose chosen account is disconnected is not approved for another one', async () => {
    const chosen = await connected()
    const { id } = await write({ account: chosen.id })
    await app.owner`update connection set status = 'disconnected', is_default = false where id = ${chosen.id}`
    expect(refusal(await send('POST', `items/${id}/approve`)).slice(0, 3)).toEqual([
      ...[409, 'conflict', `cannot approve: the account chosen for it, @${chosen.handle}, is disconnected; choose another one`],
    ])
    expect((await edit(id, { account: null })).body.item.posting_account.id).not.toBe(chosen.id)
    expect((await send('POST', `items/${id}/approve`)).status).toBe(200)
  })
})

describe('a change', () => {
  test('of the text of a draft makes a new revision, and keeps the first text', async () => {
    const id = await insertItem(app, workspace.tenantId, { body: 'The machine wrote it.' })
    const { item } = (await edit(id, { body: 'A person wrote it.' })).body
    expect(item).toMatchObject({
      body: 'A person wrote it.',
      revision: 2,
      original_body: 'The machine wrote it.',
      length: 18,
      decision: null,
    })
    const again = (await edit(id, { body: 'A person wrote it twice.' })).body.item
    expect(again).toMatchObject({ revision: 3, original_body: 'The machine wrote it.' })
    expect(await read(id)).toMatchObject(again)
    const { revisions } = (await send('GET', `items/${id}/revisions`)).body
    expect(
      revisions.map(({ number, body, written_by }: { number: number; body: string; written_by: object | null }) => [
        number,
        body,
        written_by,
      ]),
    ).toEqual([
      [1, 'The machine wrote it.', null],
      [2, 'A person wrote it.', { kind: 'key', id: expect.any(String), name: expect.any(String) }],
      [3, 'A person wrote it twice.', { kind: 'key', id: expect.any(String), name: expect.any(String) }],
    ])
  })

  test('of the text withdraws an approval', async () => {
    const { id } = await write()
    await send('POST', `items/${id}/approve`)
    const { item } = (await edit(id, { body: 'Another text.' })).body
    expect(item).toMatchObject({ status: 'drafted', account: null, proposed_at: null, decision: { what: 'reopened', by: { kind: 'key' } } })
    expect((await send('POST', `items/${id}/post-now`)).status).toBe(409)
  })

  test('of the text takes an item off the schedule, whose time it keeps as a proposal', async () => {
    const { id } = await write()
    await send('POST', `items/${id}/approve`)
    const post_at = inMs(3_600_000)
    await send('POST', `items/${id}/schedule`, { post_at })
    expect(await sendsOf(id)).toBe(1)
    const { item } = (await edit(id, { body: 'Another text.' })).body
    expect(item).toMatchObject({ status: 'drafted', post_at: null, on_missed: null, proposed_at: post_at })
    expect(await sendsOf(id)).toBe(0)
    expect((await send('POST', `items/${id}/approve`)).body.item).toMatchObject({ status: 'approved', post_at: null, proposed_at: post_at })
  })

  test('of the account withdraws an approval, and leaves the text its revision', async () => {
    const chosen = await connected()
    const { id } = await write()
    await send('POST', `items/${id}/approve`)
    expect((await edit(id, { account: chosen.id })).body.item).toMatchObject({
      ...{ status: 'drafted', revision: 1, posting_account: { id: chosen.id } },
    })
  })

  test('of tags and note leaves an approval and a schedule as they are', async () => {
    const { id } = await write()
    await send('POST', `items/${id}/approve`)
    const post_at = inMs(3_600_000)
    await send('POST', `items/${id}/schedule`, { post_at })
    expect((await edit(id, { tags: ['launch'], note: 'Seen by Ida' })).body.item).toMatchObject({
      ...{ status: 'approved', post_at, tags: ['launch'], note: 'Seen by Ida', revision: 1 },
    })
    expect((await edit(id, { note: null, tags: [] })).body.item).toMatchObject({ note: null, tags: [], status: 'approved' })
    expect(await sendsOf(id)).toBe(1)
  })

  test('to what it is already changes nothing', async () => {
    const { id } = await write()
    const { item } = (await send('POST', `items/${id}/approve`)).body
    expect((await edit(id, { body: TEXT, tags: [] })).body.item).toEqual(item)
  })

  test('of the title of an article replaces its first line, in the list of articles too', async () => {
    const { id } = await write({ kind: 'article', title: 'Late again' })
    expect((await edit(id, { title: 'On time' })).body.item).toMatchObject({ title: 'On time', body: `On time\n\n${TEXT}`, revision: 2 })
    expect((await edit(id, { body: 'Never late\n\nA text.' })).body.item.title).toBe('Never late')
  })

  test('that begins from an older revision is refused with the present one', async () => {
    const { id } = await write()
    expect((await edit(id, { body: 'First editor.', revision: 1 })).status).toBe(200)
    const late = await edit(id, { body: 'Second editor.', revision: 1 })
    expect([late.status, late.body.error]).toMatchObject([
      409,
      {
        code: 'conflict',
        details: [
          { path: 'revision', message: 'the present revision is 2' },
          { path: 'next', message: `growth.items.get ${id}` },
        ],
      },
    ])
    expect((await edit(id, { tags: ['late'], revision: 1 })).status).toBe(409)
    expect((await read(id)).body).toBe('First editor.')
  })

  test.each([
    ['posted', 'cannot edit: the item is posted; duplicate it for a new draft'],
    ['rejected', 'cannot edit: the item is rejected; reopen it first'],
    ['publish_failed', 'cannot edit: the item is publish_failed; reopen it first'],
    [
      'publish_unconfirmed',
      'cannot edit: the item is publish_unconfirmed and may already be on the network; check there, and mark it posted, or confirm post_again, or duplicate it',
    ],
  ])('of the text of an item that is %s is refused, with what can be done', async (status, message) => {
    const id = await insertItem(app, workspace.tenantId)
    await setItem(app, id, { status, ...(status === 'posted' ? { posted_at: new Date() } : {}) })
    expect(refusal(await edit(id, { body: 'Another text.' })).slice(0, 3)).toEqual([409, 'conflict', message])
    expect((await edit(id, { tags: ['kept'] })).status).toBe(status === 'publish_unconfirmed' ? 409 : 200)
  })
})

describe('warnings', () => {
  const codes = ({ warnings }: { warnings: { code: string; item_id: string | null }[] }) =>
    warnings.map(({ code, item_id }) => [code, item_id])

  test('come with the answer to whoever writes or changes a text', async () => {
    const text = 'Nobody has ever read the second page of our price list, and nobody has missed it so far.'
    const first = await write({ body: text })
    expect(codes(first)).toEqual([])
    await send('POST', `items/${first.id}/approve`)
    const again = await write({ body: `${text} Yet.` })
    expect(codes(again)).toEqual([['repeats_item', first.id]])
    expect(codes((await edit(again.id, { body: 'Something else altogether, about the weather in May.' })).body.item)).toEqual([])
    expect(codes((await edit(again.id, { body: text })).body.item)).toEqual([['repeats_item', first.id]])
  })
})
