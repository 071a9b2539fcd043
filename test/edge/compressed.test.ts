/** The content codings of the public documents. */
import { describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { DOCUMENTS } from '#test/support/http/paths'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

describe.each([...DOCUMENTS, '/docs/swagger-ui.css'])('%s', (path) => {
  /** Requests without decompressing the answer. */
  const fetchWith = (acceptEncoding: string, more: Record<string, string> = {}, method = 'GET') =>
    fetch(`${app.url}${path}`, {
      method,
      headers: { 'accept-encoding': acceptEncoding, ...more },
      decompress: false,
    } as RequestInit)
  const unpack = {
    br: brotliDecompressSync,
    gzip: gunzipSync,
    identity: (bytes: Uint8Array) => bytes,
  }

  test.each(['br', 'gzip', 'identity'] as const)(
    'has the same content in %s, with an etag of its own, for GET and HEAD',
    async (coding) => {
      const [get, head, plain] = [
        await fetchWith(coding),
        await fetchWith(coding, {}, 'HEAD'),
        await fetchWith('identity'),
      ]
      expect(get.headers.get('content-encoding')).toBe(coding === 'identity' ? null : coding)
      const [bytes, whole] = [await get.bytes(), await plain.bytes()]
      expect(Buffer.compare(unpack[coding](bytes), whole)).toBe(0)
      if (coding !== 'identity') expect(bytes.byteLength).toBeLessThan(whole.byteLength / 5)
      for (const reply of [get, head]) expect(reply.headers.get('vary')).toBe('accept-encoding')
      for (const name of ['content-encoding', 'content-length', 'content-type', 'etag'])
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)])
      expect([get.headers.get('content-length'), (await head.bytes()).byteLength]).toEqual([
        String(bytes.byteLength),
        0,
      ])
    },
  )

  test('is not sent again in a coding that the client has, and is in another', async () => {
    const etag = async (coding: string) => (await fetchWith(coding)).headers.get('etag')!
    const tags = [await etag('br'), await etag('gzip'), await etag('identity')]
    expect(new Set(tags).size).toBe(3)
    for (const known of [tags[1]!, `W/${tags[1]}`, tags.join(', ')]) {
      const reply = await fetchWith('gzip', { 'if-none-match': known })
      expect([reply.status, reply.headers.get('etag'), reply.headers.get('vary')]).toEqual([
        304,
        tags[1]!,
        'accept-encoding',
      ])
      expect([reply.headers.get('content-encoding'), (await reply.bytes()).byteLength]).toEqual([
        null,
        0,
      ])
    }
    expect((await fetchWith('br', { 'if-none-match': tags[1]! })).status).toBe(200)
  })
})
