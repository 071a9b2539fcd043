/**
 * Cancelling a generation: it ends once, its quota is given back, and later output of the model is
 * dropped.
 */
import { expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { CANCEL } from '#edge/mcp/generation'
import { newId } from '#kernel/ids'
import { testFailpoints } from '#test/support/actors/failpoints'
import { letterOf } from '#test/support/actors/letters'
import { settled } from '#test/support/actors/manual-clock'
import { eventually, testApp } from '#test/support/app'
import { contextOf } from '#test/support/mcp/context'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const held = heldInEachTest()
const points = testFailpoints()
const app = useApp({
  overrides: {
    drafter: held.drafter,
    failpoints: points.at,
  },
})

/** A new workspace, with a context that may cancel in it. */
const workspace = async (at = app) => {
  const { tenantId, key } = await app.newWorkspace()
  const context = await contextOf(at, { tenantId })
  return {
    tenantId,
    context,
    send: (method: string, path: string, options: object = {}) =>
      app.send(method, path, { key, ...options }),
    create: async (focus = 'one', count = 3): Promise<string> =>
      (await app.send('POST', 'batches', { key, body: { count, focus } })).body.batch.id,
    cancel: async (id: string) => JSON.parse((await context.run(CANCEL, { id })).body).generation,
    batch: async (id: string) => (await app.send('GET', `batches/${id}`, { key })).body.batch,
    settled: (id: string) =>
      eventually(
        async () => (await app.send('GET', `batches/${id}`, { key })).body.batch,
        ({ status }) => status === 'ready' || status === 'failed',
      ),
    spent: async (): Promise<number> =>
      (
        await app.owner`select used::int from counter where tenant_id = ${tenantId}
          and key = 'posts'`
      )[0]?.used,
    events: async (id: string) =>
      (
        await app.owner`select type, data->>'error' as error from outbox
          where data->>'batch_id' = ${id} order by id`
      ).map(({ type, error }) => [type, error]),
    works: async () =>
      (
        await app.owner`select ref_id from work where tenant_id = ${tenantId}
          and lane = 'generation'`
      ).length,
    audits: async () => [
      ...(await app.owner`select actor_kind, actor_id, surface, ref_id from audit
        where tenant_id = ${tenantId} and operation = ${CANCEL}`),
    ],
  }
}

const cancelled = { status: 'failed', error: 'cancelled' }
const onlyEvent = [['growth.batch.settled', 'cancelled']]

test('while the model writes: the call is aborted, the record fails and names who cancelled it, the quota is given back', async () => {
  const { context, create, cancel, batch, spent, events, works, audits, settled } =
    await workspace()
  const id = await create('first')
  await held.begun(1)
  expect(await spent()).toBe(3)
  expect(await cancel(id)).toEqual({ id, ...cancelled })
  expect(held.aborted).toEqual(['first'])
  expect(await batch(id)).toMatchObject({ ...cancelled, delivered: 0, items: [] })
  expect([await spent(), await events(id), await works()]).toEqual([0, onlyEvent, 0])
  expect(await audits()).toEqual([
    { actor_kind: 'key', actor_id: context.call.principal.id, surface: 'mcp', ref_id: id },
  ])
  held.release()
  expect(await settled(await create('second'))).toMatchObject({ status: 'ready', delivered: 3 })
  expect(await batch(id)).toMatchObject(cancelled)
})

test('while it waits in the queue: it never begins, and the one before it goes on', async () => {
  const { create, cancel, spent, events, settled } = await workspace()
  const [first, second] = [await create('first', 2), await create('second', 5)]
  await held.begun(1)
  expect(await cancel(second)).toMatchObject(cancelled)
  expect([await spent(), await events(second)]).toEqual([2, onlyEvent])
  held.release()
  expect(await settled(first)).toMatchObject({ status: 'ready', delivered: 2 })
  expect(await settled(await create('third', 1))).toMatchObject({ status: 'ready' })
  expect(await spent()).toBe(3)
  expect(held.aborted).toEqual([])
})

test('drafts that the model has returned but that are not yet saved are dropped', async () => {
  const { create, cancel, batch, spent, events, settled } = await workspace()
  points.arm('generation.drafted', 'hang')
  held.release()
  const id = await create()
  await points.reached('generation.drafted')
  expect(await cancel(id)).toMatchObject(cancelled)
  points.release('generation.drafted')
  expect(await settled(await create('next'))).toMatchObject({ status: 'ready' })
  expect(await batch(id)).toMatchObject({ ...cancelled, items: [] })
  expect([await spent(), await events(id)]).toEqual([3, onlyEvent])
})

test('a cancellation and an outcome at the same moment: the first one stands', async () => {
  const { create, cancel, batch, spent, events } = await workspace()
  points.arm('letter.deciding:batch.settle', 'hang')
  held.release()
  const id = await create()
  await points.reached('letter.deciding:batch.settle')
  const cancelled = cancel(id)
  points.release('letter.deciding:batch.settle')
  expect(await cancelled).toEqual({ id, status: 'ready', error: null })
  expect(await batch(id)).toMatchObject({ status: 'ready', delivered: 3, items: [{}, {}, {}] })
  expect(await spent()).toBe(3)
  expect(await events(id)).toEqual([
    ['growth.batch.settled', null],
    ['growth.approval.requested', null],
  ])
})

test('a cancellation overtakes everything in the mailbox', async () => {
  const { tenantId, create, cancel } = await workspace()
  const id = await create()
  await held.begun(1)
  const order: string[] = []
  points.arm('letter.deciding:runs', 'hang')
  for (const name of ['waits', CANCEL])
    points.arm(`letter.deciding:${name}`, () => void order.push(name))
  const ask = (name: string) =>
    app.workplace.world.ask(
      tenantId,
      letterOf(() => ({ reply: undefined }), { name }),
    )
  const pending: Promise<unknown>[] = [ask('runs')]
  await points.reached('letter.deciding:runs')
  pending.push(ask('waits'), cancel(id))
  // Until both are in the mailbox.
  await settled()
  points.release('letter.deciding:runs')
  await Promise.all(pending)
  for (const name of ['waits', CANCEL]) points.release(`letter.deciding:${name}`)
  expect(order).toEqual([CANCEL, 'waits'])
})

test('a cancellation sent to another process takes effect in the one that owns the workspace', async () => {
  await using other = await testApp({ database: app.options, overrides: { lanes: [], sweepMs: 0 } })
  const { create, cancel, batch, spent, audits } = await workspace(other)
  const id = await create('at the owner')
  await held.begun(1)
  expect(await cancel(id)).toEqual({ id, ...cancelled })
  expect(held.aborted).toEqual(['at the owner'])
  expect(await batch(id)).toMatchObject(cancelled)
  expect(await spent()).toBe(0)
  expect(await audits()).toMatchObject([{ actor_kind: 'key', surface: 'mcp', ref_id: id }])
})

test('cancelling takes the right to draft and a record of the same workspace', async () => {
  const { tenantId, create, cancel, batch } = await workspace()
  const id = await create()
  await held.begun(1)
  await expect(cancel(newId())).rejects.toMatchObject({ code: 'not_found' })
  const stranger = await contextOf(app, { tenantId: (await app.newWorkspace()).tenantId })
  await expect(stranger.run(CANCEL, { id })).rejects.toMatchObject({ code: 'not_found' })
  const reader = await contextOf(app, { tenantId, scopes: ['api:read', 'mcp:use'] })
  await expect(reader.run(CANCEL, { id })).rejects.toMatchObject({ code: 'missing_scope' })
  const approver = await contextOf(app, { tenantId, role: 'approver' })
  await expect(approver.run(CANCEL, { id })).rejects.toMatchObject({ code: 'forbidden' })
  expect(await batch(id)).toMatchObject({ status: 'generating' })
})

test('no surface offers it as an operation', async () => {
  const { context, send } = await workspace()
  expect(operations.map(({ id }) => id)).not.toContain(CANCEL)
  const o = context.operations.get(CANCEL)!
  expect(o.tool).toBeUndefined()
  const path = o.path.replace(':id', newId())
  for (const at of [path, `/api/v1${path}`]) expect((await send(o.method, at)).status).toBe(404)
})
