/**
 * The stream of hints: one connection, begun anew whenever it ends. It runs in the shared worker,
 * or in a tab where there is none, and needs neither page nor storage.
 */

import { WORKSPACE_HEADER } from '#contract/headers'

/** Something was done: the operation or event, and the record that it was done to. */
export interface Hint {
  what: string
  kind: string
  id: string | null
  by: { kind: string; id: string } | null
}

export type Heard =
  /** Hints may have been missed: read again what is on the screen. */
  | { said: 'resync' }
  | { said: 'hint'; hint: Hint }
  /** A connection stands, or has ended. */
  | { said: 'connected' | 'disconnected' }
  /** The session must be renewed first. */
  | { said: 'unauthenticated'; at: number }
  | { said: 'other workspace' }

const PATH = '/api/v1/app/events'
/** The server sends a comment every 15 s; without any for this long, the connection is dead. */
const SILENCE_MS = 18_000
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 5_000

interface Line {
  event: string
  data: string
}

/** Divides a text/event-stream into its events. Comments end none. */
export const createEventReader = (): ((text: string) => Line[]) => {
  let rest = ''
  return (text) => {
    const parts = (rest + text).split('\n\n')
    rest = parts.pop()!
    return parts.flatMap((part) => {
      const fields = new Map<string, string>()
      for (const line of part.split('\n')) {
        const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? []
        if (name !== undefined) fields.set(name, (fields.get(name) ?? '') + value)
      }
      const event = fields.get('event')
      return event === undefined ? [] : [{ event, data: fields.get('data') ?? '' }]
    })
  }
}

const heardIn = ({ event, data }: Line): Heard[] => {
  if (event === 'resync') return [{ said: 'resync' }]
  return event === 'hint' ? [{ said: 'hint', hint: JSON.parse(data) as Hint }] : []
}

interface Following {
  workspace: string
  tell(heard: Heard): void
  signal: AbortSignal
}

/** Reads until the connection ends or says nothing for too long. */
const readAll = async (body: ReadableStream<Uint8Array>, { tell, signal }: Following) => {
  const reader = body
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>
  const divide = createEventReader()
  const give = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', give)
  let timer = setTimeout(give, SILENCE_MS)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(timer)
      timer = setTimeout(give, SILENCE_MS)
      for (const line of divide(value)) for (const heard of heardIn(line)) tell(heard)
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', give)
  }
}

/** Returns whether a connection stood. */
const connect = async (following: Following): Promise<boolean> => {
  const { workspace, tell, signal } = following
  const at = Date.now()
  const response = await fetch(PATH, {
    headers: { accept: 'text/event-stream', [WORKSPACE_HEADER]: workspace },
    signal,
  })
  if (response.status === 401) tell({ said: 'unauthenticated', at })
  if (response.status === 409) tell({ said: 'other workspace' })
  if (!response.ok || !response.body) return false
  tell({ said: 'connected' })
  try {
    await readAll(response.body, following)
  } finally {
    tell({ said: 'disconnected' })
  }
  return true
}

/** Ends early where the network is back. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', go)
      removeEventListener('online', go)
      resolve()
    }
    const timer = setTimeout(go, ms)
    signal.addEventListener('abort', go)
    addEventListener('online', go)
  })

/** Follows until the signal; waits a little longer after each failure. */
export const followHints = async (following: Following): Promise<void> => {
  const { signal } = following
  let wait = FIRST_WAIT_MS
  while (!signal.aborted) {
    const stood = await connect(following).catch(() => false)
    wait = stood ? FIRST_WAIT_MS : Math.min(wait * 2, LONGEST_WAIT_MS)
    // Not all browsers at once when a server comes back.
    await pause(wait * (0.5 + Math.random() / 2), signal)
  }
}
