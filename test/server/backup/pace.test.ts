/** How evenly a backup reads and writes. */
import { expect, test } from 'bun:test'
import { Pace } from '#server/backup/pace'
import type { BackupShelf } from '#server/backup/shelf'
import { BackupWatch } from '#server/backup/watch'
import { Writing } from '#server/backup/writing'
import { type ManualClock, manualClock, settled } from '#test/support/actors/manual-clock'

const MB = 1_000_000
const BYTES_PER_SECOND = 2 * MB
const BYTES = 4 * MB
/** What may come at once: a chunk. */
const AT_ONCE = 262_144 + 65_536
const limits = { mostHeldBytes: 1, leastFree: 0, everyMs: 3_600_000, stalledMs: 3_600_000 }

/** How many bytes came at which moment. */
class Seen {
  readonly bytes = new Map<number, number>()

  constructor(private readonly clock: ManualClock) {}

  add(length: number): void {
    const now = this.clock.monotonic()
    this.bytes.set(now, (this.bytes.get(now) ?? 0) + length)
  }

  get most(): number {
    return Math.max(...this.bytes.values())
  }
}

const noStep = async (): Promise<void> => {}

const shelfOf = (seen: Seen): BackupShelf => ({
  folder: noStep,
  file: async (_path, _size, bytes) => {
    for await (const chunk of bytes) seen.add(chunk.length)
  },
  finish: noStep,
  discard: noStep,
})

const writingAt = (clock: ManualClock) => {
  const [read, written] = [new Seen(clock), new Seen(clock)]
  const pace = new Pace(BYTES_PER_SECOND, clock)
  const watch = new BackupWatch({ pace, clock, limits })
  const writing = new Writing(shelfOf(written), pace, watch)
  async function* rows(): AsyncGenerator<Uint8Array> {
    for (let left = BYTES; left > 0; left -= 50_000) {
      read.add(50_000)
      yield Buffer.alloc(50_000)
    }
  }
  return { read, written, pace, watch, writing, rows }
}

/** The second at which `step` has ended. */
const endOf = async (clock: ManualClock, step: Promise<unknown>): Promise<number> => {
  let hasEnded = false
  const ended = step.then(() => {
    hasEnded = true
  })
  while (!hasEnded && clock.monotonic() < 60_000) {
    await settled()
    await clock.advance(10)
  }
  await ended
  return clock.monotonic() / 1_000
}

test('rows that are collected before they are written are read and written evenly', async () => {
  const clock = manualClock()
  const { read, written, pace, writing, watch, rows } = writingAt(clock)
  using _ = watch
  const copy = async () => {
    const parts: Uint8Array[] = []
    for await (const chunk of writing.read(rows())) parts.push(chunk)
    await writing.putRead('rows', Buffer.concat(parts))
  }
  const seconds = await endOf(clock, copy())
  expect(seconds).toBeGreaterThan(1.8)
  expect(seconds).toBeLessThan(2.2)
  expect(read.most).toBeLessThanOrEqual(AT_ONCE)
  expect(written.most).toBeLessThanOrEqual(AT_ONCE)
  // A backup counts as stalled once this stands still.
  expect(pace.taken).toBeGreaterThan(BYTES * 0.9)
})

test('what is at hand is written evenly', async () => {
  const clock = manualClock()
  const { written, writing, watch } = writingAt(clock)
  using _ = watch
  const seconds = await endOf(clock, writing.put('text', Buffer.alloc(BYTES)))
  expect(seconds).toBeGreaterThan(1.8)
  expect(seconds).toBeLessThan(2.2)
  expect(written.most).toBeLessThanOrEqual(AT_ONCE)
})
