import { expect, test } from 'bun:test'
import { newApiKey } from '#kernel/api-key'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { newLinkToken } from '#ops/app/access/links'
import { type Send, testApp } from '#test/support/app'
import { inviteTo, joinAs } from '#test/support/people'

test('keys and tokens never reach the log, wherever a caller puts them', async () => {
  const lines: string[] = []
  const log = createLog('trace', { write: (line) => void lines.push(line) })
  await using app = await testApp({ log })
  const { key } = app
  const unknown = newApiKey()
  const requests: [number, string, string, Send][] = [
    [200, 'GET', 'overview', {}],
    [401, 'GET', 'overview', { key: unknown }],
    [401, 'GET', 'overview', { key: `${key}x` }],
    [400, 'GET', `overview?api_key=${key}`, {}],
    [400, 'GET', `batches/${key}`, {}],
    [404, 'GET', `/${key}`, {}],
    [200, 'GET', 'overview', { headers: { 'x-request-id': key } }],
    [201, 'POST', 'batches', { body: { focus: key }, headers: { 'idempotency-key': key } }],
    [400, 'POST', 'batches', { body: { [key]: key } }],
  ]
  for (const [status, method, path, send] of requests)
    expect((await app.send(method, path, send)).status).toBe(status)
  const { access, refresh } = await joinAs(app)
  const invitation = await inviteTo(app)
  const reset = newLinkToken('rst')
  const browser = app.workplace.world.identity.tokens.browser(
    { personId: newId() },
    new Date(Date.now() + 60_000),
  )
  for (const secret of [access, refresh, invitation, reset, browser]) {
    await app.send('GET', `/join?token=${secret}`, {
      key: null,
      headers: { 'x-request-id': secret },
    })
    log.warn({ url: `/join?token=${secret}`, err: new Error(`no ${secret}`) }, `it was ${secret}`)
  }
  await app.owner`alter table growth_channel rename to moved`
  expect((await app.send('GET', 'overview', { headers: { 'x-request-id': unknown } })).status).toBe(
    500,
  )

  const text = lines.join('')
  expect(text).toContain('"msg":"served"')
  expect(text).toContain('"msg":"a request failed"')
  for (const secret of [key, unknown, refresh, invitation, reset, browser])
    expect(text).not.toContain(secret.slice(3, 33))
  expect(text).not.toContain(access.slice(40, 80))
})
