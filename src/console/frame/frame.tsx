/** What is around every page. */
import { type ReactNode, useEffect, useState } from 'react'
import { useRead } from '../api/queries.ts'
import { useShortcut } from '../keys/use-keys.ts'
import { hrefOf } from '../router/paths.ts'
import { navigate } from '../router/router.tsx'
import { Banners } from './banners.tsx'
import { useOffered } from './commands.ts'
import { Help } from './help.tsx'
import { undo } from './notices.ts'
import { Palette } from './palette.tsx'
import { Rail } from './rail.tsx'
import { Toasts } from './toasts.tsx'
import { waitingCount } from './waiting.ts'
import { SessionElsewhere } from './workspace.tsx'

/** The id of the part that pages fill. */
const CONTENT = 'content'

/** On other pages: the inbox counts what waits itself. */
const WaitingCount = () => {
  const counts = useRead('agent.inbox.list', { limit: 1 }).data?.counts
  useEffect(() => {
    if (counts) waitingCount.set(Object.values(counts).reduce((sum, count) => sum + count, 0))
  }, [counts])
  return null
}

type Opened = 'palette' | 'help' | undefined

const useFrameKeys = (open: (what: Opened) => void): void => {
  useShortcut('palette', () => open('palette'))
  useShortcut('help', () => open('help'))
  useShortcut('undo', () => void undo())
  useShortcut('goInbox', () => navigate(hrefOf('inbox', {})))
  useShortcut('goSettings', () => navigate(hrefOf('settings', {})))
  useOffered({ id: 'undo', says: 'Undo', shortcut: 'undo', act: () => void undo() })
  useOffered({
    id: 'help',
    says: 'All keys of this page',
    shortcut: 'help',
    act: () => open('help'),
  })
}

export const Frame = ({ page, children }: { page: string | undefined; children: ReactNode }) => {
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  useFrameKeys(setOpened)
  return (
    <div className="frame">
      <a className="skip" href={`#${CONTENT}`}>
        Skip to the page
      </a>
      <Rail page={page} openPalette={() => setOpened('palette')} />
      <div className="sheet">
        <Banners />
        <main id={CONTENT} tabIndex={-1}>
          {children}
        </main>
      </div>
      {page !== 'inbox' && <WaitingCount />}
      <Toasts />
      <SessionElsewhere />
      {opened === 'palette' && <Palette close={close} />}
      {opened === 'help' && <Help close={close} />}
    </div>
  )
}
