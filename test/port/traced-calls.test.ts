/** The spans of calls of models, and of messages to channels. */
import { expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { inTrace, type NewSpan, type Tracer } from '#kernel/trace'
import type { ChannelAdapter } from '#port/channel/channel'
import { tracingAdapters } from '#port/channel/tracing'
import { logCall } from '#port/model/openai/connection'

const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const log = createLog('silent')

const recording = () => {
  const spans: { span: NewSpan; outcome: string; more: object | undefined }[] = []
  const tracer: Tracer = {
    begin: (span) => ({
      context: PARENT,
      end: (outcome, more) => void spans.push({ span, outcome, more }),
    }),
  }
  return { tracer, spans }
}

test('a call of a model is a span with its tokens, and no word of what was said', async () => {
  const { tracer, spans } = recording()
  const call = { log, model: 'fast', tracer, errorOf: (cause: unknown) => cause }
  const usage = { input_tokens: 7, output_tokens: 3 }
  const failure = Object.assign(new Error('quince'), { failure: 'timeout' })
  await inTrace(PARENT, async () => {
    await logCall(call, async () => ({ usage, text: 'quince' }))
    await logCall(call, () => Promise.reject(failure)).catch(() => {})
  })
  const span = { name: 'model call', kind: 'client', parent: PARENT, facts: { model: 'fast' } }
  expect(spans).toMatchObject([
    { span, outcome: 'answered', more: { inputTokens: 7, outputTokens: 3 } },
    { span, outcome: 'failed', more: { isFailure: true } },
  ])
  expect(JSON.stringify(spans)).not.toContain('quince')
})

test('a message to a channel is a span, however it ends', async () => {
  const { tracer, spans } = recording()
  const results = [async () => ({ kind: 'sent' }), () => Promise.reject(new Error('quince'))]
  const adapter = { channel: 'slack', send: () => results.shift()!() } as unknown as ChannelAdapter
  const { slack } = tracingAdapters({ slack: adapter }, tracer)
  const send = () => slack!.send({} as never, {} as never, new AbortController().signal)
  expect(await send()).toEqual({ kind: 'sent' } as never)
  await expect(send()).rejects.toThrow('quince')
  const span = { name: 'channel reply', kind: 'client', facts: { channel: 'slack' } }
  expect(spans).toMatchObject([
    { span, outcome: 'sent' },
    { span, outcome: 'error', more: { isFailure: true } },
  ])
})
