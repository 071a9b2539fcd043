/** What a change leads to: which reads begin again, and when. */
import { expect, test } from 'bun:test'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { concerns } from '#src/console/live/kinds'
import { createRereads } from '#src/console/live/rereads'

const changed = { kind: 'item', id: 'a' }

test('a change of a record concerns lists, counts and itself, and no other record', () => {
  const concerned = (operation: string, input: object) => concerns(changed, [operation, input])
  expect(concerned('agent.inbox.list', {})).toBe(true)
  expect(concerned('growth.counts.get', {})).toBe(true)
  expect(concerned('growth.items.get', { id: 'a' })).toBe(true)
  expect(concerned('growth.items.list', { limit: 5 })).toBe(true)
  expect(concerned('growth.items.get', { id: 'b' })).toBe(false)
  expect(concerned('growth.articles.get', { id: 'a' })).toBe(false)
  expect(concerns({ kind: 'item', id: null }, ['growth.items.get', { id: 'b' }])).toBe(true)
  expect(concerns({ kind: 'workspace', id: null }, ['growth.profile.get', {}])).toBe(true)
})

test('a read that is under way ends, and is repeated once for all changes meanwhile', async () => {
  const client = new QueryClient()
  const reads: PromiseWithResolvers<number>[] = []
  const queryFn = ({ signal }: { signal: AbortSignal }) => {
    const read = Promise.withResolvers<number>()
    signal.addEventListener('abort', () => read.reject(signal.reason))
    reads.push(read)
    return read.promise
  }
  const observer = new QueryObserver(client, { queryKey: ['growth.items.list', {}], queryFn })
  const stop = observer.subscribe(() => {})
  reads[0]!.resolve(0)
  await Bun.sleep(1)
  const reread = createRereads(client)
  for (let change = 0; change < 3; change++) {
    reread(() => true)
    await Bun.sleep(1)
  }
  expect(reads).toHaveLength(2)
  reads[1]!.resolve(1)
  await Bun.sleep(1)
  expect(observer.getCurrentResult().data).toBe(1)
  expect(reads).toHaveLength(3)
  reads[2]!.resolve(2)
  await Bun.sleep(1)
  expect([observer.getCurrentResult().data, reads.length]).toEqual([2, 3])
  reread(() => true)
  await Bun.sleep(1)
  expect(reads).toHaveLength(4)
  reads[3]!.resolve(3)
  stop()
})
