/** A button that calls an operation, perhaps by a key, and that says who may use it. */
import type { ReactNode } from 'react'
import { mayCall, type OperationId, whoMayCall } from '../api/operations.ts'
import { boot } from '../boot.ts'
import { notify } from '../frame/notices.ts'
import { ariaKeys, type ShortcutId } from '../keys/keys.ts'
import { useShortcut } from '../keys/use-keys.ts'
import { KeyCaps } from './key-caps.tsx'

interface ActionProps {
  children: ReactNode
  /** The operation that it calls: roles that may not call it see the button disabled. */
  calls?: OperationId
  shortcut?: ShortcutId
  act(): void
  tone?: 'plain' | 'go' | 'harm'
  /** Why it cannot be used now; a sentence. */
  refused?: string | undefined
  busy?: boolean
  /** For screen readers, where the text is too short. */
  label?: string
}

const NOBODY = 'owners'

/** Stays focusable while disabled, so that everybody can find out why. */
export const ActionButton = ({
  children,
  calls,
  shortcut,
  act,
  tone = 'plain',
  refused,
  busy = false,
  label,
}: ActionProps) => {
  const isAllowed = calls === undefined || mayCall(boot.session.role, calls)
  const why = isAllowed ? refused : `Only ${calls ? whoMayCall(calls) : NOBODY} may do this.`
  const press = () => {
    if (busy) return
    if (why === undefined) act()
    else notify({ says: why, tone: 'care' })
  }
  useShortcut(shortcut ?? 'palette', shortcut ? press : undefined)
  return (
    <button
      type="button"
      className={`action ${tone}`}
      aria-disabled={why !== undefined || busy}
      aria-keyshortcuts={shortcut && ariaKeys(shortcut)}
      aria-label={label}
      title={why}
      onClick={press}
    >
      {children}
      {shortcut && <KeyCaps of={shortcut} />}
    </button>
  )
}
