/**
 * Answers of operations: compressed where that is safe, and not sent again while a client's copy of
 * a record is current.
 */
import { describe, expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { operations } from '#contract/index'
import { readsOneRecord } from '#contract/op'
import { newStory } from '#test/support/growth/story'
import { tokenOf } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

/** Requests without decompressing the answer. */
const ask = (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
  fetch(`${app.url}/api/v1/${path}`, { ...init, headers, decompress: false } as RequestInit)

const withKey = (key: string, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${key}`,
  'accept-encoding': 'gzip',
  ...more,
})

describe('a single record', () => {
  test('is not sent again until it changes, and only to whoever may read it', async () => {
    const { tenantId, send, drafted } = await newStory(app)
    const [id, { id: keyId, api_key: key }] = [
      await drafted(),
      await app.newKey(['api:read'], tenantId),
    ]
    const path = `growth/items/${id}`
    const first = await ask(path, withKey(key))
    const etag = first.headers.get('etag')!
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
    expect(etag).toMatch(/^W\/"[\w-]{20,}"$/)
    for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const again = await ask(path, withKey(key, { 'if-none-match': known }))
      expect([again.status, again.headers.get('etag'), (await again.bytes()).byteLength]).toEqual([
        304,
        etag,
        0,
      ])
      expect([again.headers.get('content-encoding'), again.headers.get('content-type')]).toEqual([
        null,
        null,
      ])
    }
    await send('POST', `items/${id}/reject`)
    const changed = await ask(path, withKey(key, { 'if-none-match': etag }))
    expect([changed.status, changed.headers.get('etag') === etag]).toEqual([200, false])
    await app.owner`update api_key set revoked_at = now() where id = ${keyId}`
    const revoked = await ask(path, withKey(key, { 'if-none-match': changed.headers.get('etag')! }))
    expect([revoked.status, revoked.headers.get('etag')]).toEqual([401, null])
  })

  test('has the same tag in every coding, and none if there is no such record', async () => {
    const { key, drafted } = await newStory(app)
    const id = await drafted()
    const [gzip, plain] = [
      await ask(`growth/items/${id}`, withKey(key)),
      await ask(`growth/items/${id}`, withKey(key, { 'accept-encoding': 'identity' })),
    ]
    expect(gzip.headers.get('etag')).toBe(plain.headers.get('etag')!)
    const unknown = await ask(
      `growth/items/${Bun.randomUUIDv7()}`,
      withKey(key, { 'if-none-match': '*' }),
    )
    expect([
      unknown.status,
      unknown.headers.get('etag'),
      unknown.headers.get('cache-control'),
    ]).toEqual([404, null, 'no-store'])
  })

  test('is what every read by an id gives, and no list', () => {
    const tagged = operations.filter(readsOneRecord).map(({ id }) => id)
    for (const id of [
      'growth.items.get',
      'growth.batches.get',
      'growth.rules.get',
      'agent.jobs.get',
    ])
      expect(tagged).toContain(id)
    for (const id of [
      'growth.items.list',
      'growth.overview.get',
      'agent.jobs.events',
      'agent.conversations.messages',
    ])
      expect(tagged).not.toContain(id)
  })
})

describe('compression', () => {
  test('of answers over a kilobyte, to clients that accept it', async () => {
    const { key } = await newStory(app)
    const [gzip, plain] = [
      await ask('growth/overview', withKey(key)),
      await ask('growth/overview', withKey(key, { 'accept-encoding': 'br' })),
    ]
    expect([gzip.headers.get('content-encoding'), plain.headers.get('content-encoding')]).toEqual([
      'gzip',
      null,
    ])
    for (const { headers } of [gzip, plain])
      expect([headers.get('vary'), headers.get('cache-control')]).toEqual([
        'accept-encoding',
        'no-store',
      ])
    const [packed, whole] = [await gzip.bytes(), await plain.bytes()]
    expect(JSON.parse(gunzipSync(packed).toString())).toEqual(
      JSON.parse(new TextDecoder().decode(whole)),
    )
    expect(packed.byteLength).toBeLessThan(whole.byteLength / 2)
    const small = await ask('growth/automation', withKey(key))
    expect([small.headers.get('content-encoding'), small.headers.get('vary')]).toEqual([null, null])
  })

  test('of commands, too, and never of an answer with a secret', async () => {
    const { tenantId, key } = await newStory(app)
    const token = await tokenOf(app, tenantId)
    const json = { 'content-type': 'application/json' }
    const rule = {
      name: 'x'.repeat(150),
      trigger: { kind: 'item_posted' },
      action: { kind: 'draft_batch', focus: 'y'.repeat(1_900) },
    }
    const made = await ask('growth/rules', withKey(key, json), {
      method: 'POST',
      body: JSON.stringify(rule),
    })
    expect([made.status, made.headers.get('content-encoding')]).toEqual([201, 'gzip'])
    const goal = { name: 'Inbound', goal: 'z'.repeat(1_900) }
    const posting = (path: string, body: object) =>
      ask(path, withKey(token, json), { method: 'POST', body: JSON.stringify(body) })
    const { id } = JSON.parse(
      await (await posting('actions/create_webhook_rule', goal)).text(),
    ).result
    const secret = await posting(`agent/webhook-rules/${id}/rotate`, {})
    const bytes = await secret.bytes()
    expect([
      secret.status,
      bytes.byteLength > 1_024,
      secret.headers.get('content-encoding'),
    ]).toEqual([200, true, null])
  })
})
