/** What the lane of documents makes of an outage, and of a process that is too busy. */
import { expect, test } from 'bun:test'
import { ingestLane } from '#actors/work/agent/ingest'
import { AppError } from '#kernel/errors'
import { noFailpoints } from '#kernel/failpoint'
import { FairLimit } from '#kernel/fair-limit'

const job = { document: { id: 'd', mime_type: 'text/plain' }, block: 0 } as never
const context = (signal = new AbortController().signal) => ({
  tenantId: 't',
  signal,
  elapsed: () => 0,
  commit: () => true,
  begin: () => true,
})
const limit = (withinMs: number) =>
  new FairLimit({ name: 'reading of documents', total: 1, bound: 1, withinMs })
const laneWith = (read: () => Promise<never>, reading = limit(10_000)) =>
  ingestLane({ db: { read } as never, failpoints: noFailpoints, reading })

test('a document is read later if the database is away', async () => {
  const lane = laneWith(() => Promise.reject(new AppError('unavailable')))
  expect(await lane.run(job, context())).toEqual({ kind: 'later' })
})

test('a document is read later if others are read for too long', async () => {
  const reading = limit(1)
  const busy = Promise.withResolvers<void>()
  const first = reading.run('other', () => busy.promise)
  const lane = laneWith(() => Promise.reject(new Error('not reached')), reading)
  expect(await lane.run(job, context())).toEqual({ kind: 'later' })
  busy.resolve()
  await first
})

test('anything else is a failure of the document', async () => {
  const lane = laneWith(() => Promise.reject(new Error('a bug')))
  expect(lane.run(job, context())).rejects.toThrow('a bug')
  expect(lane.crashed(new Error('a bug'))).toEqual({
    kind: 'failed',
    error: expect.stringMatching(/^internal: /),
  })
})
