import { expect, test } from 'bun:test'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { EventLog, type SessionEvents } from '#edge/mcp/events'

const message = (id: number, padding = ''): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  result: { padding },
})
const roomy = { perSession: 100_000, perProcess: 100_000 }

const replayed = async (events: SessionEvents, after: string) => {
  const ids: unknown[] = []
  const streamId = await events.replayEventsAfter(after, {
    send: async (_, one) => void ids.push('id' in one ? one.id : undefined),
  })
  return { streamId, ids }
}

test('events after a given one are replayed, from its own stream and without empty ones', async () => {
  const events = new EventLog(roomy).ofSession('a')
  const first = await events.storeEvent('a', {} as JSONRPCMessage)
  await events.storeEvent('b', message(1))
  await events.storeEvent('a', message(2))
  await events.storeEvent('a', message(3))
  expect(await replayed(events, first)).toEqual({ streamId: 'a', ids: [2, 3] })
  expect(await events.getStreamIdForEventId(first)).toBe('a')
})

test('event ids of one session mean nothing in another', async () => {
  const log = new EventLog(roomy)
  const [mine, theirs] = [log.ofSession('a'), log.ofSession('a')]
  const ids = await Promise.all([1, 2, 3].map((id) => mine.storeEvent('a', message(id))))
  await theirs.storeEvent('b', message(9))
  expect(await theirs.getStreamIdForEventId(ids[2]!)).toBeUndefined()
})

test('a full session loses its oldest events, and a closed one frees its room', async () => {
  const log = new EventLog({ perSession: 300, perProcess: 100_000 })
  const events = log.ofSession('a')
  const ids: string[] = []
  for (let id = 0; id < 10; id++)
    ids.push(await events.storeEvent('a', message(id, 'x'.repeat(50))))
  expect(await events.getStreamIdForEventId(ids[0]!)).toBeUndefined()
  expect(await events.getStreamIdForEventId(ids[9]!)).toBe('a')
  expect(log.size).toBeLessThanOrEqual(300)
  events.clear()
  expect(log.size).toBe(0)
})

test('a full process loses the oldest events of all sessions of a workspace', async () => {
  const log = new EventLog({ perSession: 100_000, perProcess: 300 })
  const [old, young] = [log.ofSession('a'), log.ofSession('a')]
  const first = await old.storeEvent('a', message(0, 'x'.repeat(100)))
  for (let id = 1; id < 5; id++) await young.storeEvent('b', message(id, 'x'.repeat(100)))
  expect(await old.getStreamIdForEventId(first)).toBeUndefined()
  expect(log.size).toBeLessThanOrEqual(300)
})

test('a full process loses events of the workspace that has the most', async () => {
  const log = new EventLog({ perSession: 100_000, perProcess: 600 })
  const [small, large] = [log.ofSession('small'), log.ofSession('large')]
  const first = await small.storeEvent('a', message(0, 'x'.repeat(100)))
  for (let id = 1; id < 10; id++) await large.storeEvent('b', message(id, 'x'.repeat(100)))
  expect(await small.getStreamIdForEventId(first)).toBe('a')
  expect(log.size).toBeLessThanOrEqual(600)
})

test('an event larger than all the room is not stored', async () => {
  const log = new EventLog({ perSession: 100, perProcess: 100 })
  await log.ofSession('a').storeEvent('a', message(1, 'x'.repeat(500)))
  expect(log.size).toBe(0)
})
