/** Items that people write themselves, and copies, over HTTP. */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { MOST_DRAFTS } from '#domain/growth/drafting/item-edits'
import { newId } from '#kernel/ids'
import { insertItem, insertItems, setUsed } from '#test/support/database/writes'
import { OWN_TEXT, refusal, useOwnItems } from '#test/support/growth/own-items'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
const CONTROL = 'a control character; of those, only tabs and line breaks are allowed'
const { connected, edit, read, send, tenantId, write } = useOwnItems(app)
const eventsAbout = async (id: string): Promise<string[]> =>
  (
    await app.owner<
      { type: string }[]
    >`select type from outbox where tenant_id = ${tenantId()} and data->>'item_id' = ${id}
      order by id`
  ).map(({ type }) => type)

describe('a workspace full of drafts', () => {
  test('takes no other until one of them has gone', async () => {
    const other = await write()
    await insertItems(app, tenantId(), { count: MOST_DRAFTS - 2, body: 'One of many' })
    const last = await send('POST', `items/${other.id}/duplicate`)
    expect(last.status).toBe(201)
    const full = [
      ...[
        409,
        'conflict',
        'cannot add: the workspace has 10000 drafts, the most that it can; approve, reject or delete some first',
      ],
      'next',
    ]
    expect(refusal(await send('POST', 'items', { body: OWN_TEXT }))).toEqual(full)
    expect(refusal(await send('POST', `items/${other.id}/duplicate`))).toEqual(full)
    expect((await send('POST', `items/${last.body.item.id}/reject`)).status).toBe(200)
    expect((await send('POST', 'items', { body: OWN_TEXT })).status).toBe(201)
  })
})

describe('a person’s own item', () => {
  test('is drafted, says who wrote it, and asks for approval', async () => {
    const reply = await send('POST', 'items', {
      body: OWN_TEXT,
      tags: [' Launch ', 'launch', 'price'],
      note: 'Ask Ida first',
    })
    expect(reply.status).toBe(201)
    const { item } = reply.body
    expect(item).toMatchObject({
      kind: 'post',
      status: 'drafted',
      body: OWN_TEXT,
      title: null,
      batch_id: null,
      tags: ['Launch', 'price'],
      note: 'Ask Ida first',
      revision: 1,
      original_body: null,
      length: OWN_TEXT.length,
      resurfaced_from: null,
      proposed_at: null,
      decision: null,
      content_hash: createHash('sha256').update(OWN_TEXT).digest('hex'),
      posting_account: { network: 'sandbox' },
    })
    expect(await read(item.id)).toMatchObject({ ...item, warnings: expect.any(Array) })
    expect(await eventsAbout(item.id)).toEqual(['growth.approval.requested'])
    const { revisions, next_cursor } = (await send('GET', `items/${item.id}/revisions`)).body
    expect(revisions).toEqual([
      {
        number: 1,
        title: null,
        body: OWN_TEXT,
        written_at: item.created_at,
        written_by: { kind: 'key', id: expect.any(String), name: expect.any(String) },
      },
    ])
    expect(next_cursor).toBeNull()
  })

  test('is an article by its kind or its channel, and its title is its first line', async () => {
    expect(await write({ kind: 'article', title: 'Late again' })).toMatchObject({
      kind: 'article',
      title: 'Late again',
      body: `Late again\n\n${OWN_TEXT}`,
      format: 'article',
      hook: 'article',
    })
    expect(await write({ channel: 'articles', body: 'Late again\n\nA text.' })).toMatchObject({
      kind: 'article',
      title: 'Late again',
    })
    expect(
      refusal(await send('POST', 'items', { body: OWN_TEXT, kind: 'post', channel: 'articles' })),
    ).toEqual([...[400, 'invalid_input', 'channel is articles, but the kind is post', 'channel']])
    expect(refusal(await send('POST', 'items', { body: OWN_TEXT, title: 'No' }))[3]).toBe('title')
  })

  test.each([
    ['Nobody called.\r\nSo we did.\r', 'Nobody called.\nSo we did.\n'],
    ['One\u2028two\u0085three\ttabbed', 'One\ntwo\nthree\ttabbed'],
  ])('has newlines as its only line ends: %j', async (body, kept) => {
    expect((await write({ body })).body).toBe(kept)
  })

  test.each([
    ['body', { body: 'A bell\u0007 rings' }, `body contains U+0007, ${CONTROL}`],
    ['note', { note: 'Red\u001b[31m' }, `note contains U+001B, ${CONTROL}`],
    ['title', { kind: 'article', title: 'A\u0008b' }, `title contains U+0008, ${CONTROL}`],
    ['account', { account: newId() }, 'account is no connected account'],
  ])('with a fault in %s is refused, and the fault is named', async (path, fields, message) => {
    expect(refusal(await send('POST', 'items', { body: OWN_TEXT, ...fields }))).toEqual([
      400,
      'invalid_input',
      message,
      path,
    ])
  })

  test('takes no quota', async () => {
    await setUsed(app, tenantId(), {
      key: 'posts',
      used: 999_999,
      period: new Date().toISOString().slice(0, 7),
    })
    expect((await send('POST', 'items', { body: OWN_TEXT })).status).toBe(201)
  })

  test('waits until its channel is active', async () => {
    const { channels } = (await send('GET', 'overview')).body.overview
    const { id } = channels.find(({ name }: { name: string }) => name === 'posts')
    await send('PUT', `channels/${id}`, { status: 'inactive' })
    expect(refusal(await send('POST', 'items', { body: OWN_TEXT })).slice(0, 2)).toEqual([
      409,
      'conflict',
    ])
    expect((await send('POST', 'items', { body: OWN_TEXT, kind: 'article' })).status).toBe(201)
  })

  test('goes out from the account that was chosen for it, not from the default one', async () => {
    const chosen = await connected()
    const { id, posting_account } = await write({ account: chosen.id })
    expect(posting_account).toEqual({ id: chosen.id, handle: chosen.handle, network: 'sandbox' })
    const approved = await send('POST', `items/${id}/approve`)
    expect(approved.body.item).toMatchObject({
      status: 'approved',
      account: chosen.externalId,
      posting_account: { id: chosen.id },
    })
    const posted = await send('POST', `items/${id}/post-now`)
    expect(posted.body.item.status).toBe('posted')
    const [post] = await app.owner`select account_id from sandbox.posts
        where id = ${posted.body.item.external_id}`
    expect(post!.account_id).toBe(chosen.externalId)
  })

  test('whose chosen account is disconnected is not approved for another one', async () => {
    const chosen = await connected()
    const { id } = await write({ account: chosen.id })
    await app.owner`update connection set status = 'disconnected', is_default = false
      where id = ${chosen.id}`
    expect(refusal(await send('POST', `items/${id}/approve`)).slice(0, 3)).toEqual([
      ...[
        409,
        'conflict',
        `cannot approve: the account chosen for it, @${chosen.handle}, is disconnected; choose another one`,
      ],
    ])
    expect((await edit(id, { account: null })).body.item.posting_account.id).not.toBe(chosen.id)
    expect((await send('POST', `items/${id}/approve`)).status).toBe(200)
  })
})

describe('a duplicate', () => {
  test('is a new draft of the text in any state', async () => {
    const id = await insertItem(app, tenantId(), {
      body: OWN_TEXT,
      status: 'publish_unconfirmed',
    })
    await app.owner`update item set tags = '{launch}' where id = ${id}`
    const reply = await send('POST', `items/${id}/duplicate`)
    expect(reply.status).toBe(201)
    const { item } = reply.body
    expect(item).toMatchObject({
      body: OWN_TEXT,
      status: 'drafted',
      resurfaced_from: id,
      tags: ['launch'],
      batch_id: null,
      revision: 1,
    })
    expect(item.id).not.toBe(id)
    expect(await read(item.id)).toMatchObject({ ...item, warnings: expect.any(Array) })
    expect((await read(id)).status).toBe('publish_unconfirmed')
  })

  test('keeps title and account', async () => {
    const chosen = await connected()
    const { id } = await write({ kind: 'article', title: 'Late again', account: chosen.id })
    expect((await send('POST', `items/${id}/duplicate`)).body.item).toMatchObject({
      kind: 'article',
      title: 'Late again',
      posting_account: { id: chosen.id },
    })
  })
})
