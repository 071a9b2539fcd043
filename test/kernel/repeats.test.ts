import { describe, expect, test } from 'bun:test'
import { createLog, withFields, withoutFields } from '#kernel/log'
import { MOST_KNOWN, Repeats } from '#kernel/repeats'
import { manualClock } from '#test/support/actors/manual-clock'

const setUp = () => {
  const clock = manualClock()
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }, clock)
  const fail = (more: object = {}, text = 'refused 1') =>
    log.error({ err: new Error(text), ...more }, 'a call failed')
  return { clock, lines, log, fail }
}

describe('the same failure again within a minute', () => {
  test('is a count, whatever ids and numbers it has', async () => {
    const { clock, lines, fail } = setUp()
    for (let n = 0; n < 500; n++)
      fail({ workspace: 'a', request_id: `r${n}`, ms: n }, `refused ${n}`)
    expect(lines).toMatchObject([{ workspace: 'a', request_id: 'r0', ms: 0, msg: 'a call failed' }])
    await clock.advance(60_000)
    expect(lines.slice(1)).toMatchObject([
      {
        level: 50,
        workspace: 'a',
        msg: 'a call failed',
        count: 499,
        err: { type: 'Error', text: 'refused #' },
      },
    ])
    expect(lines[1]).not.toHaveProperty('request_id')
  })

  test('is told anew after the minute, and once if it came once', async () => {
    const { clock, lines, fail } = setUp()
    for (let minute = 0; minute < 3; minute++) {
      fail()
      await clock.advance(60_000)
    }
    expect(lines.map(({ count }) => count)).toEqual([undefined, undefined, undefined])
  })

  test('is not that of another workspace, kind or text, nor is a line that tells of no failure', () => {
    const { lines, log, fail } = setUp()
    for (const workspace of ['a', 'b']) for (const kind of ['x', 'y']) fail({ workspace, kind })
    fail({ workspace: 'a', kind: 'x' }, 'lost')
    for (let n = 0; n < 3; n++) log.warn({ n }, 'no failure')
    for (let n = 0; n < 3; n++) log.info({ failure: 'timeout' }, 'a call')
    expect(lines).toHaveLength(4 + 1 + 3 + 3)
  })

  test('takes no more memory, however many different ones there are', async () => {
    const clock = manualClock()
    const repeats = new Repeats(clock)
    const told: number[] = []
    expect(repeats.isFirst('first', (count) => told.push(count))).toBe(true)
    expect(repeats.isFirst('first', (count) => told.push(count))).toBe(false)
    for (let n = 0; n < 3 * MOST_KNOWN; n++) repeats.isFirst(`${n}`, () => {})
    expect(repeats.size).toBe(MOST_KNOWN)
    // What was forgotten is told first.
    expect(told).toEqual([1])
    await clock.advance(60_000)
    expect(repeats.size).toBe(0)
  })
})

test('lines say whose they are, also after a wait, and what is begun for all does not', async () => {
  const { lines, log } = setUp()
  await withFields({ workspace: 'a', job: 'j' }, async () => {
    await Promise.resolve()
    log.info({ model: 'm' }, 'one')
    log.info({ job: 'other' }, 'two')
    withoutFields(() => log.info('three'))
  })
  log.info('four')
  expect(lines.map(({ workspace, job, msg }) => [workspace, job, msg])).toEqual([
    ['a', 'j', 'one'],
    ['a', 'other', 'two'],
    [undefined, undefined, 'three'],
    [undefined, undefined, 'four'],
  ])
})
