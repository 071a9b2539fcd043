/** How reads of many workspaces share a server. */
import { expect, test } from 'bun:test'
import type { Egress, EgressRequest, EgressStream } from '#port/egress/egress'
import { HostTurns } from '#port/network/bluesky/host-turns'
import { manualClock, settled } from '#test/support/actors/manual-clock'
import { json, keyFor, never, openScripted, posting } from './scripted.ts'

const at = (host: string): EgressRequest => ({
  url: `https://${host}/xrpc/x`,
  method: 'GET',
  headers: {},
  body: '',
  deadlineMs: 1_000,
  maxBytes: 1_000,
  signal: never(),
})

const opened = (headers: EgressStream['headers'] = {}) => {
  const clock = manualClock()
  const turns = new HostTurns(clock)
  const called: string[] = []
  const told = { headers }
  const read = (party: string, host = 'pds.test') => {
    const open = async (): Promise<EgressStream> => {
      called.push(party)
      return { status: 200, headers: told.headers, body: new ReadableStream() }
    }
    return turns
      .egressFor(party, { open } as unknown as Egress)
      .open(at(host))
      .then(
        () => 'read',
        ({ name }: Error) => name,
      )
  }
  return { clock, called, read, told }
}

test('eight reads a second reach a server, by turns: a flood delays nobody for longer than a round', async () => {
  const { clock, called, read } = opened()
  const flood = Array.from({ length: 300 }, () => read('flood'))
  const others = Array.from({ length: 10 }, (_, nth) => read(`other ${nth}`))
  const elsewhere = read('elsewhere', 'other.test')
  await settled()
  expect(called.toSorted()).toEqual(['elsewhere', ...Array<string>(8).fill('flood')])
  await clock.advance(1_000)
  expect(called).toHaveLength(17)
  await clock.advance(1_000)
  expect(called).toHaveLength(25)
  expect(new Set(called).size).toBe(12)
  expect(new Set(await Promise.all([...others, elsewhere]))).toEqual(new Set(['read']))
  await clock.advance(10_000)
  const ends = Object.groupBy(await Promise.all(flood), (end) => end)
  expect(ends.read!.length + ends.NotConnected!.length).toBe(300)
  expect(called).toHaveLength(ends.read!.length + 11)
  expect(ends.read!.length).toBeLessThan(80)
})

test('a server that has little left for us is not read until it has more, for five minutes at most', async () => {
  const inSeconds = (seconds: number) => String(Math.ceil(Date.now() / 1_000) + seconds)
  const limited = (left: number, reset: string) => ({
    'ratelimit-limit': '3000',
    'ratelimit-remaining': String(left),
    'ratelimit-reset': reset,
  })
  const { clock, called, read, told } = opened(limited(600, inSeconds(60)))
  expect(await read('a')).toBe('read')
  told.headers = limited(599, inSeconds(60))
  const inLine = Array.from({ length: 9 }, () => read('a'))
  await settled()
  await clock.advance(1_000)
  expect((await Promise.all(inLine)).toSorted()).toEqual([
    ...Array<string>(2).fill('NotConnected'),
    ...Array<string>(7).fill('read'),
  ])
  expect([await read('b'), await read('b', 'other.test')]).toEqual(['NotConnected', 'read'])
  await clock.advance(62_000)
  told.headers = limited(0, inSeconds(1e9))
  expect(await read('b')).toBe('read')
  await clock.advance(299_000)
  expect(await read('b')).toBe('NotConnected')
  await clock.advance(2_000)
  for (const odd of [{ 'ratelimit-limit': 'x' }, limited(0, 'soon'), limited(0, inSeconds(-9))]) {
    told.headers = odd
    expect(await read('c')).toBe('read')
  }
  expect(await read('c')).toBe('read')
  expect(called).toHaveLength(14)
})

test('posting and the look for what was posted do not wait while reads rest', async () => {
  await using it = await openScripted()
  const reset = String(Math.ceil(Date.now() / 1_000) + 60)
  const notified = json({ notifications: [] }, 200, {
    'ratelimit-limit': '3000',
    'ratelimit-remaining': '1',
    'ratelimit-reset': reset,
  })
  it.script['app.bsky.notification.listNotifications'] = notified
  it.script['com.atproto.repo.putRecord'] = json({ uri: 'at://x', cid: 'x' })
  const query = { since: new Date(0), limit: 5 }
  const mentions = () => it.network.readMentions!(it.account, query, never())
  expect(await mentions()).toEqual([])
  it.asked()
  expect(await mentions().catch(({ reason }) => reason)).toBe('unreachable')
  await it.network.publish(posting(it, 'On time.'), never())
  const wanted = { account: it.account, key: keyFor(it, 'On time.'), action: 'post' } as const
  await it.network.keys.find({ ...wanted, text: 'On time.', postId: null }, never()).catch(() => {})
  const asked = it.asked()
  expect(asked).not.toContain('app.bsky.notification.listNotifications')
  expect(asked).toEqual(
    expect.arrayContaining(['com.atproto.repo.putRecord', 'com.atproto.repo.getRecord']),
  )
})
