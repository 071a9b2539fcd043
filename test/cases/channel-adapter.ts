/** What the adapter of every provider of a channel must do. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChannelAdapter, InboundPost, OpenConnection, Outgoing } from '#port/channel/channel'
import { runs } from '#test/support/property'

type Made<T> = T | Promise<T>
type Credentials = Record<string, string>
/** By the name of what is tried. */
type Cases<T> = Readonly<Record<string, T>>

/** `F`: how the server that plays the provider fails. */
export interface AdapterCase<F> {
  adapter: ChannelAdapter
  connection: OpenConnection
  posts: {
    /** Posts for connections with these credentials, signed with their secret. */
    keyless: readonly (readonly [Credentials, () => Made<InboundPost>])[]
    /** Posts with arbitrary bytes, without a signature. */
    anything: fc.Arbitrary<InboundPost>
    /** The most characters of a text that are read. */
    longest?: number
  }
  routingKeys: { read: Cases<string>; refused: readonly string[] }
  calls: {
    message: Outgoing
    /** The requests that the provider received. */
    requests: readonly unknown[]
    /** The outcome of the next request. */
    fail(failure: F): void
    /** The outcome of the next message, which takes one request. */
    outcomes: Cases<readonly [F, object]>
    /** Failures in which the provider repeats secrets that nobody may read. */
    leaks: { secret: string; failures: readonly F[] }
    /** Nothing is requested for these credentials and addresses. */
    unaddressed: Cases<readonly [Partial<Outgoing>, Credentials?]>
  }
  check: {
    /** What replaces the connection's own values, and what is then said of it. */
    refused: Cases<readonly [Partial<OpenConnection>, string]>
    unreachable: Cases<F>
  }
}

const { signal } = new AbortController()

const posts = <F>({ adapter, connection, posts: given, routingKeys }: AdapterCase<F>): void => {
  test('nothing is believed for a connection without a secret, or with one that can be guessed', async () => {
    for (const [credentials, make] of given.keyless)
      expect(adapter.verify(await make(), { ...connection, credentials })).toBe(false)
  })

  test('whatever the bytes and headers are, nothing throws, and only what is signed is taken', () => {
    fc.assert(
      fc.property(given.anything, (post) => {
        expect(adapter.verify(post, connection)).toBe(false)
        expect(adapter.verify(post, { ...connection, config: {} })).toBe(false)
        expect(['handshake', 'keys', 'unknown']).toContain(adapter.route(post).kind)
        for (const { sender, eventIds, thread, text } of adapter.read(post, connection)) {
          const longest = Math.max(...[sender.id, thread, ...eventIds].map(({ length }) => length))
          expect(longest).toBeLessThanOrEqual(320)
          expect((text ?? '').length).toBeLessThanOrEqual(given.longest ?? 100_000)
        }
      }),
      runs(500),
    )
  })

  test.each(Object.entries(routingKeys.read))('the routing key %p is %p', (text, key) => {
    expect(adapter.routingKeyOf(text)).toEqual({ key })
  })

  test.each([...routingKeys.refused])('the routing key %p is refused', (text) => {
    expect(adapter.routingKeyOf(text)).toEqual({ error: expect.any(String) })
  })
}

const calls = <F>({ adapter, connection, calls: given, check }: AdapterCase<F>): void => {
  const { message, requests, fail } = given
  const send = (more: Partial<Outgoing> = {}, by = connection) =>
    adapter.send(by, { ...message, ...more }, signal)

  test.each(Object.entries(given.outcomes))(
    'a message comes to what the provider says: %s',
    async (_, [failure, outcome]) => {
      const before = requests.length
      fail(failure)
      const sent = await send()
      expect(sent).toMatchObject(outcome)
      if (!('retryAfterMs' in outcome)) expect(sent).not.toHaveProperty('retryAfterMs')
      expect(requests).toHaveLength(before + 1)
    },
  )

  test('errors hold nothing of the credentials, and no text of the provider', async () => {
    for (const failure of given.leaks.failures) {
      fail(failure)
      expect(JSON.stringify(await send())).not.toContain(given.leaks.secret)
    }
  })

  test.each(Object.entries(given.unaddressed))(
    'nothing is asked with %s',
    async (_, [more, credentials]) => {
      const before = requests.length
      const by = credentials ? { ...connection, credentials } : connection
      const of = credentials ? 'connection' : 'message'
      expect(await send(more, by)).toMatchObject({ kind: 'refused', of })
      expect(requests).toHaveLength(before)
    },
  )

  test.each(Object.entries(check.refused))('the check refuses %s', async (_, [changes, error]) => {
    expect(await adapter.check({ ...connection, ...changes }, signal)).toEqual({
      kind: 'refused',
      error: expect.stringContaining(error),
    })
  })

  test.each(Object.entries(check.unreachable))(
    'the check proves and refuses nothing if the provider says %s',
    async (_, failure) => {
      fail(failure)
      expect(await adapter.check(connection, signal)).toMatchObject({ kind: 'unreachable' })
    },
  )
}

export const adapterCases = <F>(it: AdapterCase<F>): void => {
  describe('posts', () => posts(it))
  describe('calls', () => calls(it))
}

/** The possible outcomes of a message. */
export const unsent = (retryAfterMs?: number) => ({
  kind: 'unsent',
  ...(retryAfterMs && { retryAfterMs }),
})
export const refused = (of: 'message' | 'connection', error?: string) => ({
  kind: 'refused',
  of,
  error: error ?? expect.any(String),
})
export const unknown = { kind: 'unknown', error: expect.any(String) }
