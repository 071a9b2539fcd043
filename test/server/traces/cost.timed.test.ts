import { expect, test } from 'bun:test'
import { beginLetter, endLetter } from '#actors/engine/traced'
import { newId } from '#kernel/ids'
import { inTrace } from '#kernel/trace'
import { traceRequest } from '#server/traces/otlp'
import { createTracer, type EndedSpan } from '#server/traces/tracer'
import { processorTime } from '#test/support/processor-time'

/** Of processor time, for a command: its spans, and what it takes to write them for a collector. */
const MOST_MICROS = 60
const COMMANDS = 50_000
const TOGETHER = 256

test('tracing a command takes a small part of what it may', () => {
  const resource = { service: 'tendril', version: 'abc', instance: newId() }
  const ended: EndedSpan[] = []
  let written = 0
  const tracer = createTracer((span) => {
    if (ended.push(span) < TOGETHER) return
    written += traceRequest(resource, ended).length
    ended.length = 0
  })
  const own = { tenantId: newId() }
  const letter = {
    name: 'growth.items.approve',
    priority: 'interactive',
    provenance: { principal: { kind: 'key', id: newId() }, surface: 'rest' },
  } as const
  const micros = processorTime(() => {
    for (let count = 0; count < COMMANDS; count++) {
      const facts = { surface: 'rest', request: own.tenantId }
      const request = tracer.begin({ name: letter.name, kind: 'server', facts })
      inTrace(request.context, () => {
        endLetter(beginLetter(tracer, own, letter)!, 'done')
      })
      request.end('answered', { workspace: own.tenantId, status: 200 })
    }
  })
  expect(written).toBeGreaterThan(COMMANDS * 500)
  expect(micros / COMMANDS).toBeLessThan(MOST_MICROS / 3)
})
