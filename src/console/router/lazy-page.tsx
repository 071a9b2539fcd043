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

const buildIsGone = async (): Promise<boolean> => {
  const { status } = await fetch(`/console/${boot.build}`, { method: 'HEAD', cache: 'no-store' })
  return status === 404
}

const load = async <P,>(
  read: () => Promise<ComponentType<P>>,
): Promise<{ default: ComponentType<P> }> => {
  try {
    return { default: await read() }
  } catch (cause) {
    const isGone = await buildIsGone().catch(() => false)
    throw isGone ? new MissingPage('the server has another build', { cause }) : cause
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
