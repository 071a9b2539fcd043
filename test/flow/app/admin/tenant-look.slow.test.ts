/** `tendril admin tenant find`, `get`, `members` and `keys`, with and without a server. */
import { beforeAll, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { insertMember } from '#test/support/database/writes'
import { newDeployment, runAdmin, startServer } from '#test/support/processes/server'
import { use } from '#test/support/use'

const deployment = use(newDeployment)

const admin = (...args: string[]) => runAdmin(deployment.server, 'tenant', ...args)
const person = { id: newId(), email: 'Åsa@Nordfracht.example' }
let [first, second, third] = ['', '', '']
let url = ''

beforeAll(async () => {
  {
    await using server = await startServer(deployment.server)
    url = server.url
    first = (await deployment.firstWorkspace()).tenantId
    await server.send('PUT', 'profile', { body: { goal: 'makes a server own the workspace' } })
    expect((await admin('get', '--workspace', first)).json.workspace.server.url).toBe(url)
  }
  // No server from here on.
  second = (await admin('create', '--name', 'Nordfracht 100%', '--email', 'it@kai.example')).json
    .workspace_id
  third = (await admin('create', '--name', 'Südhafen')).json.workspace_id
  await deployment.owner`insert into person (id, email, email_key, name, password_hash)
    values (${person.id}, ${person.email}, lower(${person.email}), 'Åsa', 'secret-hash')`
  await insertMember(deployment, third, { personId: person.id, role: 'owner' })
})

const found = async (text: string, ...more: string[]): Promise<string[]> =>
  (await admin('find', text, ...more)).json.workspaces.map(({ id }: { id: string }) => id)

test('find takes a part of the name or of an email, of members and of the invited, or an id', async () => {
  expect(await found('nordfracht')).toEqual([third, second])
  expect(await found('100%')).toEqual([second])
  expect(await found('_')).toEqual([])
  expect(await found('südHAFEN')).toEqual([third])
  expect(await found(' åsa@nordfracht.example ')).toEqual([third])
  expect(await found('it@KAI')).toEqual([second])
  expect(await found(first.toUpperCase())).toEqual([first])
  expect(await found(first.slice(0, 8))).toEqual([])
  const { json } = await admin('find', 'nordfracht', '--limit', '1')
  expect(await found('nordfracht', '--cursor', json.next_cursor)).toEqual([second])
  expect(await admin('find')).toMatchObject({ code: 2, err: expect.stringContaining('needs TEXT') })
  expect(await admin('find', ' ')).toMatchObject({ code: 2 })
})

test('get shows who owns a workspace and what holds it', async () => {
  await admin('pause', '--workspace', third)
  const { json } = await admin('get', '--workspace', third)
  expect(json.workspace).toEqual({
    id: third,
    name: 'Südhafen',
    plan: 'team',
    billing: 'ok',
    overrides: {},
    created_at: expect.any(String),
    deletes_at: null,
    erasing: false,
    paused: true,
    paused_since: expect.any(String),
    paused_by: { kind: 'system', id: 'operator', name: null },
    wakes_at: null,
    people: 1,
    owners: [{ ...person, name: 'Åsa' }],
    keys: 1,
    server: null,
    erasure_failures: 0,
    erasure_error: null,
  })
})

test('members and keys are listed by pages, and with no secret', async () => {
  const members = await admin('members', '--workspace', third)
  expect(members.json).toMatchObject({
    workspace_id: third,
    members: [{ ...person, name: 'Åsa', role: 'owner', email_status: 'unverified' }],
    next_cursor: null,
  })
  const scopes = ['--scopes', 'api:read']
  const { id } = (
    await runAdmin(deployment.server, 'key', 'create', '--workspace', third, ...scopes)
  ).json
  for (const typed of [id, id.toUpperCase()])
    expect((await runAdmin(deployment.server, 'key', 'revoke', '--id', typed)).json).toEqual({
      id,
      workspace_id: third,
      revoked: true,
    })
  const revoked = await deployment.owner`select 1 from audit
    where tenant_id = ${third} and operation = 'operator.keys.revoke'`
  expect(revoked).toHaveLength(1)
  const keys = await admin('keys', '--workspace', third, '--limit', '1')
  expect(keys.json.keys).toMatchObject([
    { id, scopes: ['api:read'], revoked_at: expect.any(String), name: 'created by the operator' },
  ])
  const rest = await admin('keys', '--workspace', third, '--cursor', keys.json.next_cursor)
  expect(rest.json).toMatchObject({ keys: [{ revoked_at: null }], next_cursor: null })
  for (const { out } of [members, keys, rest]) expect(out).not.toMatch(/hash|secret|[A-F0-9]{64}/i)
})

test('a workspace that is being erased can still be looked at; an unknown one cannot', async () => {
  await deployment.owner`update tenant set deletes_at = now() where id = ${second}`
  await deployment.owner`delete from actor where tenant_id = ${second}`
  expect((await admin('get', '--workspace', second)).json.workspace).toMatchObject({
    erasing: true,
    paused: true,
  })
  expect(await found(second)).toEqual([second])
  for (const command of ['get', 'members', 'keys']) {
    expect((await admin(command, '--workspace', second)).code).toBe(0)
    expect(await admin(command, '--workspace', newId())).toMatchObject({ code: 6 })
  }
})
