/** What all tabs of a browser share: one session, in one workspace, with one refresh at a time. */
import { boot } from '../boot.ts'
import { createStore } from '../parts/store.ts'
import { signInHref } from '../router/paths.ts'

/**
 * Set once the session is known to be in another workspace: everything on the screen is of the
 * former one.
 */
export const elsewhere = createStore<{ name: string | undefined } | undefined>(undefined)

type Told = { said: 'switched'; workspace: { id: string; name: string } } | { said: 'signed out' }

const channel = new BroadcastChannel('tendril')

export const tellOtherTabs = (told: Told): void => channel.postMessage(told)

/** What is being typed is kept as the page hides. */
export const leaveFor = (path: string): void => location.assign(path)

/** Loads the page anew, in the server's present build. */
export const reloadPage = (): void => location.reload()

export const leaveToSignIn = (): void => leaveFor(signInHref(location.pathname + location.search))

channel.addEventListener('message', ({ data }: MessageEvent<Told>) => {
  if (data.said === 'signed out') leaveToSignIn()
  else
    elsewhere.set(
      data.workspace.id === boot.session.workspace.id ? undefined : { name: data.workspace.name },
    )
})

const LOCK = 'tendril-refresh'
/** When a tab of this browser last refreshed the session, in milliseconds. */
const REFRESHED = 'tendril.refreshed'
const REFRESH_PATH = '/api/v1/app/session/refresh'
const PATIENCE_MS = 15_000

export type Renewal = 'renewed' | 'ended' | 'unknown'

const refresh = async (failedAt: number): Promise<Renewal> => {
  if (Number(localStorage.getItem(REFRESHED)) > failedAt) return 'renewed'
  try {
    const { ok, status } = await fetch(REFRESH_PATH, {
      method: 'POST',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (ok) localStorage.setItem(REFRESHED, String(Date.now()))
    if (ok) return 'renewed'
    return status === 401 ? 'ended' : 'unknown'
  } catch {
    return 'unknown'
  }
}

let running: Promise<Renewal> | undefined

/**
 * Renews the access token, once for all tabs. `failedAt`: when the request that was refused began;
 * a refresh since then is enough. Plain http in a LAN has no locks: there, the server accepts the
 * previous token for ten seconds.
 */
export const renewSession = (failedAt: number): Promise<Renewal> => {
  running ??= (
    navigator.locks ? navigator.locks.request(LOCK, () => refresh(failedAt)) : refresh(failedAt)
  ).finally(() => {
    running = undefined
  })
  return running
}
