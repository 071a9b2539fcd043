/**
 * The HTTP client for addresses that tenants chose: what it never calls, and how it calls the rest.
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createEgress, type Egress, type EgressRequest } from '#port/egress/egress'
import { EgressRefused } from '#port/egress/target'
import { openCanary } from '#test/support/http/canary'
import { openReceiver } from '#test/support/http/receiver'
import { use } from '#test/support/use'
import { hosts, resolving, urls } from './forms.ts'

const own = new Set(['tendril.example.com:443', 'node.example.com:7443'])

/** Names that were resolved. */
let lookups: string[] = []

const canary = use(openCanary)
const receiver = use(openReceiver)
beforeEach(() => {
  lookups = []
})

const resolve = async (hostname: string) => {
  lookups.push(hostname)
  const addresses = resolving[hostname] ?? ['127.0.0.1', '::1']
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

const egressTo = (allow: string[] = [], more: { ca?: string } = {}): Egress =>
  createEgress({ rules: { allow: new Set(allow), own }, resolve, ...more })

const post = (url: string, more: Partial<EgressRequest> = {}): EgressRequest => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"a":"é"}',
  deadlineMs: 5_000,
  maxBytes: 1_000,
  ...more,
})

/** `refused` if nothing was sent; otherwise the status, or how it failed. */
const outcomeOf = async (egress: Egress, url: string): Promise<string | number> => {
  try {
    return (await egress.send(post(url))).status
  } catch (cause) {
    return cause instanceof EgressRefused ? 'refused' : String(cause)
  }
}

describe('never calls', () => {
  test('this machine: the canary does notice calls', async () => {
    const before = canary.hits()
    expect(
      await outcomeOf(egressTo([`127.0.0.1:${canary.port}`]), `http://127.0.0.1:${canary.port}/`),
    ).toBe(204)
    expect(canary.hits()).toBe(before + 1)
  })

  const here = (text: string): string => text.replace(/:P/g, `:${canary.port}`)

  test.each(hosts)('the host %s', async (host) => {
    const before = canary.hits()
    expect(await outcomeOf(egressTo(), here(`https://${host}:P/`))).toBe('refused')
    expect([canary.hits() - before, lookups]).toEqual([0, []])
  })

  test.each(Object.keys(resolving))('the name %s, because of its addresses', async (name) => {
    const before = canary.hits()
    expect(await outcomeOf(egressTo(), here(`https://${name}:P/`))).toBe('refused')
    expect([canary.hits() - before, lookups]).toEqual([0, [name]])
  })

  test.each(urls.map((url) => [JSON.stringify(url).slice(0, 80), url]))(
    'the URL %s',
    async (_, url) => {
      const before = canary.hits()
      expect(await outcomeOf(egressTo(), here(url))).toBe('refused')
      expect([canary.hits() - before, lookups]).toEqual([0, []])
    },
  )

  test('the neighbour of an exempt pair: another port, host or spelling', async () => {
    const egress = egressTo([`127.0.0.1:${receiver.port}`])
    const before = canary.hits()
    for (const host of [
      '127.0.0.1:P',
      'localhost:P',
      `localhost:${receiver.port}`,
      `[::1]:${receiver.port}`,
      `127.0.0.2:${receiver.port}`,
    ])
      expect([host, await outcomeOf(egress, here(`http://${host}/`))]).toEqual([host, 'refused'])
    expect(canary.hits()).toBe(before)
    expect(receiver.requests).toEqual([])
  })

  test.each([301, 302, 303, 307, 308])(
    'the target of a %i: the redirect is the answer',
    async (status) => {
      const egress = egressTo([`127.0.0.1:${receiver.port}`])
      const before = canary.hits()
      for (const location of [
        `http://127.0.0.1:${canary.port}/`,
        `//localhost:${canary.port}/`,
        'file:///etc/passwd',
        '/again',
      ]) {
        receiver.answer = { status, headers: { location } }
        expect(await outcomeOf(egress, receiver.url)).toBe(status)
      }
      expect(canary.hits()).toBe(before)
      expect(receiver.requests.splice(0)).toHaveLength(4)
    },
  )
})

describe('an allowed address', () => {
  test('gets the exact bytes, once, on a connection of its own, under the name in the URL', async () => {
    const egress = egressTo([`receiver.example.com:${receiver.port}`])
    receiver.answer = { status: 201, headers: { 'retry-after': '7' }, body: 'thanks' }
    const url = `http://receiver.example.com:${receiver.port}/hook?a=b%20c`
    const answer = await egress.send(post(url))
    expect({ ...answer, headers: answer.headers['retry-after'] }).toEqual({
      status: 201,
      headers: '7',
      body: 'thanks',
      complete: true,
    })
    const [request, ...others] = receiver.requests.splice(0)
    expect(others).toEqual([])
    expect(request).toMatchObject({ method: 'POST', url: '/hook?a=b%20c', body: '{"a":"é"}' })
    expect(request!.headers).toMatchObject({
      host: `receiver.example.com:${receiver.port}`,
      'content-length': '10',
      connection: 'close',
    })
    expect(lookups).toEqual(['receiver.example.com'])
  })

  test('is resolved once for each call, whatever it resolved to before', async () => {
    const answers = [['127.0.0.1'], ['fd00:ec2::254'], []]
    const rebinding = createEgress({
      rules: { allow: new Set([`exempt.example.com:${receiver.port}`]), own },
      resolve: async () =>
        (answers.shift() ?? []).map((address) => ({
          address,
          family: address.includes(':') ? 6 : 4,
        })),
    })
    receiver.answer = { status: 200 }
    expect(await outcomeOf(rebinding, `http://exempt.example.com:${receiver.port}/`)).toBe(200)
    expect(await outcomeOf(rebinding, `https://exempt.example.com:${canary.port}/`)).toBe('refused')
    expect(await outcomeOf(rebinding, `http://exempt.example.com:${receiver.port}/`)).toBe(
      'refused',
    )
    expect(receiver.requests.splice(0)).toHaveLength(1)
  })

  test('has its answer read up to the limit and no further', async () => {
    const egress = egressTo([`127.0.0.1:${receiver.port}`])
    receiver.answer = { status: 200, body: 'x'.repeat(5_000_000) }
    const long = await egress.send(post(receiver.url))
    expect([long.status, long.body.length, long.complete]).toEqual([200, 1_000, false])
    receiver.answer = { status: 200, body: 'x'.repeat(1_000) }
    const exact = await egress.send(post(receiver.url))
    expect([exact.body.length, exact.complete]).toEqual([1_000, true])
    receiver.requests.splice(0)
  })

  test('is given up at the deadline, without an answer or midway', async () => {
    const egress = egressTo([`127.0.0.1:${receiver.port}`])
    receiver.answer = { hang: 'before' }
    expect(
      await egress.send(post(receiver.url, { deadlineMs: 50 })).catch((cause) => cause.name),
    ).toBe('TimeoutError')
    receiver.answer = { hang: 'within', status: 200, body: 'half' }
    expect(await egress.send(post(receiver.url, { deadlineMs: 1_500 }))).toMatchObject({
      status: 200,
      body: 'half',
      complete: false,
    })
    receiver.requests.splice(0)
  })

  test('is given up when the caller aborts, before or during the call', async () => {
    const egress = egressTo([`127.0.0.1:${receiver.port}`])
    const stopped = new AbortController()
    receiver.answer = { hang: 'before' }
    const sending = egress
      .send(post(receiver.url, { signal: stopped.signal }))
      .catch((cause) => cause.message)
    await receiver.received(1)
    stopped.abort(new Error('stopping'))
    expect(await sending).toBe('stopping')
    receiver.requests.splice(0)
    expect(
      await egress
        .send(post(receiver.url, { signal: stopped.signal }))
        .catch((cause) => cause.message),
    ).toBe('stopping')
    expect(receiver.requests).toEqual([])
  })

  test('that never resolves is given up too', async () => {
    const egress = createEgress({
      rules: { allow: new Set(), own },
      resolve: () => new Promise(() => {}),
    })
    const sending = egress.send(post('https://slow.example.com/', { deadlineMs: 50 }))
    expect(await sending.catch((cause) => cause.name)).toBe('TimeoutError')
  })

  test('gives an error when nothing listens, or when it breaks off or changes the protocol', async () => {
    const egress = egressTo([`127.0.0.1:${receiver.port}`, '127.0.0.1:1'])
    expect(await egress.send(post('http://127.0.0.1:1/')).catch((cause) => cause.code)).toBe(
      'ECONNREFUSED',
    )
    for (const raw of [
      '',
      'nonsense\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    ]) {
      receiver.answer = { raw }
      expect(await outcomeOf(egress, receiver.url)).toMatch(/Error/)
    }
    receiver.requests.splice(0)
  })

  test('gets no header that would be two', async () => {
    const egress = egressTo([`127.0.0.1:${receiver.port}`])
    const sending = async () =>
      egress.send(post(receiver.url, { headers: { 'x-a': 'b\r\nx-c: d' } }))
    expect(await sending().catch((cause) => cause.code)).toBe('ERR_INVALID_CHAR')
    expect(receiver.requests).toEqual([])
  })
})

test('https requires a certificate for the exact name', async () => {
  const pem = (kind: string) => readFileSync(`test/data/tls/hooks.example.com.${kind}.pem`, 'utf8')
  const server = createTlsServer({ key: pem('key'), cert: pem('cert') }, (_, response) =>
    response.end('ok'),
  )
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const allow = [`hooks.example.com:${port}`, `other.example.com:${port}`]
  const code = (egress: Egress, host: string) =>
    egress.send(post(`https://${host}:${port}/`)).catch((cause) => cause.code)
  expect(await code(egressTo(allow, { ca: pem('cert') }), 'hooks.example.com')).toMatchObject({
    status: 200,
    body: 'ok',
  })
  expect(await code(egressTo(allow, { ca: pem('cert') }), 'other.example.com')).toBe(
    'ERR_TLS_CERT_ALTNAME_INVALID',
  )
  expect(await code(egressTo(allow), 'hooks.example.com')).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
  await new Promise((done) => server.close(done))
})
