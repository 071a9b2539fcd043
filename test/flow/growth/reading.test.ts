/** Single records over HTTP: the same as in their list, and only in their own workspace. */
import { describe, expect, test } from 'bun:test'
import { pathParams, readsOnly } from '#contract/op'
import { newId } from '#kernel/ids'
import { call, newWorkspace, usualOperations as operations, prefixOf, recipes } from '#test/support/prepare'
import { useApp } from '#test/support/use'

const app = useApp()

const singles = operations.filter((o) => o.id.startsWith('growth.') && readsOnly(o) && pathParams(o.path).includes('id'))

describe.each(singles.map((o) => [o.id, o] as const))('%s', (_, o) => {
  test('shows one record, and answers 404 for that of another workspace', async () => {
    const [workspace, other] = [await newWorkspace(app), await newWorkspace(app)]
    const { id } = await recipes[prefixOf(o)]!.make(workspace)
    const shown = await call(workspace, o, { id })
    expect([shown.status, Object.values(shown.body as Record<string, { id: string }>)[0]!.id]).toEqual([200, id!])
    for (const refused of [await call(other, o, { id }), await call(workspace, o, { id: newId() })])
      expect([refused.status, refused.body.error?.code]).toEqual([404, 'not_found'])
  })

  const list = operations.find(({ id }) => id === `${prefixOf(o)}.list`)
  test.skipIf(!list)('has every field that the list shows', async () => {
    const workspace = await newWorkspace(app)
    const { id } = await recipes[prefixOf(o)]!.make(workspace)
    const [rows] = Object.values<unknown>((await call(workspace, list!, {})).body)
    const [single] = Object.values((await call(workspace, o, { id })).body)
    expect(single).toMatchObject((rows as { id: string }[]).find((row) => row.id === id)!)
  })
})
