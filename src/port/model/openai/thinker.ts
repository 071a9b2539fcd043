import type { Thought } from '#domain/agent/job/answer'
import type { Log } from '#kernel/log'
import { ThinkError, type Thinker, type ThinkOptions, type ThinkRequest } from '../thinker.ts'
import { logCall, type OpenAiConnection, openClient } from './connection.ts'
import { type Assembly, asChunk, createAssembly } from './thinker-answer.ts'
import { thinkErrorOf } from './thinker-failures.ts'
import { completionRequest } from './thinker-request.ts'

export interface OpenAiThinkerOptions extends OpenAiConnection {
  /** False asks for the answer as a whole. Set it for servers that cannot stream calls of tools. */
  stream: boolean
  /**
   * How long a stream may pause. Counting begins with the first piece of the answer, because models
   * that reason send nothing before they are done with that.
   */
  silenceMs: number
  log: Log
}

/** A stream takes about 300 bytes per token. */
const MOST_STREAMED_BYTES = 8_388_608
const MOST_EVENT_BYTES = 1_048_576
/** How long to wait for the usage once the answer is complete. */
const USAGE_MS = 5_000

/** Aborts if `heard` is not called for as long as `expect` last said. */
const createWatch = () => {
  const silent = new AbortController()
  let limitMs: number | undefined
  let timer: Timer | undefined
  const heard = () => {
    clearTimeout(timer)
    if (limitMs !== undefined) timer = setTimeout(() => silent.abort(), limitMs)
  }
  return {
    signal: silent.signal,
    heard,
    expect(ms: number) {
      if (limitMs === ms) return
      limitMs = ms
      heard()
    },
    stop: () => clearTimeout(timer),
  }
}

interface Call {
  turn: ThinkRequest
  thinking: ThinkOptions
  options: OpenAiThinkerOptions
  /** Aborts when the time for the whole call is over. */
  limit: AbortSignal
}

const askWhole = async (
  { turn, thinking, options, limit }: Call,
  assembly: Assembly,
): Promise<void> => {
  const signal = AbortSignal.any([thinking.signal, limit])
  assembly.take(
    asChunk(await openClient(options).chat.completions.create(completionRequest(turn), { signal })),
  )
}

/**
 * The SDK ends its iterator without an error both when the signal aborts and when the stream breaks
 * off.
 */
const askStreaming = async (
  { turn, thinking, options, limit }: Call,
  assembly: Assembly,
): Promise<void> => {
  const watch = createWatch()
  const signal = AbortSignal.any([thinking.signal, limit, watch.signal])
  const client = openClient(options, {
    mostBytes: MOST_STREAMED_BYTES,
    mostInEvent: MOST_EVENT_BYTES,
    heard: watch.heard,
  })
  const request = {
    ...completionRequest(turn),
    stream: true as const,
    stream_options: { include_usage: true },
  }
  try {
    for await (const chunk of await client.chat.completions.create(request, { signal })) {
      if (signal.aborted) break
      assembly.take(chunk)
      if (assembly.begun())
        watch.expect(
          assembly.finished() ? Math.min(USAGE_MS, options.silenceMs) : options.silenceMs,
        )
    }
  } catch (cause) {
    if (cause instanceof ThinkError) throw cause
    if (!assembly.finished() && !watch.signal.aborted) throw cause
  } finally {
    watch.stop()
  }
  if (!assembly.finished() && watch.signal.aborted) throw new ThinkError('timeout')
}

const think = async (call: Call): Promise<Thought> => {
  const { turn, thinking, options, limit } = call
  const assembly = createAssembly(turn, thinking.onText)
  await (options.stream ? askStreaming : askWhole)(call, assembly)
  thinking.signal.throwIfAborted()
  if (assembly.finished()) return assembly.thought()
  throw new ThinkError(limit.aborted ? 'timeout' : 'broken')
}

/**
 * Turns with tools over Chat Completions. An answer counts only if the server says why it ended.
 * With `choice: 'none'`, calls are left out, because some servers do not know that choice.
 */
export const createOpenAiThinker = (options: OpenAiThinkerOptions): Thinker => ({
  async think(turn, thinking) {
    thinking.signal.throwIfAborted()
    const limit = AbortSignal.timeout(options.timeoutMs)
    const errorOf = (cause: unknown) => {
      if (thinking.signal.aborted) return thinking.signal.reason
      return limit.aborted && !(cause instanceof ThinkError)
        ? new ThinkError('timeout')
        : thinkErrorOf(cause, turn.tools.length > 0)
    }
    const call = (asking: ThinkRequest) =>
      logCall({ ...options, model: turn.model, errorOf }, () =>
        think({ turn: asking, thinking, options, limit }),
      )
    const { format, ...plain } = turn
    if (!format) return call(turn)
    // A server that does not know the format refuses the request, but may well follow the words of
    // the system message.
    return call(turn).catch((cause) =>
      cause instanceof ThinkError && cause.failure === 'unsupported'
        ? call(plain)
        : Promise.reject(cause),
    )
  },
})
