import { expect, test } from 'bun:test'
import { Meters } from '#server/metrics/meters'
import { processorTime } from '#test/support/processor-time'

/** Of processor time, for a command and its answer. */
const MOST_MICROS = 15
const COMMANDS = 100_000

test('counting a command takes a small part of what it may', () => {
  const { meter, answered } = new Meters()
  const names = Array.from({ length: 150 }, (_, number) => `growth.items.kind${number}`)
  const micros = processorTime(() => {
    for (let count = 0; count < COMMANDS; count++) {
      const since = performance.now()
      meter.letter(names[count % names.length]!, 'done', performance.now() - since)
      answered(200)
    }
  })
  expect(micros / COMMANDS).toBeLessThan(MOST_MICROS / 5)
})
