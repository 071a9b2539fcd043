/** Whatever the collector does, the server goes on, and what is lost is counted. */
import { describe, expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { type SenderLimits, SpanSender } from '#server/traces/sender'
import { createTracer } from '#server/traces/tracer'
import { manualClock, settled } from '#test/support/actors/manual-clock'
import { eventually } from '#test/support/eventually'
import { openCollector } from '#test/support/http/collector'
import { use } from '#test/support/use'

const collector = use(openCollector)
const OK = { status: 200, body: '{}' }

const openSender = (limits: Partial<SenderLimits> = {}, onCount = () => {}) => {
  const clock = manualClock()
  const lines: string[] = []
  const counts = { sent: 0, dropped: 0 }
  const from = collector.requests.length
  const sender = new SpanSender({
    url: `${collector.endpoint}/v1/traces`,
    headers: {},
    resource: { service: 'tendril', version: undefined, instance: 'x' },
    log: createLog('warn', { write: (line) => lines.push(line) }),
    clock,
    limits,
    counted: (what, spans) => {
      counts[what] += spans
      onCount()
    },
  })
  const tracer = createTracer((span) => sender.add(span))
  return {
    clock,
    counts,
    lines: () => lines.map((line) => JSON.parse(line)),
    end: (spans: number) => {
      for (let n = 0; n < spans; n++) tracer.begin({ name: 'x', kind: 'internal' }).end('done')
    },
    requests: () => collector.requests.length - from,
    counted: (sum: number) =>
      eventually(
        async () => ({ ...counts }),
        ({ sent, dropped }) => sent + dropped === sum,
      ),
    sender,
  }
}

describe('a collector that answers', () => {
  test('gets spans together, after a moment or once there are many', async () => {
    collector.answer = OK
    const { clock, counted, end, requests, sender } = openSender({ together: 10 })
    end(3)
    await settled()
    expect(requests()).toBe(0)
    await clock.advance(1_000)
    expect(await counted(3)).toEqual({ sent: 3, dropped: 0 })
    expect(requests()).toBe(1)
    end(10)
    expect(await counted(13)).toEqual({ sent: 13, dropped: 0 })
    expect(requests()).toBe(2)
    end(2)
    await sender[Symbol.asyncDispose]()
    expect(await counted(15)).toEqual({ sent: 15, dropped: 0 })
    expect(clock.pending).toBe(0)
  })

  test('gets a span that ends just as it has taken others', async () => {
    collector.answer = OK
    let isFirst = true
    const { clock, counted, end, sender } = openSender({}, () => {
      if (isFirst) queueMicrotask(() => end(1))
      isFirst = false
    })
    end(1)
    await clock.advance(1_000)
    await counted(1)
    await settled()
    expect(clock.pending).toBe(1)
    await clock.advance(1_000)
    expect(await counted(2)).toEqual({ sent: 2, dropped: 0 })
    await sender[Symbol.asyncDispose]()
  })

  test.each([
    ['{"partialSuccess":{"rejectedSpans":"2","errorMessage":"quince"}}', 2],
    ['{"partialSuccess":{"rejectedSpans":2}}', 2],
    ['{"partialSuccess":{"rejectedSpans":"9"}}', 3],
    ['{"partialSuccess":{"errorMessage":"soon"}}', 0],
    ['{"partialSuccess":{"rejectedSpans":-1}}', 0],
    ['null', 0],
    ['', 0],
    ['not JSON', 0],
    [' '.repeat(100_000), 0],
  ])('may reject some of the spans (%#)', async (body, rejected) => {
    collector.answer = { status: 200, body }
    const { counted, end, lines, sender } = openSender({ together: 3 })
    end(3)
    expect(await counted(3)).toEqual({ sent: 3 - rejected, dropped: rejected })
    await sender[Symbol.asyncDispose]()
    const told = rejected === 0 ? [] : [{ failure: 'rejected', dropped: rejected }]
    expect(lines()).toMatchObject(told)
    expect(JSON.stringify(lines())).not.toContain('quince')
  })
})

describe('a collector that fails', () => {
  test('is left alone for longer and longer, and what it refused is dropped', async () => {
    collector.answer = { status: 500, body: 'quince' }
    const { clock, counted, end, lines, requests, sender } = openSender({ longestPauseMs: 4_000 })
    end(2)
    for (const [tries, pause] of [1_000, 2_000, 4_000, 4_000].entries()) {
      await clock.advance(pause - 1)
      expect(requests()).toBe(tries)
      await clock.advance(1)
      await counted(2 * (tries + 1))
      end(2)
    }
    expect(lines()[0]).toMatchObject({ failure: 'status 500', dropped: 2 })
    collector.answer = OK
    await clock.advance(4_000)
    expect(await counted(10)).toEqual({ sent: 2, dropped: 8 })
    await sender[Symbol.asyncDispose]()
  })

  test('may send nobody elsewhere', async () => {
    collector.answer = { status: 307, headers: { location: `${collector.endpoint}/elsewhere` } }
    const { clock, counted, end, requests, sender } = openSender()
    end(1)
    await clock.advance(1_000)
    expect(await counted(1)).toEqual({ sent: 0, dropped: 1 })
    expect(requests()).toBe(1)
    await sender[Symbol.asyncDispose]()
  })
})

describe('a collector that never answers', () => {
  test('or not to the end, keeps spans no longer than that', async () => {
    collector.answer = { status: 200, body: '{', hang: 'within' }
    const { clock, counted, end, lines, requests, sender } = openSender({ together: 3 })
    end(3)
    await eventually(
      async () => requests(),
      (count) => count === 1,
    )
    await clock.advance(5_000)
    expect(await counted(3)).toEqual({ sent: 0, dropped: 3 })
    expect(lines()).toMatchObject([{ failure: 'timeout' }])
    await sender[Symbol.asyncDispose]()
  })

  test('holds one request, and as many spans as wait at most', async () => {
    collector.answer = { hang: 'before' }
    const { clock, counted, counts, end, lines, requests, sender } = openSender({
      together: 10,
      waiting: 30,
    })
    end(10)
    await eventually(
      async () => requests(),
      (count) => count === 1,
    )
    end(1_000)
    expect(counts).toEqual({ sent: 0, dropped: 970 })
    expect(requests()).toBe(1)
    await clock.advance(5_000)
    expect(await counted(980)).toEqual({ sent: 0, dropped: 980 })
    expect(lines()[0]).toMatchObject({ failure: 'timeout', dropped: 980 })
    const stopping = sender[Symbol.asyncDispose]()
    await clock.advance(1_499)
    await eventually(
      async () => requests(),
      (count) => count === 2,
    )
    await clock.advance(1)
    await stopping
    expect(await counted(1_010)).toEqual({ sent: 0, dropped: 1_010 })
    end(1)
    expect(counts).toEqual({ sent: 0, dropped: 1_011 })
    expect(clock.pending).toBe(0)
  })
})
