/** What an operator is told of a bucket; and that the storage of these tests believes nobody. */
import { afterEach, describe, expect, test } from 'bun:test'
import { type Bucket, openBucket } from '#port/files/s3/bucket'
import { flawOfBucket } from '#port/files/s3/check'
import { type Asked, openS3 } from '#test/support/s3/server'
import { use } from '#test/support/use'

const s3 = use(openS3)
afterEach(() => {
  s3.fault = () => undefined
  s3.refused.length = 0
})

type Settings = typeof s3.settings

/** Long enough for a storage that answers, on a machine that is busy. */
const WAIT_MS = 1_500

const withBucket = async <T>(
  settings: Partial<Settings>,
  work: (bucket: Bucket) => Promise<T>,
): Promise<T> => {
  using bucket = await openBucket(
    { ...s3.settings, ...settings },
    { requestMs: WAIT_MS, restMs: 5 },
  )
  return await work(bucket)
}

const flaw = (settings: Partial<Settings> = {}) => withBucket(settings, flawOfBucket)

const failing = (status: number, code: string, when: (asked: Asked) => boolean) => {
  s3.fault = (asked) => (when(asked) ? { status, code } : undefined)
}

describe('the check of a bucket', () => {
  test('finds nothing wrong with a good one, and leaves nothing there', async () => {
    const there = async () => [await s3.disk.keys(), await s3.disk.uploads()]
    const before = await there()
    expect(await flaw()).toBeUndefined()
    expect(await there()).toEqual(before)
  })

  test.each<[string, Partial<Settings>, string]>([
    ['an unknown key', { accessKeyId: 'SOMEBODY' }, 'the storage does not know S3_ACCESS_KEY_ID'],
    [
      'a wrong secret',
      { secretAccessKey: 'wrong' },
      'S3_SECRET_ACCESS_KEY is not the secret of S3_ACCESS_KEY_ID',
    ],
    [
      'another bucket',
      { bucket: 'elsewhere' },
      'there is no bucket elsewhere at http://127.0.0.1:',
    ],
    [
      'another region',
      { region: 'us-east-9' },
      'is not in the region us-east-9, or not at this address: set S3_REGION',
    ],
    [
      'a port where nothing listens',
      { endpoint: 'http://127.0.0.1:9' },
      'http://127.0.0.1:9 cannot be reached: ',
    ],
    [
      'a host that does not exist',
      { endpoint: 'http://nowhere.invalid' },
      'http://nowhere.invalid cannot be reached: ',
    ],
  ])('tells of %s', async (_, settings, text) => {
    expect(await flaw(settings)).toContain(text)
    expect(await flaw(settings)).toStartWith('storing an object failed: ')
  })

  test.each<[string, (asked: Asked) => boolean]>([
    [
      'storing an object',
      ({ method, query }) => method === 'PUT' && query.get('x-id') === 'PutObject',
    ],
    ['reading a part of it', ({ method, query }) => method === 'GET' && !query.has('uploads')],
    ['beginning an upload in parts', ({ method }) => method === 'POST'],
    ['ending it', ({ method, query }) => method === 'DELETE' && query.has('uploadId')],
    [
      'listing uploads that were not finished',
      ({ method, query }) => method === 'GET' && query.has('uploads'),
    ],
    ['deleting an object', ({ method, query }) => method === 'DELETE' && !query.has('uploadId')],
  ])('tells if the key has no right for %s', async (doing, when) => {
    failing(403, 'AccessDenied', when)
    expect(await flaw()).toBe(
      `${doing} failed: S3_ACCESS_KEY_ID has no right to do this in the bucket ${s3.settings.bucket}`,
    )
  })

  test('tells of a storage that gives other bytes, hangs, or is out of order', async () => {
    s3.fault = ({ method }) => (method === 'GET' ? { change: 5 } : undefined)
    expect(await flaw()).toBe('reading a part of it gave other bytes than were stored')
    s3.fault = ({ method }) => (method === 'PUT' ? 'hang' : undefined)
    expect(await flaw()).toBe(
      `storing an object failed: ${s3.settings.endpoint} has not answered for ${WAIT_MS / 1_000} seconds`,
    )
    failing(500, 'InternalError', () => true)
    expect(await flaw()).toBe('storing an object failed: the storage answered 500 InternalError')
  })
})

describe('the storage of these tests', () => {
  interface Sent {
    url: string
    headers: Record<string, string>
    body: string
  }

  /** Sends a request that the client has signed, with some of it changed. */
  const tampered = async (change: (sent: Sent) => Partial<Sent>): Promise<string> => {
    const { port, first } = recorder()
    await withBucket({ endpoint: `http://127.0.0.1:${port}` }, (bucket) =>
      bucket.put('of/mine', Buffer.from('bytes'), AbortSignal.timeout(30_000)).catch(() => {}),
    )
    const sent = { ...(await first), body: 'bytes' }
    const { url, ...rest } = { ...sent, ...change(sent) }
    const response = await fetch(`${s3.settings.endpoint}${url}`, { method: 'PUT', ...rest })
    return response.ok
      ? 'taken'
      : (/<Code>(\w+)/.exec(await response.text())?.[1] ?? String(response.status))
  }

  /** Keeps the first request that comes to it. */
  const recorder = () => {
    const { promise, resolve } = Promise.withResolvers<Omit<Sent, 'body'>>()
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname, search } = new URL(request.url)
        resolve({ url: `${pathname}${search}`, headers: Object.fromEntries(request.headers) })
        return new Response(null, { status: 400 })
      },
    })
    return { port: server.port!, first: promise.finally(() => server.stop()) }
  }

  const headed = ({ headers }: Sent, more: Record<string, string>) => ({
    headers: { ...headers, ...more },
  })

  test.each<[string, (sent: Sent) => Partial<Sent>, string]>([
    ['as it was signed', () => ({}), 'taken'],
    ['with another body', () => ({ body: 'Bytes' }), 'XAmzContentSHA256Mismatch'],
    [
      'with another key',
      ({ url }) => ({ url: url.replace('mine', 'hers') }),
      'SignatureDoesNotMatch',
    ],
    ['with another query', ({ url }) => ({ url: `${url}&acl=` }), 'SignatureDoesNotMatch'],
    [
      'with one header more',
      (sent) => headed(sent, { 'x-amz-acl': 'public-read' }),
      'AccessDenied',
    ],
    [
      'with an old date',
      (sent) => headed(sent, { 'x-amz-date': '20200101T000000Z' }),
      'RequestTimeTooSkewed',
    ],
    ['without a signature', (sent) => headed(sent, { authorization: '' }), 'AccessDenied'],
  ])('takes a request %s, or says why not', async (_, change, verdict) => {
    expect(await tampered(change)).toBe(verdict)
  })
})
