/**
 * A webhook's address: which are refused, and who sees one, as it may contain a token of its
 * receiver: the audit trail stores none whole.
 */

import { beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { operations } from '#contract/index'
import { pathParams } from '#contract/op'
import type { Role } from '#kernel/roles'
import { hosts, urls } from '#test/port/egress/forms'
import { eventually } from '#test/support/app'
import { openCanary } from '#test/support/http/canary'
import { openReceiver } from '#test/support/http/receiver'
import { signedIn } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const PATH = '/api/v1/app/webhook'
const TOKEN = 'T0-s3cret'

const receiver = use(openReceiver)
let url: string
let host: string
beforeAll(() => {
  host = `127.0.0.1:${receiver.port}`
  url = `http://${host}/services/${TOKEN}?k=${TOKEN}`
})
const app = useApp(() => ({
  env: {
    PUBLIC_URL: 'https://tendril.example.com',
    NODE_URL: 'https://node.example.com:7443',
    EGRESS_ALLOW: host,
  },
}))

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A workspace with an endpoint that was set, changed, tested and, by its receiver, disabled. */
const workspaceWithWebhook = async () => {
  const { tenantId } = await app.newWorkspace()
  const people = Object.fromEntries(
    await Promise.all(
      (['owner', 'editor', 'approver', 'viewer'] as const).map(async (role) => [
        role,
        (await signedIn(app, tenantId, role)).key,
      ]),
    ),
  ) as Record<Role, string>
  const asOwner = (method: string, below = '', body?: object) =>
    app.send(method, `${PATH}${below}`, { key: people.owner, ...(body ? { body } : {}) })
  expect((await asOwner('PUT', '', { url })).body.webhook).toMatchObject({ url, host })
  expect((await asOwner('PATCH', '', { events: [] })).body.webhook).toMatchObject({ url, host })
  receiver.answer = { status: 410 }
  await asOwner('POST', '/test')
  await eventually(
    () => asOwner('GET'),
    ({ body }) => body.webhook.status === 'disabled',
  )
  return { tenantId, people, asOwner }
}

test('viewers, editors and approvers see the host of the webhook, not its address', async () => {
  const { people } = await workspaceWithWebhook()
  expect((await app.send('GET', PATH, { key: people.owner })).body.webhook).toMatchObject({
    url,
    host,
  })
  for (const role of ['viewer', 'editor', 'approver'] as const)
    expect((await app.send('GET', PATH, { key: people[role] })).body.webhook).toMatchObject({
      url: null,
      host,
      status: 'disabled',
    })
})

test('no answer that a viewer can read contains the address, and only two of the owner’s do', async () => {
  const { people } = await workspaceWithWebhook()
  const readable = operations.filter(
    ({ method, path }) => method === 'GET' && pathParams(path).length === 0,
  )
  const withAddress: Record<string, string[]> = { viewer: [], owner: [] }
  for (const role of ['viewer', 'owner'] as const)
    for (const { id, path } of readable)
      if ((await app.send('GET', path, { key: people[role] })).text.includes(TOKEN))
        withAddress[role]!.push(id)
  expect(withAddress).toEqual({ viewer: [], owner: ['app.workspace.export', 'app.webhook.get'] })
})

test('the audit trail stores the host of an address and its hash', async () => {
  const { people, asOwner, tenantId } = await workspaceWithWebhook()
  await asOwner('PATCH', '', { url })
  await asOwner('DELETE')
  const { body } = await app.send('GET', '/api/v1/app/audit', { key: people.owner })
  const traces = { url_host: host, url_sha256: sha256(url) }
  const about = body.entries.filter(
    ({ operation }: { operation: string }) =>
      operation.includes('webhook') && !operation.endsWith('.test'),
  )
  expect(about.map(({ operation }: { operation: string }) => operation).sort()).toEqual(
    [
      'app.webhook.disable',
      'app.webhook.set',
      'app.webhook.update',
      'app.webhook.update',
      'webhook.disabled',
    ].sort(),
  )
  for (const { detail } of about) expect(detail).toMatchObject(traces)
  for (const { operation, who, surface } of about)
    if (operation.startsWith('app.')) expect([who.kind, surface]).toEqual(['person', 'rest'])
  const disabled = about.find(
    ({ operation }: { operation: string }) => operation === 'webhook.disabled',
  )
  expect(disabled).toMatchObject({
    who: { kind: 'system', id: 'lane' },
    detail: { reason: 'the receiver returned 410 Gone' },
  })
  const rows =
    await app.owner`select detail::text as detail from audit where tenant_id = ${tenantId}`
  for (const { detail } of rows) expect(detail).not.toContain(TOKEN)
})

test.each([
  ['http://hooks.example.com/', 'https'],
  ['https://localhost/', 'public'],
  ['https://169.254.169.254/latest/meta-data/', 'public'],
  ['https://[::ffff:10.0.0.1]/', 'public'],
  ['https://u:p@hooks.example.com/', ''],
  ['nonsense', ''],
])(
  '%s is refused when the endpoint is set and when its address is changed',
  async (wrong, word) => {
    const { asOwner } = await workspaceWithWebhook()
    for (const method of ['PUT', 'PATCH']) {
      const { status, body } = await asOwner(method, '', { url: wrong })
      expect([status, body.error.code]).toEqual([400, 'invalid_input'])
      expect(body.error.details).toEqual([{ path: 'url', message: expect.stringContaining(word) }])
    }
    expect((await asOwner('GET')).body.webhook.url).toBe(url)
  },
)

test('no spelling of a forbidden address is accepted, and none is called', async () => {
  await using canary = await openCanary()
  const { key } = await signedIn(app, (await app.newWorkspace()).tenantId)
  for (const form of [...hosts.map((one) => `https://${one}:P/`), ...urls]) {
    const { status, body } = await app.send('PUT', PATH, {
      key,
      body: { url: form.replaceAll(':P', `:${canary.port}`) },
    })
    expect([form, status, body.error.code, body.error.details[0].path]).toEqual([
      form,
      400,
      'invalid_input',
      'url',
    ])
  }
  expect([canary.hits(), (await app.send('GET', PATH, { key })).status]).toEqual([0, 404])
})
