/**
 * Keeps what is on the screen as it is at the server: by hints, or where no stream stands, by
 * reading again every 20 seconds.
 */
import { queryClient } from '../api/queries.ts'
import { elsewhere, leaveToSignIn, renewSession } from '../api/session.ts'
import { boot } from '../boot.ts'
import { createStore } from '../parts/store.ts'
import { readsOf } from './kinds.ts'
import { followHints, type Heard, type Hint } from './stream.ts'
import type { FromTab } from './worker-messages.ts'

export type LiveState = 'connecting' | 'on' | 'off'
export const liveState = createStore<LiveState>('connecting')

/** Calls for each hint, after the reads that it concerns have begun. */
const hintListeners = new Set<(hint: Hint) => void>()

const OFF_AFTER_MS = 30_000
const POLL_MS = 20_000
/** Hints of one moment lead to one read. */
const GATHER_MS = 150

let offTimer: ReturnType<typeof setTimeout> | undefined
const awaitStream = (): void => {
  clearTimeout(offTimer)
  offTimer = setTimeout(() => liveState.set('off'), OFF_AFTER_MS)
}

const readAgain = (): void => void queryClient.invalidateQueries()

const changed = new Set<string>()
const readChanged = (): void => {
  const prefixes = [...changed].flatMap(readsOf)
  changed.clear()
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [id] }) => prefixes.some((prefix) => String(id).startsWith(prefix)),
  })
}

const hinted = (hint: Hint): void => {
  if (changed.size === 0) setTimeout(readChanged, GATHER_MS)
  changed.add(hint.kind)
  for (const listener of hintListeners) listener(hint)
}

const hear = (heard: Heard): void => {
  if (heard.said === 'resync') readAgain()
  if (heard.said === 'hint') hinted(heard.hint)
  if (heard.said === 'other workspace' && !elsewhere.get()) elsewhere.set({ name: undefined })
  if (heard.said === 'unauthenticated')
    void renewSession(heard.at).then((renewal) => renewal === 'ended' && leaveToSignIn())
  if (heard.said === 'connected') {
    clearTimeout(offTimer)
    liveState.set('on')
  }
  if (heard.said === 'disconnected') {
    liveState.set('connecting')
    awaitStream()
  }
}

interface ScriptUrls {
  createScriptURL(url: string): string
}
declare global {
  interface Window {
    trustedTypes?: { createPolicy(name: string, rules: ScriptUrls): ScriptUrls }
  }
}

/** The page's policy lets no text become the address of a script, but for the worker's. */
const workerUrl = (): string => {
  const admit = (url: string): string => {
    if (url !== boot.worker) throw new TypeError(`${url} is no script of ours`)
    return url
  }
  const policy = window.trustedTypes?.createPolicy('tendril', { createScriptURL: admit })
  return policy ? policy.createScriptURL(boot.worker) : boot.worker
}

const followShared = (): void => {
  const { port } = new SharedWorker(workerUrl(), { name: 'tendril', type: 'module' })
  const send = (message: FromTab): void => port.postMessage(message)
  const arrive = (): void => send({ said: 'here', workspace: boot.session.workspace.id })
  port.onmessage = ({ data }: MessageEvent<Heard>) => hear(data)
  arrive()
  window.addEventListener('pagehide', () => send({ said: 'gone' }))
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) arrive()
  })
}

/** Chrome for Android has no shared workers: there, the visible tab holds the stream. */
const followWhileVisible = (): void => {
  let end: AbortController | undefined
  const turn = (): void => {
    end?.abort()
    end = undefined
    if (document.visibilityState !== 'visible') return
    end = new AbortController()
    void followHints({ workspace: boot.session.workspace.id, tell: hear, signal: end.signal })
  }
  document.addEventListener('visibilitychange', turn)
  turn()
}

export const startLive = (): void => {
  awaitStream()
  setInterval(() => {
    if (liveState.get() === 'off' && document.visibilityState === 'visible') readAgain()
  }, POLL_MS)
  if ('SharedWorker' in window) followShared()
  else followWhileVisible()
}
