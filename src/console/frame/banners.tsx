/** Lines above every page: offline, at another address, without live updates. */
import { useSyncExternalStore } from 'react'
import { boot, isElsewhere } from '../boot.ts'
import { liveState } from '../live/live.ts'
import { useStore } from '../parts/store.ts'

const subscribe = (listener: () => void): (() => void) => {
  for (const name of ['online', 'offline']) window.addEventListener(name, listener)
  return () => {
    for (const name of ['online', 'offline']) window.removeEventListener(name, listener)
  }
}

const useOnline = (): boolean => useSyncExternalStore(subscribe, () => navigator.onLine)

export const Banners = () => (
  <>
    {!useOnline() && (
      <p className="banner" role="alert">
        You are offline. What is shown may be old, and nothing you decide is sent until you are
        back.
      </p>
    )}
    {isElsewhere() && (
      <p className="banner" role="alert">
        You are at {location.host}; this deployment is at{' '}
        <a href={boot.public_url}>{boot.public_url}</a>. Open it there: it takes no changes from
        here.
      </p>
    )}
  </>
)

export const LiveLine = () =>
  useStore(liveState) === 'off' ? (
    <p className="live-line">Live updates are off. This page reads again every 20 seconds.</p>
  ) : null
