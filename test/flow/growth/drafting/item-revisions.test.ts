/** The texts an item has had, and copies of it, over HTTP. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { MOST_REVISIONS } from '#domain/growth/drafting/revision'
import { newId } from '#kernel/ids'
import { connectAccount } from '#ops/operator/admin/workspaces'
import { newWorkspace, type Workspace } from '#test/support/contract/prepare'
import { insertItem } from '#test/support/database/writes'
import { useApp } from '#test/support/use'

const app = useApp()
const TEXT = 'Call before they do. Every delay starts at the dock.'

let workspace: Workspace
beforeEach(async () => {
  workspace = await newWorkspace(app)
})

const send = (method: string, path: string, body?: unknown) =>
  app.send(method, path, { key: workspace.key, ...(body === undefined ? {} : { body }) })
const write = async (fields: object = {}) => (await send('POST', 'items', { body: TEXT, ...fields })).body.item
const edit = (id: string, change: object) => send('PATCH', `items/${id}`, change)
const read = async (id: string) => (await send('GET', `items/${id}`)).body.item

describe('revisions', () => {
  test('beyond the hundredth push out the oldest but the first', async () => {
    const id = await insertItem(app, workspace.tenantId, { body: 'The machine wrote it.' })
    for (let n = 2; n <= MOST_REVISIONS + 2; n++) await edit(id, { body: `Version ${n}` })
    const first = (await send('GET', `items/${id}/revisions?limit=100`)).body
    const numbers = first.revisions.map(({ number }: { number: number }) => number)
    expect([numbers.length, numbers[0], numbers[1], numbers.at(-1), first.next_cursor]).toEqual([100, 1, 4, MOST_REVISIONS + 2, null])
    expect((await read(id)).original_body).toBe('The machine wrote it.')
  })

  test('are paged', async () => {
    const { id } = await write()
    for (const body of ['Two', 'Three']) await edit(id, { body })
    const first = (await send('GET', `items/${id}/revisions?limit=2`)).body
    const second = (await send('GET', `items/${id}/revisions?limit=2&cursor=${first.next_cursor}`)).body
    expect([...first.revisions, ...second.revisions].map(({ number }) => number)).toEqual([1, 2, 3])
    expect(second.next_cursor).toBeNull()
    const { status, body } = await send('GET', `items/${id}/revisions?cursor=no`)
    expect([status, body.error]).toMatchObject([400, { code: 'invalid_input', details: [{ path: 'cursor' }] }])
  })
})

describe('a duplicate', () => {
  test('is a new draft of the text in any state', async () => {
    const id = await insertItem(app, workspace.tenantId, { body: TEXT, status: 'publish_unconfirmed' })
    await app.owner`update item set tags = '{launch}' where id = ${id}`
    const reply = await send('POST', `items/${id}/duplicate`)
    expect(reply.status).toBe(201)
    const { item } = reply.body
    expect(item).toMatchObject({ body: TEXT, status: 'drafted', resurfaced_from: id, tags: ['launch'], batch_id: null, revision: 1 })
    expect(item.id).not.toBe(id)
    expect(await read(item.id)).toMatchObject({ ...item, warnings: expect.any(Array) })
    expect((await read(id)).status).toBe('publish_unconfirmed')
  })

  test('keeps title and account', async () => {
    const account = await app.workplace.sandbox.connect(workspace.tenantId, `w-${newId()}`)
    await connectAccount(app.workplace.world, workspace.tenantId, { network: 'sandbox', ...account })
    const [chosen] = (await send('GET', 'connections?limit=1')).body.connections
    const { id } = await write({ kind: 'article', title: 'Late again', account: chosen.id })
    expect((await send('POST', `items/${id}/duplicate`)).body.item).toMatchObject({
      ...{ kind: 'article', title: 'Late again', posting_account: { id: chosen.id } },
    })
  })
})
