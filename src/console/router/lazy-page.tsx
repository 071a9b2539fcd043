/**
 * Pages that are loaded when they are first shown. After an upgrade the server no longer has those
 * of this tab's build: the tab then says so and begins anew, with what was typed.
 */
import { Component, type ComponentType, lazy, type ReactNode } from 'react'
import { reloadPage } from '../api/session.ts'
import { boot } from '../boot.ts'

class MissingPage extends Error {
  override readonly name = 'MissingPage'
}

/** When this tab last began anew for a missing page, in milliseconds. */
const RELOADED = 'tendril.reloaded'
const NOT_AGAIN_WITHIN_MS = 60_000

/** Whether the server still has this tab's build; undefined if it does not say. */
const hasBuild = async (): Promise<boolean | undefined> => {
  try {
    const { ok, status } = await fetch(`/console/${boot.build}`, {
      method: 'HEAD',
      cache: 'no-store',
    })
    return ok || (status === 404 ? false : undefined)
  } catch {
    return undefined
  }
}

/** A server that restarts is back within this many tries. */
const TRIES = 15
const BETWEEN_MS = 1_000

const load = async <P,>(
  read: () => Promise<ComponentType<P>>,
): Promise<{ default: ComponentType<P> }> => {
  for (let tries = 1; ; tries++)
    try {
      return { default: await read() }
    } catch (cause) {
      if ((await hasBuild()) === false)
        throw new MissingPage('the server has another build', { cause })
      if (tries === TRIES) throw cause
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
    }
}

export const lazyPage = <P,>(read: () => Promise<ComponentType<P>>) => lazy(() => load(read))

const mayReload = (): boolean => {
  const last = Number(sessionStorage.getItem(RELOADED))
  if (Date.now() - last < NOT_AGAIN_WITHIN_MS) return false
  sessionStorage.setItem(RELOADED, String(Date.now()))
  return true
}

const RELOAD_AFTER_MS = 1_500

interface State {
  cause: unknown
}

/** Catches what a page throws, so that the frame stays. */
export class PageBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { cause: undefined }
  static getDerivedStateFromError(cause: unknown): State {
    return { cause }
  }
  override componentDidCatch(cause: unknown): void {
    if (cause instanceof MissingPage && mayReload()) setTimeout(reloadPage, RELOAD_AFTER_MS)
  }
  override render(): ReactNode {
    const { cause } = this.state
    if (cause === undefined) return this.props.children
    const says =
      cause instanceof MissingPage
        ? 'The server has a newer console. This page loads anew, with what you have typed.'
        : 'This page could not be shown.'
    return (
      <div className="page">
        <h1>{cause instanceof MissingPage ? 'A newer console' : 'Something went wrong'}</h1>
        <p role="alert">{says}</p>
        <button type="button" className="action go" onClick={reloadPage}>
          Load it anew
        </button>
      </div>
    )
  }
}
