/** MCP servers of a workspace in tests, with what people decide about their tools. */
import { expect } from 'bun:test'
import { newMcpServer } from '#domain/agent/mcp/server'
import { newId } from '#kernel/ids'
import { insertMcpServer } from '#store/agent/mcp-servers'
import { eventually, type TestApp } from '../app.ts'
import { type Workspace, write } from '../arrange.ts'
import { signedIn } from '../session.ts'

export const SECRET = 'Bearer sk-mcp-7f1c2a9b4d'

export interface ShownTool {
  name: string
  state: string
  hash: string
  description: string
  rule: string | null
  changes: { field: string; parts: { kind: string; text: string }[] }[]
}

/** An enabled server whose tools were never listed. */
export const makeMcpServer = async (workspace: Workspace): Promise<string> => {
  const rules = { programs: [], refuse: () => undefined }
  const config = { name: 'Shop', url: 'https://mcp.example.com/mcp' }
  const { server } = newMcpServer(
    newId(),
    { ...config, toolPrefix: `shop${prefixes++}` },
    { others: [], rules, now: new Date() },
  )
  await write(workspace, { writes: [insertMcpServer(server, {})] })
  return server.id
}
let prefixes = 0

/** A signed-in owner who connects servers and decides about tools. */
export const serverAdmin = async (app: TestApp, tenantId = app.tenantId) => {
  const { key } = await signedIn(app, tenantId, 'owner')
  const send = (
    method: string,
    path: string,
    body?: unknown,
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  ): Promise<{ status: number; body: any }> =>
    app.send(method, `/api/v1/${path}`, { key, ...(body === undefined ? {} : { body }) })
  const get = async (
    id: string,
  ): Promise<{ server: Record<string, unknown>; tools: ShownTool[] }> =>
    (await send('GET', `mcp/servers/${id}`)).body
  const add = async (body: Record<string, unknown> = {}): Promise<string> => {
    const made = await send('POST', 'mcp/servers', {
      name: 'Shop',
      url: 'https://mcp.example.com/mcp',
      headers: { Authorization: SECRET },
      ...body,
    })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body.server.id
  }
  /** Waits for the end of a listing that began after the last one. */
  const looked = async (
    id: string,
    isSo: (shown: Awaited<ReturnType<typeof get>>) => boolean = ({ server }) =>
      server.status !== 'new',
  ) => eventually(() => get(id), isSo)
  const rule = async (id: string, name: string, decision = 'allow') => {
    const tool = (await get(id)).tools.find((one) => one.name === name)
    return send('PUT', `agent/tool-rules/${name}`, { decision, ...(tool && { hash: tool.hash }) })
  }
  /** Connects a server, and sets rules for its tools. */
  const ruled = async (
    names: readonly string[],
    { decision = 'allow', ...body }: Record<string, unknown> = {},
  ): Promise<string> => {
    const id = await add(body)
    await looked(id)
    for (const name of names) expect((await rule(id, name, decision as string)).status).toBe(200)
    return id
  }
  const refresh = async (id: string) => {
    const before = (await get(id)).server.lookedAt
    expect((await send('POST', `mcp/servers/${id}/refresh`)).status).toBe(200)
    return looked(id, ({ server }) => server.lookedAt !== before || server.status === 'failing')
  }
  return { key, send, get, add, looked, rule, ruled, refresh }
}
