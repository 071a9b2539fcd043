/**
 * What is secret stands nowhere in the clear: neither in a row, nor in what a model, a person, a
 * webhook's receiver or the log gets to see, except where it is shown once.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createLog } from '#kernel/log'
import { scopes } from '#kernel/scopes'
import { newWebhookSecret } from '#port/webhook'
import { encodeBody } from '#store/engine/idempotency'
import { secretPlaces, WISH } from '#test/support/agent/secret-places'
import { openReceiver } from '#test/support/http/receiver'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { secretsIn, secretsInTables } from '#test/support/texts/secrets'
import { use, useApp } from '#test/support/use'

const MODEL_KEY = 'sk-canary-of-the-model-0123456789abcdef'
const lines: string[] = []
const model = use(() => createFakeOpenAi())
const receiver = use(openReceiver)
const app = useApp(() => ({
  env: {
    OPENAI_API_KEY: MODEL_KEY,
    OPENAI_BASE_URL: model.url,
    EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
  },
  log: createLog('trace', { write: (line) => void lines.push(line) }),
}))

const { secrets, shown, rules, visit, tenantId } = secretPlaces({
  app,
  model,
  modelKey: MODEL_KEY,
  receiver,
})
beforeAll(visit, 180_000)

const rule0 = () => rules[0]!.id
const prompts = (): string =>
  JSON.stringify([...model.chats, ...model.calls].map(({ body }) => body))

describe('no secret stands', () => {
  test('in a row of any table, in any form', async () => {
    expect(await secretsInTables(app.owner, secrets)).toEqual([])
    expect(await secretsInTables(app.owner, { rule: rule0() })).toContain('webhook_rule: rule')
  })

  test('in what a model was asked', () => {
    expect(secretsIn(prompts(), secrets)).toEqual([])
    expect(prompts()).toContain(rules[0]!.path)
  })

  test('in anything that is shown of jobs, rules and people, in an export, or in an event', () => {
    const found = Object.entries(shown).flatMap(([where, text]) =>
      secretsIn(text, secrets).map((name) => `${where}: ${name}`),
    )
    expect(found).toEqual([])
    const places = Object.entries(shown).filter(([, text]) =>
      rules.some(({ id }) => text.includes(id)),
    )
    expect(places.map(([where]) => where.replaceAll(/[0-9a-f-]{36}/g, 'ID'))).toEqual(
      expect.arrayContaining([
        'rules by MCP',
        'jobs/ID',
        'webhook-rules',
        'workspace/export',
        'audit',
        'audit/export',
      ]),
    )
    expect(receiver.requests.map(({ body }) => JSON.parse(body).type)).toContain(
      'growth.approval.requested',
    )
  })

  test('where a direct call is kept, which only its caller can repeat', async () => {
    const { api_key: other } = await app.newKey([...scopes], tenantId())
    const again = {
      key: other,
      body: { name: 'Direct', ...WISH },
      headers: { 'idempotency-key': 'once' },
    }
    expect((await app.send('POST', '/api/v1/actions/create_webhook_rule', again)).status).toBe(422)
    const kept = Object.values(shown).filter(
      (text) => text.includes('shown to the person') && text.includes('"kind":"action"'),
    )
    expect(kept.length).toBeGreaterThan(0)
  })

  test('in the log', () => {
    const log = lines.join('')
    expect(secretsIn(log, secrets)).toEqual([])
    for (const said of ['"msg":"served"', '"msg":"model call failed"'])
      expect([said, log.includes(said)]).toEqual([said, true])
  })
})

test('a secret would be found in any form', async () => {
  const [secret, name] = [newWebhookSecret(), 'planted']
  const bytes = Buffer.from(secret)
  const long = encodeBody(`${secret}${randomBytes(9_000).toString('hex')}`)
  await app.owner`insert into idempotency (tenant_id, key, operation, fingerprint, state, status,
    encoding, body, counted, created_at, expires_at)
    select tenant_id, 'planted', 'test', fingerprint, state, status, ${long.encoding}, ${long.body},
      0, created_at, expires_at
    from idempotency limit 1`
  await app.owner`create table planted as select * from (values (${JSON.stringify({ secret })}),
    (${bytes.toString('hex')}),
    (${Buffer.from(`{"secret":"${secret}"}`).toString('base64')}),
      (${Buffer.from(`key=${secret}`).toString('base64url')}),
    (${encodeURIComponent(secret)}),
      (${Buffer.from(secret.slice('whsec_'.length), 'base64').toString('hex')})) v (text)`
  const rows = await app.owner<{ text: string }[]>`select text from planted`
  for (const { text } of rows)
    expect([text, secretsIn(text, { [name]: secret })]).toEqual([text, [name]])
  await app.owner`create table planted_bytes as select ${bytes}::bytea as bytes`
  const found = await secretsInTables(app.owner, { [name]: secret })
  await app.owner`drop table planted, planted_bytes`
  await app.owner`delete from idempotency where key = 'planted'`
  expect(found).toEqual(['planted: planted', 'planted_bytes: planted', 'answer of test: planted'])
})
