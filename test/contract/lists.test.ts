/** The pages of every list, together, are the records of the workspace, newest first. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { type NamedOp, pathParams, readsOnly } from '#contract/op'
import { scopes } from '#kernel/scopes'
import {
  call,
  newWorkspace,
  usualOperations as operations,
  prefixOf,
  recipes,
  type Workspace,
} from '#test/support/contract/prepare'
import { sampleOf } from '#test/support/contract/sample'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

interface Listed {
  id: string
}

let session: string
let key: string
const app = useApp()
beforeAll(async () => {
  session = await tokenOf(app, app.tenantId)
  key = (await app.newKey([...scopes])).api_key
})

const lists = operations.filter((o) => readsOnly(o) && 'cursor' in o.input.properties)
const table = (some: NamedOp[]) => some.map((o) => [o.id, o] as const)

const readPage = async (
  workspace: Workspace,
  o: NamedOp,
  page: { limit?: number; cursor?: string },
) => {
  const { status, body } = await call(workspace, o, page)
  expect(status).toBe(200)
  const { next_cursor, nextCursor = next_cursor, ...wrapped } = body as Record<string, unknown>
  const [records] = Object.values(wrapped)
  return { records: records as Listed[], next: nextCursor as string | null }
}

/** Reads all pages, and awaits `between` after each. */
const readAll = async (
  workspace: Workspace,
  o: NamedOp,
  { limit, between }: { limit: number; between(): Promise<unknown> },
) => {
  const pages: Listed[][] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { records, next } = await readPage(workspace, o, { limit, ...(cursor ? { cursor } : {}) })
    pages.push(records)
    cursor = next
    await between()
  }
  return pages
}

describe.each(table(lists))('%s', (_, o) => {
  test('takes 1 to 100 records a page, 25 by default', () => {
    const { minimum, maximum, default: usual } = o.input.properties.limit!
    expect({ minimum, usual }).toEqual({ minimum: 1, usual: 25 })
    expect(maximum).toBeLessThanOrEqual(100)
  })

  test('refuses a cursor that it did not issue', async () => {
    for (const cursor of [
      'x',
      '1',
      Bun.randomUUIDv7(),
      Buffer.from('1 or 1=1').toString('base64url'),
    ]) {
      const reply = await call({ app, key, session }, o, { ...sampleOf(o, 'needed'), cursor })
      expect([reply.status, reply.body.error?.details?.[0]?.path]).toEqual([400, 'cursor'])
    }
  })
})

/** Lists inside a record have tests of their own. */
const whole = lists.filter((o) => recipes[prefixOf(o)] && pathParams(o.path).length === 0)

describe.each(table(whole))('%s', (_, o) => {
  const { make } = recipes[prefixOf(o)]!

  test('returns every record once, newest first, whatever is added meanwhile', async () => {
    const workspace = await newWorkspace(app)
    for (let count = 0; count < 5; count++) await make(workspace)
    const { records: before } = await readPage(workspace, o, {})
    expect(before.length).toBeGreaterThanOrEqual(5)
    expect(before.map(({ id }) => id)).toEqual(
      before
        .map(({ id }) => id)
        .sort()
        .reverse(),
    )
    const pages = await readAll(workspace, o, { limit: 2, between: () => make(workspace) })
    expect(pages.flat()).toEqual(before)
    expect(pages.map((page) => page.length)).toEqual(
      pages.map((_, at) => Math.min(2, before.length - 2 * at)),
    )
  })
})
