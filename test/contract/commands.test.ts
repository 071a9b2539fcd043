/** Every operation succeeds with valid input; every command runs once under an Idempotency-Key. */

import { beforeAll, describe, expect, test } from 'bun:test'
import { keyedInput } from '#contract/keyed-input'
import { type NamedOp, pathParams, readsOnly } from '#contract/op'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import type { Reply } from '#test/support/app'
import { useContractApp } from '#test/support/contract/app'
import {
  call,
  legalInput,
  newWorkspace,
  usualOperations as operations,
  type Workspace,
} from '#test/support/contract/prepare'
import { type Extent, finds, freeTexts, sampleOf, withValue } from '#test/support/contract/sample'
import { sharedWorkspaces } from '#test/support/contract/shared'
import { tokenOf } from '#test/support/session'

const app = useContractApp()
const [shared, elsewhere] = [sharedWorkspaces(app), sharedWorkspaces(app)]

const table = (some: NamedOp[]) => some.map((o) => [o.id, o] as const)
/**
 * It takes a text that is too long for an address, and changes nothing: there is nothing that could
 * run twice.
 */
const PREVIEW = 'growth.items.preview'
const commands = operations.filter((o) => !readsOnly(o) && o.id !== PREVIEW)

const expectSuccess = (reply: Reply, o: NamedOp) => {
  expect({ status: reply.status, error: reply.body.error }).toEqual({
    status: o.status,
    error: undefined,
  })
  expect(reply.headers.get('content-type')).toStartWith('application/json')
}

const succeeds = async (o: NamedOp, extent: Extent) => {
  const workspace = await shared.workspaceFor(o)
  expectSuccess(await call(workspace, o, await legalInput(workspace, o, extent)), o)
}

test.each(table(operations))('%s succeeds with its whole input', (_, o) => succeeds(o, 'whole'))

// That of the other commands is sent under a key, below.
test.each(table(operations.filter((o) => !commands.includes(o))))(
  '%s succeeds with its needed input',
  (_, o) => succeeds(o, 'needed'),
)

/** How many times the operation ran in the workspace. */
const effects = async ({ tenantId }: Workspace, { id }: NamedOp): Promise<number> => {
  const [row] =
    await app.owner`select count(*)::int as count from audit where tenant_id = ${tenantId}
      and operation = ${id}`
  return row!.count
}

/** Its calls are under one new key. */
const under = (workspace: Workspace, key: string = newId()) => ({
  ...workspace,
  headers: { 'idempotency-key': key },
})

/**
 * An input as close as possible that makes a different request: more fields, another text, or else
 * another record.
 */
const anotherInput = async (workspace: Workspace, o: NamedOp, input: Record<string, unknown>) => {
  if (o.body) return legalInput(workspace, o, 'whole')
  const whole = keyedInput(o, { ...(await legalInput(workspace, o, 'whole')), ...input })
  if (Object.keys(whole).length > Object.keys(input).length) return whole
  const [text] = freeTexts(o)
  if (text !== undefined) return withValue(input, text, 'Another text')
  const another = await legalInput(workspace, o)
  // Tools have few names, which recur; the next is another one.
  return Bun.deepEquals(another, input) ? legalInput(workspace, o) : another
}

const takesInput = (o: NamedOp): boolean => Object.keys(sampleOf(o, 'whole')).length > 0

interface Used {
  workspace: Workspace
  keyed: ReturnType<typeof under>
  input: Record<string, unknown>
  /** Another one of the same operation, if it takes any. */
  another: Record<string, unknown> | undefined
  otherInput: Record<string, unknown>
  /** How many times the operation had run before. */
  before: number
  first: Reply
}

describe.each(table(commands))('%s under a used Idempotency-Key', (_, o) => {
  const other = commands[(commands.indexOf(o) + 1) % commands.length]!
  let used: Used
  beforeAll(async () => {
    const workspace = await shared.workspaceFor(o)
    const keyed = under(workspace, newId().padEnd(200, 'k'))
    const input = await legalInput(workspace, o)
    // Next to each other: recipes that have a few records to give begin again after the last.
    const another = takesInput(o) ? await anotherInput(workspace, o, input) : undefined
    const otherInput = await legalInput(workspace, other)
    const before = await effects(workspace, o)
    const first = await call(keyed, o, input)
    used = { workspace, keyed, input, another, otherInput, before, first }
  })

  test('replays the stored answer byte for byte, and runs once', async () => {
    const { workspace, keyed, input, before, first } = used
    expectSuccess(first, o)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    const again = await call(keyed, o, input)
    expect({ status: again.status, text: again.text }).toEqual({
      status: first.status,
      text: first.text,
    })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await effects(workspace, o)).toBe(before + 1)
  })

  test('refuses another operation', async () => {
    const { workspace, keyed, otherInput } = used
    const before = await effects(workspace, other)
    const reply = await call(keyed, other, otherInput)
    expect([reply.status, reply.body.error?.code]).toEqual([422, 'idempotency_key_reused'])
    expect(await effects(workspace, other)).toBe(before)
  })

  // Keys are kept apart in one place for all operations of a kind.
  if (commands.find(({ kind }) => kind === o.kind) === o)
    test('is independent of the same key in another workspace', async () => {
      const workspace = await elsewhere.workspaceFor(o)
      const keyed = { ...workspace, headers: used.keyed.headers }
      const reply = await call(keyed, o, await legalInput(workspace, o))
      expectSuccess(reply, o)
      expect(reply.headers.get('idempotency-replayed')).toBeNull()
    })

  if (takesInput(o))
    test('refuses another body', async () => {
      const { workspace, keyed, another } = used
      const before = await effects(workspace, o)
      const reply = await call(keyed, o, another!)
      expect([reply.status, reply.body.error?.code]).toEqual([422, 'idempotency_key_reused'])
      expect(await effects(workspace, o)).toBe(before)
    })

  if (finds(o))
    test('does not find an unknown id, which is checked before the key', async () => {
      const [name = ''] = pathParams(o.path)
      const unknown = { ...used.input, [name]: sampleOf(o, 'needed')[name] }
      expect((await call(used.keyed, o, unknown)).status).toBe(404)
    })
})

test.each(table(commands.filter((o) => 'secret' in o && o.secret)))(
  '%s stores its answer under an Idempotency-Key sealed, and gives it to nobody else',
  async (_, o) => {
    const workspace = await newWorkspace(app)
    const keyed = under(workspace)
    const input = await legalInput(workspace, o)
    const first = await call(keyed, o, input)
    expectSuccess(first, o)
    const [row] = await app.owner`select state, body from idempotency
      where tenant_id = ${workspace.tenantId} and key = ${keyed.headers['idempotency-key']}`
    expect(row!.state).toBe('done')
    for (const text of [row!.body, Buffer.from(row!.body, 'base64').toString('latin1')])
      expect(text).not.toContain(first.text.slice(1, 9))
    const others = [await tokenOf(app, workspace.tenantId)]
    if (o.scope !== 'session')
      others.push((await app.newKey([...scopes], workspace.tenantId)).api_key)
    for (const key of others) {
      const { status, body } = await call({ ...keyed, key, session: undefined }, o, input)
      expect([status, body.error?.code]).toEqual([422, 'idempotency_key_reused'])
    }
  },
)

describe.each(table(commands))('%s under an Idempotency-Key', (_, o) => {
  test('runs once for simultaneous callers', async () => {
    const workspace = await shared.workspaceFor(o)
    const keyed = under(workspace)
    const input = await legalInput(workspace, o)
    const before = await effects(workspace, o)
    const replies = await Promise.all(Array.from({ length: 3 }, () => call(keyed, o, input)))
    const ran = replies.filter(({ status }) => status === o.status)
    expect(new Set(ran.map(({ text }) => text)).size).toBe(1)
    for (const reply of replies.filter(({ status }) => status !== o.status))
      expect([reply.status, reply.body.error?.code]).toEqual([409, 'idempotency_in_flight'])
    expect(await effects(workspace, o)).toBe(before + 1)
  })

  test('does not remember a failure', async () => {
    const workspace = await shared.workspaceFor(o)
    const keyed = under(workspace)
    const failures = [
      ...(o.body ? [] : [{ ...sampleOf(o, 'needed'), no_such_field: 1 }]),
      ...(finds(o) ? [sampleOf(o, 'needed')] : []),
    ]
    for (const input of [...failures, ...failures]) {
      const failed = await call(keyed, o, input)
      expect(failed.status).toBe('no_such_field' in input ? 400 : 404)
      expect(failed.headers.get('idempotency-replayed')).toBeNull()
    }
    const reply = await call(keyed, o, await legalInput(workspace, o))
    expectSuccess(reply, o)
    expect(reply.headers.get('idempotency-replayed')).toBeNull()
  })
})

test('a query ignores an Idempotency-Key', async () => {
  for (const o of operations.filter(readsOnly)) {
    const workspace = await shared.workspaceFor(o)
    const input = await legalInput(workspace, o)
    for (const _ of [1, 2]) {
      const reply = await call(under(workspace, 'k'.repeat(201)), o, input)
      expectSuccess(reply, o)
      expect(reply.headers.get('idempotency-replayed')).toBeNull()
    }
  }
})
