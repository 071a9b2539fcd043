import { expect, test } from 'bun:test'
import { LocalBus } from '#ops/agent/job/bus'

test('the bus keeps nothing of a stream that has gone, or of a model that is silent', () => {
  const bus = new LocalBus()
  const job = { id: 'job', conversation_id: 'conversation' }
  const heard: unknown[] = []
  const listening = bus.subscribe('conversation', (news) => heard.push(news))
  bus.reset(job, 1)
  bus.text(job, { step: 1, at: 0, text: 'a' })
  listening[Symbol.dispose]()
  bus.text(job, { step: 1, at: 1, text: 'b' })
  expect(heard).toEqual([
    { kind: 'reset', job: 'job', step: 1 },
    { kind: 'delta', job: 'job', step: 1, at: 0, text: 'a' },
  ])
  bus.subscribe('job', (news) => heard.push(news))[Symbol.dispose]()
  expect(heard.at(-1)).toEqual({ kind: 'delta', job: 'job', step: 1, at: 0, text: 'ab' })
  bus.silent(job)
  bus.subscribe('job', (news) => heard.push(news))[Symbol.dispose]()
  expect(heard).toHaveLength(3)
})
