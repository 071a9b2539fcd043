/** What people change of items, the texts that these have had, over HTTP. */

import { describe, expect, test } from 'bun:test'
import { MOST_REVISIONS } from '#domain/growth/drafting/revision'
import { insertItem, setItem } from '#test/support/database/writes'
import { OWN_TEXT, refusal, useOwnItems } from '#test/support/growth/own-items'
import { inMs } from '#test/support/growth/story'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
const { connected, edit, read, send, tenantId, write } = useOwnItems(app)
const sendsOf = async (id: string): Promise<number> =>
  (await app.owner`select 1 from work where ref_id = ${id} and kind = 'send'`).length

describe('a change', () => {
  test('of the text of a draft makes a new revision, and keeps the first text', async () => {
    const id = await insertItem(app, tenantId(), { body: 'The machine wrote it.' })
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
    const written_by = { kind: 'key', id: expect.any(String), name: expect.any(String) }
    expect(revisions).toMatchObject([
      { number: 1, body: 'The machine wrote it.', written_by: null },
      { number: 2, body: 'A person wrote it.', written_by },
      { number: 3, body: 'A person wrote it twice.', written_by },
    ])
  })

  test('of the text takes an item off the schedule, whose time it keeps as a proposal', async () => {
    const { id } = await write()
    await send('POST', `items/${id}/approve`)
    const post_at = inMs(3_600_000)
    await send('POST', `items/${id}/schedule`, { post_at })
    expect(await sendsOf(id)).toBe(1)
    const { item } = (await edit(id, { body: 'Another text.' })).body
    expect(item).toMatchObject({
      status: 'drafted',
      post_at: null,
      on_missed: null,
      proposed_at: post_at,
      account: null,
      decision: { what: 'reopened', by: { kind: 'key' } },
    })
    expect(await sendsOf(id)).toBe(0)
    expect((await send('POST', `items/${id}/approve`)).body.item).toMatchObject({
      status: 'approved',
      post_at: null,
      proposed_at: post_at,
    })
  })

  test('of the account withdraws an approval, and leaves the text its revision', async () => {
    const { id: chosen } = await connected()
    const { id } = await write()
    await send('POST', `items/${id}/approve`)
    expect((await edit(id, { account: chosen })).body.item).toMatchObject({
      status: 'drafted',
      revision: 1,
      posting_account: { id: chosen },
    })
  })

  test('of tags and note leaves an approval and a schedule as they are', async () => {
    const { id } = await write()
    await send('POST', `items/${id}/approve`)
    const post_at = inMs(3_600_000)
    await send('POST', `items/${id}/schedule`, { post_at })
    expect((await edit(id, { tags: ['launch'], note: 'Seen by Ida' })).body.item).toMatchObject({
      status: 'approved',
      post_at,
      tags: ['launch'],
      note: 'Seen by Ida',
      revision: 1,
    })
    expect((await edit(id, { note: null, tags: [] })).body.item).toMatchObject({
      note: null,
      tags: [],
      status: 'approved',
    })
    expect(await sendsOf(id)).toBe(1)
  })

  test('to what it is already changes nothing', async () => {
    const { id } = await write()
    const { item } = (await send('POST', `items/${id}/approve`)).body
    expect((await edit(id, { body: OWN_TEXT, tags: [] })).body.item).toEqual(item)
  })

  test('of the title of an article replaces its first line, in the list of articles too', async () => {
    const { id } = await write({ kind: 'article', title: 'Late again' })
    expect((await edit(id, { title: 'On time' })).body.item).toMatchObject({
      title: 'On time',
      body: `On time\n\n${OWN_TEXT}`,
      revision: 2,
    })
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
  ])(
    'of the text of an item that is %s is refused, with what can be done',
    async (status, message) => {
      const id = await insertItem(app, tenantId())
      await setItem(app, id, { status, ...(status === 'posted' ? { posted_at: new Date() } : {}) })
      expect(refusal(await edit(id, { body: 'Another text.' })).slice(0, 3)).toEqual([
        409,
        'conflict',
        message,
      ])
      expect((await edit(id, { tags: ['kept'] })).status).toBe(
        status === 'publish_unconfirmed' ? 409 : 200,
      )
    },
  )
})

describe('revisions', () => {
  test('beyond the hundredth push out the oldest but the first', async () => {
    const id = await insertItem(app, tenantId(), { body: 'The machine wrote it.' })
    for (let n = 2; n <= MOST_REVISIONS + 2; n++) await edit(id, { body: `Version ${n}` })
    const first = (await send('GET', `items/${id}/revisions?limit=100`)).body
    const numbers = first.revisions.map(({ number }: { number: number }) => number)
    expect([numbers.length, numbers[0], numbers[1], numbers.at(-1), first.next_cursor]).toEqual([
      100,
      1,
      4,
      MOST_REVISIONS + 2,
      null,
    ])
    expect((await read(id)).original_body).toBe('The machine wrote it.')
  })

  test('are paged', async () => {
    const { id } = await write()
    for (const body of ['Two', 'Three']) await edit(id, { body })
    const first = (await send('GET', `items/${id}/revisions?limit=2`)).body
    const second = (await send('GET', `items/${id}/revisions?limit=2&cursor=${first.next_cursor}`))
      .body
    expect([...first.revisions, ...second.revisions].map(({ number }) => number)).toEqual([1, 2, 3])
    expect(second.next_cursor).toBeNull()
  })
})
