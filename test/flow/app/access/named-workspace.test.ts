/** Requests that name the workspace they are for, of a session that any tab can move. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { WORKSPACE_HEADER } from '#contract/headers'
import { newId } from '#kernel/ids'
import type { TestApp } from '#test/support/app'
import { type SignedIn, signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()
/** Owns none of the workspaces, so it forwards their commands. */
const other = useApp(() => ({ database: app.options }))

let here = ''
let elsewhere = ''

beforeAll(async () => {
  here = app.tenantId
  elsewhere = (await app.newWorkspace()).tenantId
})

/** A person of both workspaces, whose session is in the first. */
const someone = async (): Promise<SignedIn> => {
  const person = await signedIn(app, here)
  await app.owner`insert into member (tenant_id, person_id, role)
    values (${elsewhere}, ${person.personId}, 'owner')`
  return person
}

const moveTo = (workspace_id: string, key: string) =>
  app.send('POST', '/api/v1/app/session/workspace', { key, body: { workspace_id } })

const naming = (workspace: string) => ({ [WORKSPACE_HEADER]: workspace })

const itemsIn = async (tenantId: string): Promise<string[]> =>
  (
    await app.owner<{ body: string }[]>`select body from item where tenant_id = ${tenantId}
      and body like 'tab %'`
  ).map(({ body }) => body)

/** Writes its texts one after the other, and moves the session back when it is elsewhere. */
const writeAsTab = async (
  server: TestApp,
  { key, workspace, texts }: { key: string; workspace: string; texts: readonly string[] },
): Promise<number> => {
  let refused = 0
  for (const body of texts)
    for (;;) {
      const headers = naming(workspace)
      const { status, text } = await server.send('POST', 'items', { key, headers, body: { body } })
      if (status === 201) break
      expect([status, text]).toEqual([409, expect.stringContaining(WORKSPACE_HEADER)])
      refused++
      await moveTo(workspace, key)
    }
  return refused
}

test('of 100 writes from two tabs in two workspaces, with switches between, none is in the wrong one', async () => {
  const { key } = await someone()
  const tabs = [here, elsewhere].map((workspace, tab) => ({
    key,
    workspace,
    texts: Array.from({ length: 50 }, (_, nth) => `tab ${tab} writes ${nth}`),
  }))
  const refused = await Promise.all([writeAsTab(app, tabs[0]!), writeAsTab(other, tabs[1]!)])
  for (const { workspace, texts } of tabs)
    expect((await itemsIn(workspace)).sort()).toEqual([...texts].sort())
  expect(Math.min(...refused)).toBeGreaterThan(0)
}, 60_000)

describe('a request that names another workspace than that of its session', () => {
  const asked: Record<string, { method?: string; path: string; accept?: string }> = {
    'a read': { path: '/api/v1/growth/items' },
    'a command whose body is malformed': { method: 'POST', path: '/api/v1/growth/items' },
    'a personal operation': { path: '/api/v1/app/sessions' },
    'a download': { path: '/api/v1/app/workspace/export' },
    'a file': { path: `/api/v1/artifacts/${newId()}/download` },
    'a stream': { path: `/api/v1/agent/jobs/${newId()}/events`, accept: 'text/event-stream' },
    'a message of MCP': {
      method: 'POST',
      path: '/api/v1/mcp',
      accept: 'application/json, text/event-stream',
    },
  }
  test.each(Object.entries(asked))('is refused: %s', async (_, asking) => {
    const { method = 'GET', path, accept = '*/*' } = asking
    const { key } = await someone()
    for (const server of [app, other]) {
      const headers = { ...naming(elsewhere), accept }
      const body = method === 'POST' ? { body: '{' } : {}
      const reply = await server.send(method, path, { key, headers, ...body })
      expect([reply.status, reply.body.error?.reason]).toEqual([409, 'other_workspace'])
    }
  })

  test('is answered once the session is there', async () => {
    const { key } = await someone()
    await moveTo(elsewhere, key)
    const read = (workspace: string) =>
      other.send('GET', 'items', { key, headers: naming(workspace) })
    expect((await read(elsewhere)).status).toBe(200)
    expect((await read(here)).status).toBe(409)
  })
})

test('a name in capitals is the same, and one that is no id is 400', async () => {
  const { key } = await someone()
  const read = (workspace: string) => app.send('GET', 'items', { key, headers: naming(workspace) })
  expect((await read(here.toUpperCase())).status).toBe(200)
  for (const malformed of ['', 'here', `${here}, ${here}`, `${here}0`]) {
    const { status, body } = await read(malformed)
    expect([status, body.error?.details]).toEqual([
      400,
      [{ path: WORKSPACE_HEADER, message: 'must be the id of a workspace' }],
    ])
  }
})

test('an API key can name its own workspace alone', async () => {
  const read = (workspace: string) => app.send('GET', 'items', { headers: naming(workspace) })
  const statuses = [(await read(here)).status, (await read(elsewhere)).status]
  expect(statuses).toEqual([200, 409])
})

test('a name says nothing to somebody without a credential', async () => {
  const replies = [here, elsewhere, 'here'].map((workspace) =>
    app.send('GET', 'items', { key: 'unknown', headers: naming(workspace) }),
  )
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([401, 401, 401])
})
