/** Asks before something is sent: it is public at once. */
import type { ReactNode } from 'react'
import { AskFirst } from '../parts/dialog.tsx'
import { Exact } from '../parts/exact-text.tsx'

interface AskToSendProps {
  title: ReactNode
  /** The button's words. */
  does: string
  /** What is sent, or how it begins. */
  text: string
  /** What happens before it is sent. */
  children?: ReactNode
  act(): void
  close(): void
}

export const AskToSend = ({ title, does, text, children, act, close }: AskToSendProps) => (
  <AskFirst
    title={title}
    does={does}
    act={() => {
      close()
      act()
    }}
    close={close}
  >
    <p className="plain-text" dir="auto">
      <Exact text={text} />
    </p>
    <p className="soft">{children} It is public at once, and cannot be taken back.</p>
  </AskFirst>
)
