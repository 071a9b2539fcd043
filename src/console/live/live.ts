/**
 * Keeps what is on the screen as it is at the server: by hints, or where no stream stands, by
 * reading again every 20 seconds.
 */
import { queryClient } from '../api/queries.ts'
import { elsewhere, leaveToSignIn, renewSession } from '../api/session.ts'
import { boot } from '../boot.ts'
import { createStore } from '../parts/store.ts'
import { type Changed, concerns } from './kinds.ts'
import { createRereads } from './rereads.ts'
import { followHints, type Heard, type Hint } from './stream.ts'
import type { FromTab } from './worker-messages.ts'

export type LiveState = 'connecting' | 'on' | 'off'
export const liveState = createStore<LiveState>('connecting')

const OFF_AFTER_MS = 30_000
const POLL_MS = 20_000
/** Hints of one moment lead to one read, */
const GATHER_MS = 150
/** and those of a busy time to one now and then. */
const BETWEEN_MS = 800

const reread = createRereads(queryClient)
const readAgain = (): void => reread(() => true)

const isVisible = (): boolean => document.visibilityState === 'visible'

let offTimer: ReturnType<typeof setTimeout> | undefined
let pollTimer: ReturnType<typeof setInterval> | undefined
const stopWaiting = (): void => {
  clearTimeout(offTimer)
  clearInterval(pollTimer)
}
const awaitStream = (): void => {
  stopWaiting()
  offTimer = setTimeout(() => liveState.set('off'), OFF_AFTER_MS)
  pollTimer = setInterval(() => isVisible() && readAgain(), POLL_MS)
}

/** By kind and id. */
const changed = new Map<string, Changed>()
let readAt = 0
const readChanged = (): void => {
  const all = [...changed.values()]
  changed.clear()
  readAt = Date.now()
  reread((key) => all.some((one) => concerns(one, key)))
}

const hinted = (hint: Hint): void => {
  if (changed.size === 0)
    setTimeout(readChanged, Math.max(GATHER_MS, readAt + BETWEEN_MS - Date.now()))
  changed.set(`${hint.kind} ${hint.id}`, hint)
}

const hear = (heard: Heard): void => {
  if (heard.said === 'resync') readAgain()
  if (heard.said === 'hint') hinted(heard.hint)
  if (heard.said === 'other workspace' && !elsewhere.get()) elsewhere.set({ name: undefined })
  if (heard.said === 'unauthenticated')
    void renewSession(heard.at).then((renewal) => renewal === 'ended' && leaveToSignIn())
  if (heard.said === 'connected') {
    stopWaiting()
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
    if (!isVisible()) return
    end = new AbortController()
    void followHints({ workspace: boot.session.workspace.id, tell: hear, signal: end.signal })
  }
  document.addEventListener('visibilitychange', turn)
  turn()
}

export const startLive = (): void => {
  awaitStream()
  document.addEventListener('visibilitychange', () => {
    if (isVisible() && liveState.get() !== 'on') readAgain()
  })
  window.addEventListener('online', readAgain)
  if ('SharedWorker' in window) followShared()
  else followWhileVisible()
}
