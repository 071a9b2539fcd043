/** MCP servers that a workspace connects: what is kept of them, and what is shown. */
import { afterEach, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { fakeMcp, SEARCH } from '#test/support/mcp/client'
import { SECRET, serverAdmin } from '#test/support/mcp/servers'
import { useApp } from '#test/support/use'

const mcp = fakeMcp()
const app = useApp({ overrides: { mcpClient: mcp } })

afterEach(() => {
  Object.assign(mcp, { tools: [SEARCH], isDown: false })
})

const place = async () => {
  const { tenantId } = await app.newWorkspace()
  return { tenantId, ...(await serverAdmin(app, tenantId)) }
}

describe('a server', () => {
  test('is looked at once it is connected, and its tools are new', async () => {
    const { add, looked } = await place()
    const id = await add({ metadata: { team: 'shop' } })
    const { server, tools } = await looked(id)
    expect(server).toMatchObject({
      id,
      name: 'Shop',
      transport: 'streamable_http',
      url: 'https://mcp.example.com/mcp',
      command: null,
      args: [],
      headerNames: ['Authorization'],
      envNames: [],
      toolPrefix: 'shop',
      enabled: true,
      metadata: { team: 'shop' },
      status: 'ready',
      lastError: null,
      lookedAt: expect.any(String),
      usedAt: null,
    })
    expect(tools).toMatchObject([
      {
        name: 'shop__search',
        ownName: 'search',
        description: SEARCH.description,
        readOnlyHint: true,
        state: 'new',
        rule: null,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        changes: [],
      },
    ])
    expect(mcp.opened).toContainEqual({
      transport: 'streamable_http',
      url: 'https://mcp.example.com/mcp',
      headers: { Authorization: SECRET },
    })
  })

  test('that is nothing but a name is kept, disabled and refused', async () => {
    const { send } = await place()
    const { status, body } = await send('POST', 'mcp/servers', { name: 'Later' })
    expect([status, body.server]).toMatchObject([
      201,
      {
        enabled: false,
        status: 'refused',
        lastError: 'neither a url nor a command is set',
        transport: null,
      },
    ])
    expect((await send('POST', `mcp/servers/${body.server.id}/refresh`)).status).toBe(409)
    expect((await send('PATCH', `mcp/servers/${body.server.id}`, { enabled: true })).status).toBe(
      400,
    )
    const patched = await send('PATCH', `mcp/servers/${body.server.id}`, {
      url: 'https://mcp.example.com/',
    })
    expect(patched.body.server).toMatchObject({
      enabled: true,
      status: 'new',
      lastError: null,
      transport: 'streamable_http',
    })
  })

  const refused: [string, object, string][] = [
    [
      'a command that the operator does not allow',
      { command: 'sh', args: ['-c', 'id'], env: { A: 'b' } },
      'MCP_STDIO',
    ],
    ['an address that is not public', { url: 'http://127.0.0.1:9/mcp' }, 'https://'],
    ['a private address', { url: 'https://10.0.0.1/mcp' }, 'not public'],
  ]
  test.each(refused)('with %s is kept, disabled and refused', async (_, config, reason) => {
    const { send } = await place()
    const { status, body } = await send('POST', 'mcp/servers', {
      name: 'No',
      enabled: true,
      ...config,
    })
    expect([status, body.server]).toMatchObject([
      201,
      { enabled: false, status: 'refused', lastError: expect.stringContaining(reason) },
    ])
  })

  const wrong: [string, object, string][] = [
    [
      'user name and password in the URL',
      { name: 'A', url: 'https://me:secret@mcp.example.com/' },
      'url',
    ],
    ['a prefix in capitals', { name: 'A', toolPrefix: 'Acme' }, 'toolPrefix'],
    ['a header of the protocol', { name: 'A', headers: { Host: 'inside' } }, 'headers'],
    ['a header with a line break', { name: 'A', headers: { 'X-A': 'a\r\nHost: b' } }, 'headers'],
    ['a variable that is none', { name: 'A', env: { 'A=B': 'c' } }, 'env'],
    ['a variable of two lines', { name: 'A', env: { NOTE: 'a\nPATH=/tmp' } }, 'env'],
    ['headers that are no map of strings', { name: 'A', headers: { A: 1 } }, 'headers'],
    ['metadata without end', { name: 'A', metadata: { a: 'b'.repeat(9_000) } }, 'metadata'],
  ]
  test.each(wrong)('with %s is invalid', async (_, body, path) => {
    const { send } = await place()
    const reply = await send('POST', 'mcp/servers', body)
    expect([reply.status, reply.body.error.details[0].path.split('.')[0]]).toEqual([400, path])
    expect(JSON.stringify(reply.body)).not.toContain('secret')
  })

  test('cannot have the prefix of another; without one it gets a free one', async () => {
    const { send } = await place()
    const add = (body: object) => send('POST', 'mcp/servers', { name: 'Shop', ...body })
    expect((await add({ toolPrefix: 'shop' })).status).toBe(201)
    expect((await add({ toolPrefix: 'shop' })).status).toBe(400)
    expect((await add({})).body.server.toolPrefix).toBe('shop2')
    expect((await send('POST', 'mcp/servers', { name: '店' })).body.server.toolPrefix).toBe(
      'server',
    )
  })

  test('is one of twenty', async () => {
    const { send } = await place()
    for (let n = 1; n <= 20; n++)
      expect((await send('POST', 'mcp/servers', { name: `S${n}` })).status).toBe(201)
    expect((await send('POST', 'mcp/servers', { name: 'S21' })).status).toBe(400)
  })

  test('is deleted with its tools and their rules; one that there is not, too', async () => {
    const { send, ruled, tenantId } = await place()
    const id = await ruled(['shop__search'])
    const { status, body } = await send('DELETE', `mcp/servers/${id}`)
    expect([status, body.server.id]).toEqual([200, id])
    expect(await send('DELETE', `mcp/servers/${id}`)).toMatchObject({
      status: 200,
      body: { server: null },
    })
    for (const none of [newId(), 'no-id', newId().toUpperCase()])
      expect((await send('DELETE', `mcp/servers/${none}`)).status).toBe(200)
    for (const table of ['mcp_server', 'mcp_tool', 'agent_tool_rule'])
      expect(
        await app.owner`select 1 from ${app.owner(table)} where tenant_id = ${tenantId}`,
      ).toHaveLength(0)
  })

  test('that does not answer is failing, and tried again later', async () => {
    const { add, looked, get } = await place()
    mcp.isDown = true
    const id = await add()
    expect((await looked(id)).server).toMatchObject({
      status: 'failing',
      lastError: 'the server does not answer',
      enabled: true,
    })
    const [work] =
      await app.owner`select origin, run_at > now() as later from work where ref_id = ${id}`
    expect(work).toEqual({ origin: 'automatic', later: true })
    expect((await get(id)).tools).toEqual([])
  })
})

describe('a change', () => {
  test.each([
    ['another origin', { url: 'https://other.example.com/mcp' }, true],
    ['another path', { url: 'https://mcp.example.com/v2' }, false],
    ['another name', { name: 'Store' }, false],
    ['other headers', { headers: { 'X-Key': 'abcdefghij' } }, false],
    ['another prefix', { toolPrefix: 'store' }, true],
  ])('to %s resets the rules: %p', async (_, patch, isReset) => {
    const { ruled, send, looked } = await place()
    const id = await ruled(['shop__search'])
    const { body } = await send('PATCH', `mcp/servers/${id}`, patch)
    expect(body.server.headerNames).toEqual(
      'url' in patch && isReset ? [] : 'headers' in patch ? ['X-Key'] : ['Authorization'],
    )
    const { tools } = await looked(
      id,
      (shown) => shown.server.status === 'ready' && shown.tools.length === 1,
    )
    expect(tools.map(({ state }) => state)).toEqual([isReset ? 'new' : 'ruled'])
  })

  test('disables a server, and its tools are kept', async () => {
    const { ruled, send, get } = await place()
    const id = await ruled(['shop__search'])
    expect((await send('PATCH', `mcp/servers/${id}`, { enabled: false })).body.server.enabled).toBe(
      false,
    )
    expect((await get(id)).tools).toMatchObject([{ state: 'ruled' }])
    expect((await send('POST', `mcp/servers/${id}/refresh`)).status).toBe(409)
  })
})

describe('a rule for a tool', () => {
  test('takes the hash of the definition that the person has read', async () => {
    const { add, looked, send } = await place()
    const id = await add()
    const { tools } = await looked(id)
    const set = (body: object) => send('PUT', 'agent/tool-rules/shop__search', body)
    expect((await set({ decision: 'allow' })).status).toBe(400)
    expect((await set({ decision: 'ask', hash: '0'.repeat(64) })).status).toBe(409)
    expect((await set({ decision: 'deny' })).status).toBe(200)
    expect(await set({ decision: 'ask', hash: tools[0]!.hash })).toMatchObject({
      status: 200,
      body: {
        tool: {
          name: 'shop__search',
          module: 'mcp',
          class: 'outside_write',
          rule: 'ask',
          isAsked: true,
        },
      },
    })
  })

  test('holds until the tool changes, which is shown word by word; a renamed tool is new', async () => {
    const { ruled, refresh, send } = await place()
    const id = await ruled(['shop__search'])
    const listed = async () =>
      (await send('GET', 'agent/tools')).body.tools.filter(
        ({ module }: { module: string }) => module === 'mcp',
      )
    expect(await listed()).toMatchObject([{ name: 'shop__search', isAsked: false }])
    expect((await send('GET', 'agent/tools/shop__search')).body.tool).toMatchObject({
      name: 'shop__search',
      class: 'outside_write',
      ofServer: true,
      textField: null,
      parameters: SEARCH.inputSchema,
    })
    expect((await send('GET', 'agent/tools/growth_add_learning')).body.tool).toMatchObject({
      class: 'draft',
      ofServer: false,
      textField: 'note',
      parameters: { properties: { note: { type: 'string' } } },
    })
    expect((await send('GET', 'agent/tools/shop__sell')).status).toBe(404)
    mcp.tools = [{ ...SEARCH, description: 'Searches the whole shop.' }]
    expect((await refresh(id)).tools).toMatchObject([
      {
        state: 'changed',
        rule: 'allow',
        changes: [
          {
            field: 'description',
            parts: [
              { kind: 'same', text: 'Searches the ' },
              { kind: 'added', text: 'whole ' },
              { kind: 'same', text: 'shop.' },
            ],
          },
        ],
      },
    ])
    expect(await listed()).toEqual([])
    mcp.tools = [{ ...SEARCH, name: 'find' }]
    expect((await refresh(id)).tools).toMatchObject([
      { name: 'shop__find', state: 'new', rule: null },
    ])
  })
})
