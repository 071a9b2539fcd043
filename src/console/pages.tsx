/** Which page stands at which place. A page is loaded when it is first shown. */
import { type ComponentType, useEffect, useRef } from 'react'
import { lazyPage } from './router/lazy-page.tsx'
import type { PageProps } from './router/page-props.ts'
import type { PathName } from './router/paths.ts'

const Inbox = lazyPage<PageProps>(() =>
  import('./inbox/page.tsx').then(({ InboxPage }) => InboxPage),
)
const Settings = lazyPage<PageProps>(() =>
  import('./settings/page.tsx').then(({ SettingsPage }) => SettingsPage),
)

interface Page {
  name: string
  Show: ComponentType<PageProps>
}

const inbox: Page = { name: 'inbox', Show: Inbox }
const settings: Page = { name: 'settings', Show: Settings }

export const pages: Record<PathName, Page> = {
  start: inbox,
  inbox,
  entry: inbox,
  settings,
  setting: settings,
}

/** After a move to another page, the focus is on its heading, as after a load. */
export const useFocusOnHeading = (page: string | undefined): void => {
  const before = useRef(page)
  useEffect(() => {
    if (before.current === page) return
    before.current = page
    const focus = (): boolean => {
      const heading = document.querySelector<HTMLElement>('main h1')
      if (!heading) return false
      heading.tabIndex = -1
      heading.focus()
      return true
    }
    if (focus()) return
    const observer = new MutationObserver(() => {
      if (focus()) observer.disconnect()
    })
    observer.observe(document.querySelector('main')!, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [page])
}
