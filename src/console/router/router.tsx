/** Where this tab is, by the History API. */
import { type ComponentProps, type MouseEvent, useMemo, useSyncExternalStore } from 'react'
import { type ConsolePlace, placeAt } from './paths.ts'

const MOVED = 'tendril:moved'

const subscribe = (listener: () => void): (() => void) => {
  for (const name of ['popstate', MOVED]) window.addEventListener(name, listener)
  return () => {
    for (const name of ['popstate', MOVED]) window.removeEventListener(name, listener)
  }
}

const here = (): string => location.pathname + location.search

/** `replace`: leaves no step to come back to. */
export const navigate = (href: string, { replace = false } = {}): void => {
  if (href === here()) return
  if (replace) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  window.dispatchEvent(new Event(MOVED))
}

export interface Here {
  /** Undefined where the console has no place. */
  place: ConsolePlace | undefined
  search: URLSearchParams
}

export const useHere = (): Here => {
  const href = useSyncExternalStore(subscribe, here)
  return useMemo(() => {
    const { pathname, searchParams } = new URL(href, location.origin)
    return { place: placeAt(pathname), search: searchParams }
  }, [href])
}

const isPlainClick = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey

/** A link within the console. A click with a modifier opens a tab, as anywhere. */
export const PlaceLink = ({ href, onClick, ...rest }: ComponentProps<'a'> & { href: string }) => (
  <a
    {...rest}
    href={href}
    onClick={(event) => {
      onClick?.(event)
      if (event.defaultPrevented || !isPlainClick(event)) return
      event.preventDefault()
      navigate(href)
    }}
  />
)
