/** What can be decided by a swipe, beside the buttons and keys that do the same. */
import { type ReactNode, useRef } from 'react'
import { mayCall, type OperationId } from '../api/operations.ts'
import { boot } from '../boot.ts'
import type { ShortcutId } from '../keys/keys.ts'
import { pressShortcut } from '../keys/use-keys.ts'
import { useSwipe } from './use-swipe.ts'

interface SwipeDoes {
  /** What it does, as its button says. */
  says: string
  shortcut: ShortcutId
  calls: OperationId
  /** Whether the button is refused now. */
  isRefused?: boolean
}

interface SwipedProps {
  right: SwipeDoes | undefined
  left: SwipeDoes | undefined
  /** The part that moves. */
  children: ReactNode
}

/** Nothing moves for roles that may not. */
const actOf = (does: SwipeDoes | undefined): (() => void) | undefined =>
  does && !does.isRefused && mayCall(boot.session.role, does.calls)
    ? () => pressShortcut(does.shortcut)
    : undefined

/** Only for what can be taken back. */
export const Swiped = ({ right, left, children }: SwipedProps) => {
  const ref = useRef<HTMLDivElement>(null)
  useSwipe(ref, { right: actOf(right), left: actOf(left) })
  return (
    <div ref={ref} className="swiped" data-right={right?.says} data-left={left?.says}>
      {children}
    </div>
  )
}
