/** What all tabs of a browser share: one session, in one workspace, with one refresh at a time. */
import { boot } from '../boot.ts'
import { createStore } from '../parts/store.ts'
import { signInHref } from '../router/paths.ts'
import { createLeaving } from './leaving.ts'

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

export const { whileLeaving, leaveWith } = createLeaving({
  leaveFor,
  // The browser may show this page again as it was left.
  onShown: (stay) => addEventListener('pageshow', stay, { once: true }),
  after: (ms, stay) => setTimeout(stay, ms),
})

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
/** What one tab stores reaches the others a moment later, each in a process of its own. */
const TOLD_WITHIN_MS = 250

export type Renewal = 'renewed' | 'ended' | 'unknown'

const wasRenewedSince = (failedAt: number): boolean =>
  Number(localStorage.getItem(REFRESHED)) > failedAt

const refresh = async (failedAt: number): Promise<Renewal> => {
  if (wasRenewedSince(failedAt)) return 'renewed'
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

/** The next tab has its turn once it can know of this one's. */
const refreshInTurn = (failedAt: number): Promise<Renewal> =>
  new Promise((resolve, reject) => {
    const takeTurn = async (): Promise<void> => {
      if (wasRenewedSince(failedAt)) return resolve('renewed')
      resolve(await refresh(failedAt))
      await new Promise((after) => setTimeout(after, TOLD_WITHIN_MS))
    }
    navigator.locks.request(LOCK, takeTurn).catch(reject)
  })

let running: Promise<Renewal> | undefined

/**
 * Renews the access token, once for all tabs. `failedAt`: when the request that was refused began;
 * a refresh since then is enough. Plain http in a LAN has no locks: there, the server accepts the
 * previous token for ten seconds.
 */
export const renewSession = (failedAt: number): Promise<Renewal> => {
  running ??= (navigator.locks ? refreshInTurn(failedAt) : refresh(failedAt)).finally(() => {
    running = undefined
  })
  return running
}
