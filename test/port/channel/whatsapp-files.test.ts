/**
 * Files that came with messages of WhatsApp: asked for at Meta, then read where Meta keeps them.
 */
import { expect, test } from 'bun:test'
import { whatsAppAdapter } from '#port/channel/whatsapp/adapter'
import { createEgress } from '#port/egress/egress'
import { useMeta } from '#test/support/channels/adapters'
import { graphError } from '#test/support/channels/whatsapp'
import { business, NOW } from '#test/support/channels/whatsapp-posts'
import { egressTo } from '#test/support/http/egress'
import { openReceiver } from '#test/support/http/receiver'

const { meta, adapter, connection } = await useMeta()
const { signal } = new AbortController()

const body = Buffer.from([0, 255, 10, 13, 200])
meta.media.set('1003383421387256', { body, mimeType: 'text/markdown' })
meta.media.set('7', { body: Buffer.alloc(1_048_577), mimeType: 'text/plain' })
const download = (id: string) => adapter.download!(connection, { id }, signal)

test('a file is asked for, then read, each with the token', async () => {
  expect(await download('1003383421387256')).toEqual({ kind: 'fetched', value: body })
  expect(meta.requests.map(({ url }) => url.split('?')[0])).toEqual([
    '/v25.0/1003383421387256',
    '/whatsapp_business/attachments/',
  ])
  expect(meta.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${business.accessToken}`,
    `Bearer ${business.accessToken}`,
  ])
})

test.each([
  'https://evil.example/x',
  'https://lookaside.fbsbx.com.evil.example/x',
  'https://evilfbsbx.com/x',
  'http://lookaside.fbsbx.com/x',
  'https://x@lookaside.fbsbx.com/x',
  'https://lookaside.fbsbx.com:8443/x',
  'nonsense',
])('a file said to be at %s is not read: the token goes to Meta alone', async (url) => {
  meta.media.set('8', { body, mimeType: 'text/plain', url })
  expect(await download('8')).toEqual({
    kind: 'gone',
    error: 'Meta does not say where the file is',
  })
  expect(meta.requests).toHaveLength(1)
})

test('a file at Meta’s host for media is asked for there', async () => {
  meta.media.set('9', {
    body,
    mimeType: 'text/plain',
    url: 'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=9',
  })
  const names: string[] = []
  const resolve = async (name: string) => {
    names.push(name)
    return [{ address: '127.0.0.1', family: 4 }]
  }
  const egress = createEgress({
    rules: { allow: new Set([new URL(meta.urls.whatsapp).host]), own: new Set() },
    resolve,
  })
  const real = whatsAppAdapter({ egress, urls: meta.urls, now: () => NOW })
  expect(await real.download!(connection, { id: '9' }, signal)).toMatchObject({
    kind: 'gone',
    error: expect.stringContaining('not public'),
  })
  expect(names).toEqual(['lookaside.fbsbx.com'])
})

test('a file that is elsewhere now is read there, without the token', async () => {
  await using elsewhere = await openReceiver()
  elsewhere.answer = { status: 200, body: 'moved' }
  const egress = egressTo(meta.urls.whatsapp, elsewhere.url)
  const mover = whatsAppAdapter({ egress, urls: meta.urls, now: () => NOW })
  const moved = meta.media.get('1003383421387256')!
  meta.media.set('10', { ...moved, url: `${new URL(meta.urls.whatsapp).origin}/moved` })
  meta.onPath.set('/moved', { status: 302, headers: { location: elsewhere.url } })
  expect(await mover.download!(connection, { id: '10' }, signal)).toEqual({
    kind: 'fetched',
    value: Buffer.from('moved'),
  })
  expect(elsewhere.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
})

test('a file that is gone, too large, or not to be had now', async () => {
  expect((await download('404')).kind).toBe('gone')
  expect(await download('7')).toMatchObject({
    kind: 'gone',
    error: expect.stringContaining('bytes'),
  })
  for (const answer of [graphError(2, { status: 503 }), graphError(4), { raw: '' }]) {
    meta.next.push(answer)
    expect((await download('1003383421387256')).kind).toBe('unreachable')
  }
})

test('a file whose id would lead elsewhere stays an id', async () => {
  expect((await download('../me?x=1')).kind).toBe('gone')
  expect(meta.requests[0]!.url).toStartWith('/v25.0/..%2Fme%3Fx%3D1?')
})
