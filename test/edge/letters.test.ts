import { expect, test } from 'bun:test'
import { soleKey } from '#kernel/secret-keys'
import { LETTERS_PATH, nodeSignature } from '#port/nodes'
import { TEST_SECRET } from '#test/support/database/db'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const label = () => ({ operation: 'growth.profile.update', letter: 'k', workspace: app.tenantId })

/** Posts a letter that another process of the deployment signed. */
const letter = (body: string) =>
  app.send('POST', LETTERS_PATH, {
    key: null,
    body,
    headers: nodeSignature(soleKey(TEST_SECRET), Date.now).sign(body, label()),
  })

const command = () => ({
  operation: 'growth.profile.update',
  input: { goal: 'forwarded' },
  call: {
    tenantId: app.tenantId,
    principal: { kind: 'system', id: 'test' },
    scopes: ['api:write'],
    surface: 'rest',
    requestId: 'r',
    idempotencyKey: 'k',
  },
})

const call = (change: object) =>
  JSON.stringify({ ...command(), call: { ...command().call, ...change } })

const malformed: Record<string, [() => string, string]> = {
  'not JSON': [() => '{"operation":', 'the body is not valid JSON'],
  'an empty body': [() => '', 'the body is not valid JSON'],
  null: [() => 'null', 'input must be an object'],
  'a list': [() => '[]', 'input must be an object'],
  'a command without its call': [
    () => JSON.stringify({ ...command(), call: undefined }),
    'call is required',
  ],
  'a workspace that is not a uuid': [() => call({ tenantId: 'x' }), 'call.tenantId must be a uuid'],
  'no principal': [() => call({ principal: null }), 'call.principal must be an object'],
  'an unknown role': [
    () =>
      call({
        principal: { kind: 'key', id: 'x', member: { personId: app.tenantId, role: 'king' } },
      }),
    'call.principal.member.role must be one of owner, editor, approver, viewer',
  ],
  'scopes that are not a list': [() => call({ scopes: 'api:write' }), 'call.scopes must be a list'],
  'an unknown surface': [
    () => call({ surface: 'fax' }),
    'call.surface must be one of rest, mcp, cli, admin',
  ],
  'a NUL in the key': [
    () => call({ idempotencyKey: 'k\0' }),
    'call.idempotencyKey contains a NUL character',
  ],
}

for (const [what, [body, message]] of Object.entries(malformed))
  test(`a correctly signed letter that is malformed is 400: ${what}`, async () => {
    const { status, body: answer } = await letter(body())
    expect([status, answer.error?.code, answer.error?.message]).toEqual([
      400,
      'invalid_input',
      message,
    ])
  })

test('a well-formed letter runs, and fields that a newer process adds are ignored', async () => {
  const { status, body } = await letter(JSON.stringify({ ...command(), priority: 1 }))
  expect([
    status,
    JSON.parse((body as unknown as { answer: { body: string } }).answer.body).profile.goal,
  ]).toEqual([200, 'forwarded'])
})

test('a letter that no process of the deployment signed is 404, malformed or not', async () => {
  for (const body of ['', '{', JSON.stringify(command())]) {
    const { status } = await app.send('POST', LETTERS_PATH, {
      key: null,
      body,
      headers: { 'x-tendril-time': String(Date.now()) },
    })
    expect(status).toBe(404)
  }
})
